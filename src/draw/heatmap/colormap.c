/* The colour maps, and tables made of them. */
#include "draw/heatmap/colormap.h"

#include <string.h>

/* Colours at even steps from one end to the other, as 0xRRGGBB; colours between them
 * are interpolated.
 *
 * ink is ours: lightness falls linearly in OKLab from white to blue-black, and
 * chroma peaks in the middle, so that small weights stay pale.
 * greys does the same without hue.  viridis, magma, inferno and plasma are by
 * Stefan van der Walt, Nathaniel Smith and Eric Firing (CC0); cividis is by
 * Jamie Nunez, Christopher Anderton and Ryan Renslow (PLOS ONE, 2018).  Each is
 * every 5th (cividis: every 3rd) entry of the published 256, and what lies
 * between stays within 2/255 of them.
 *
 * The diverging ones are ours: from a middle without hue lightness changes
 * linearly in OKLab and alike to both sides, while chroma rises, peaks at two
 * thirds and falls.  Blue and orange-brown, and purple and green so far apart,
 * are told apart with any colour blindness.  On a dark background the middle is dark
 * and the ends are light. */
/* clang-format off */
static const unsigned int ink_anchors[] = {
	0xffffff, 0xe9eff4, 0xcfe0ee, 0xb4d1e9, 0x9ac1e5, 0x80b2e0, 0x68a2da, 0x5291d2, 0x3d81c8,
	0x2c70bc, 0x1e60ad, 0x14509b, 0x0d4188, 0x0b3472, 0x0c2759, 0x0c1c3e, 0x0b1222,
};

static const unsigned int greys_anchors[] = {
	0xffffff, 0xeeeeee, 0xdedede, 0xcecece, 0xbebebe, 0xaeaeae, 0x9e9e9e, 0x8f8f8f, 0x808080,
	0x717171, 0x636363, 0x555555, 0x484848, 0x3a3a3a, 0x2e2e2e, 0x222222, 0x161616,
};

static const unsigned int viridis_anchors[] = {
	0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781,
	0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e,
	0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
	0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74,
	0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37,
	0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725,
};

static const unsigned int magma_anchors[] = {
	0x000004, 0x02020b, 0x050416, 0x090720, 0x0e0b2b, 0x140e36, 0x1a1042, 0x21114e, 0x29115a,
	0x311165, 0x390f6e, 0x420f75, 0x4a1079, 0x52137c, 0x5a167e, 0x621980, 0x6a1c81, 0x721f81,
	0x792282, 0x812581, 0x892881, 0x912b81, 0x992d80, 0xa1307e, 0xaa337d, 0xb2357b, 0xba3878,
	0xc23b75, 0xca3e72, 0xd2426f, 0xd9466b, 0xe04c67, 0xe75263, 0xec5860, 0xf1605d, 0xf4695c,
	0xf7725c, 0xf97b5d, 0xfb8560, 0xfc8e64, 0xfd9869, 0xfea16e, 0xfeaa74, 0xfeb47b, 0xfebd82,
	0xfec68a, 0xfecf92, 0xfed89a, 0xfde2a3, 0xfdebac, 0xfcf4b6, 0xfcfdbf,
};

static const unsigned int cividis_anchors[] = {
	0x00224e, 0x002553, 0x002758, 0x00295d, 0x002b62, 0x002d68, 0x002f6d, 0x003170, 0x053371,
	0x0f3570, 0x163770, 0x1c396f, 0x213b6e, 0x263d6e, 0x2a3f6d, 0x2e416d, 0x32436d, 0x35456c,
	0x39486c, 0x3c4a6c, 0x3f4c6c, 0x424e6c, 0x45506c, 0x48526c, 0x4b546c, 0x4e566c, 0x51586d,
	0x545a6d, 0x565c6d, 0x595e6e, 0x5c616e, 0x5e636f, 0x61656f, 0x646770, 0x666970, 0x696b71,
	0x6c6d72, 0x6e6f73, 0x717274, 0x737475, 0x767676, 0x787877, 0x7b7a78, 0x7e7c78, 0x807f78,
	0x838179, 0x868379, 0x898578, 0x8c8878, 0x8f8a78, 0x928c78, 0x948e77, 0x979177, 0x9a9376,
	0x9d9576, 0xa09875, 0xa39a74, 0xa69c74, 0xa99f73, 0xaca172, 0xafa471, 0xb3a670, 0xb6a96f,
	0xb9ab6d, 0xbcae6c, 0xbfb06b, 0xc2b369, 0xc5b568, 0xc8b866, 0xccba64, 0xcfbd62, 0xd2c060,
	0xd5c25e, 0xd9c55c, 0xdcc859, 0xdfca57, 0xe2cd54, 0xe6d051, 0xe9d34e, 0xedd54a, 0xf0d846,
	0xf3db42, 0xf7de3e, 0xfbe138, 0xfee434, 0xfee838,
};

static const unsigned int inferno_anchors[] = {
	0x000004, 0x02020c, 0x050417, 0x0a0722, 0x10092d, 0x160b39, 0x1e0c45, 0x260c51, 0x2f0a5b,
	0x380962, 0x400a67, 0x490b6a, 0x510e6c, 0x59106e, 0x61136e, 0x69166e, 0x71196e, 0x781c6d,
	0x801f6c, 0x88226a, 0x902568, 0x982766, 0xa02a63, 0xa82e5f, 0xb0315b, 0xb73557, 0xbf3952,
	0xc63d4d, 0xcc4248, 0xd34743, 0xd94d3d, 0xdf5337, 0xe45a31, 0xe9612b, 0xed6925, 0xf1711f,
	0xf47918, 0xf78212, 0xf98b0b, 0xfa9407, 0xfb9d07, 0xfca60c, 0xfcb014, 0xfbba1f, 0xfac42a,
	0xf8cd37, 0xf6d746, 0xf4e156, 0xf2ea69, 0xf2f27d, 0xf5f992, 0xfcffa4,
};

static const unsigned int plasma_anchors[] = {
	0x0d0887, 0x1b068d, 0x260591, 0x2f0596, 0x38049a, 0x41049d, 0x4903a0, 0x5102a3, 0x5901a5,
	0x6100a7, 0x6900a8, 0x7100a8, 0x7801a8, 0x8004a8, 0x8707a6, 0x8e0ca4, 0x9511a1, 0x9c179e,
	0xa21d9a, 0xa82296, 0xae2892, 0xb42e8d, 0xba3388, 0xbf3984, 0xc43e7f, 0xc9447a, 0xcd4a76,
	0xd24f71, 0xd6556d, 0xda5b69, 0xde6164, 0xe26660, 0xe66c5c, 0xe97257, 0xed7953, 0xf07f4f,
	0xf3854b, 0xf58c46, 0xf79342, 0xf99a3e, 0xfba139, 0xfca835, 0xfdaf31, 0xfeb72d, 0xfebe2a,
	0xfdc627, 0xfcce25, 0xfbd724, 0xf8df25, 0xf6e826, 0xf3f027, 0xf0f921,
};

static const unsigned int balance_anchors[] = {
	0x1b3762, 0x19427a, 0x184c90, 0x1958a4, 0x1e64b6, 0x2770c5, 0x347dd2, 0x438bdd, 0x5498e6,
	0x66a6ed, 0x7ab3f2, 0x8fc0f6, 0xa5cdf9, 0xbbdafa, 0xd2e6fb, 0xe9f3fc, 0xffffff, 0xfaefe7,
	0xf6dfcd, 0xf3ceb3, 0xf0bd9a, 0xebac82, 0xe59b6b, 0xdf8a55, 0xd67a41, 0xcc6a2e, 0xc15b1d,
	0xb44d0c, 0xa54100, 0x953600, 0x832f07, 0x70290f, 0x5b2615,
};

static const unsigned int balance_dark_anchors[] = {
	0x9ddaff, 0x7eceff, 0x67c0f8, 0x55b2ef, 0x46a4e3, 0x3a96d7, 0x3088c9, 0x2a7aba, 0x276da9,
	0x266097, 0x255384, 0x244770, 0x223b5c, 0x203048, 0x1c2634, 0x171b22, 0x121212, 0x211916,
	0x322019, 0x44281a, 0x562f1b, 0x68371a, 0x794019, 0x8b4917, 0x9b5418, 0xab5f1b, 0xb96c23,
	0xc7792e, 0xd3883c, 0xde974d, 0xe9a65f, 0xf2b673, 0xfac68a,
};

static const unsigned int purple_green_anchors[] = {
	0x48275a, 0x582b70, 0x683084, 0x773696, 0x8540a6, 0x934bb4, 0xa058c1, 0xad66cc, 0xb875d5,
	0xc385dd, 0xcd96e4, 0xd7a7ea, 0xdfb8ee, 0xe7caf2, 0xefdcf6, 0xf7eefa, 0xffffff, 0xebf4ec,
	0xd7ead9, 0xc2e0c5, 0xadd5b2, 0x98cb9f, 0x84c08d, 0x70b57c, 0x5da96d, 0x4b9d5e, 0x3a9150,
	0x2a8544, 0x1c783a, 0x136b31, 0x105d2b, 0x135026, 0x184223,
};

static const unsigned int purple_green_dark_anchors[] = {
	0xefbbff, 0xe5a9f9, 0xd999ef, 0xcc8ae4, 0xbf7cd9, 0xb16fcc, 0xa363be, 0x9457af, 0x854d9f,
	0x75458d, 0x663c7c, 0x573569, 0x472e57, 0x392744, 0x2b2032, 0x1e1921, 0x121212, 0x161d17,
	0x1a2a1c, 0x1c3721, 0x1d4425, 0x1e522a, 0x20602f, 0x236e34, 0x2a7c3b, 0x338a43, 0x3e974d,
	0x4ca558, 0x5cb265, 0x6dbf74, 0x7ecb83, 0x91d894, 0xa5e4a6,
};
/* clang-format on */

struct colormap {
	const char *name;
	const char *summary;
	const unsigned int *anchors;
	size_t count;
	const unsigned int *dark; /* of a diverging map, as many as `anchors`; else NULL */
};

#define ANCHORS(map) map##_anchors, sizeof map##_anchors / sizeof map##_anchors[0], NULL
#define DIVERGING(map) map##_anchors, sizeof map##_anchors / sizeof map##_anchors[0], map##_dark_anchors

static const struct colormap colormaps[] = {
    {"ink", "white to blue-black, for print (default)", ANCHORS(ink)},
    {"greys", "white to near-black", ANCHORS(greys)},
    {"viridis", "dark violet over green to yellow", ANCHORS(viridis)},
    {"magma", "black over purple to cream", ANCHORS(magma)},
    {"cividis", "blue over grey to yellow, the same to colour-blind readers", ANCHORS(cividis)},
    {"inferno", "black over red to light yellow", ANCHORS(inferno)},
    {"plasma", "blue over magenta to yellow", ANCHORS(plasma)},
    {"balance", "blue over white to orange-brown, for values with a sign (their default)",
     DIVERGING(balance)},
    {"purple-green", "purple over white to green, for values with a sign", DIVERGING(purple_green)},
};

static const char all_names[] = "ink, greys, viridis, magma, cividis, inferno, plasma, balance, purple-green";
static const char diverging_names[] = "balance, purple-green";

size_t colormap_count(void)
{
	return sizeof colormaps / sizeof *colormaps;
}

const struct colormap *colormap_default(void)
{
	return &colormaps[0];
}

const struct colormap *colormap_default_diverging(void)
{
	return colormap_find("balance");
}

bool colormap_diverging(const struct colormap *map)
{
	return map && map->dark;
}

const char *colormap_diverging_names(void)
{
	return diverging_names;
}

const struct colormap *colormap_find(const char *name)
{
	for (size_t i = 0; i < colormap_count(); i++)
		if (strcmp(colormaps[i].name, name) == 0)
			return &colormaps[i];
	return NULL;
}

const char *colormap_name(size_t i)
{
	return i < colormap_count() ? colormaps[i].name : NULL;
}

const char *colormap_summary(size_t i)
{
	return i < colormap_count() ? colormaps[i].summary : NULL;
}

const char *colormap_name_of(const struct colormap *map)
{
	return map->name;
}

const char *colormap_names(void)
{
	return all_names;
}

static unsigned char mix(unsigned int from, unsigned int to, int shift, double share)
{
	double a = (double)(from >> shift & 0xff), b = (double)(to >> shift & 0xff);
	return (unsigned char)(a + (b - a) * share + 0.5);
}

/* Entries at even steps over the anchors, from `first` on to the last. */
static void fill(const unsigned int *anchors, size_t first, size_t count, struct rgb *table, size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		double at = (double)first + (double)i * (double)(count - 1 - first) / (double)(entries - 1);
		size_t k = (size_t)at;
		if (k > count - 2)
			k = count - 2;
		table[i].r = mix(anchors[k], anchors[k + 1], 16, at - (double)k);
		table[i].g = mix(anchors[k], anchors[k + 1], 8, at - (double)k);
		table[i].b = mix(anchors[k], anchors[k + 1], 0, at - (double)k);
	}
}

static void reverse_if_lighter_first(struct rgb *table, size_t entries)
{
	const struct rgb black = {0, 0, 0};
	if (colour_contrast(table[0], black) <= colour_contrast(table[entries - 1], black))
		return;
	for (size_t i = 0; i < entries / 2; i++) {
		struct rgb light = table[i];
		table[i] = table[entries - 1 - i];
		table[entries - 1 - i] = light;
	}
}

void colormap_fill(const struct colormap *map, enum background_kind background, struct rgb *table,
		   size_t entries)
{
	if (!map)
		map = colormap_default();
	fill(map->anchors, map->dark ? map->count / 2 : 0, map->count, table, entries);
	if (background == BACKGROUND_DARK)
		reverse_if_lighter_first(table, entries);
}

void colormap_fill_diverging(const struct colormap *map, enum background_kind background, struct rgb *table,
			     size_t entries)
{
	if (!colormap_diverging(map))
		map = colormap_default_diverging();
	fill(background == BACKGROUND_DARK ? map->dark : map->anchors, 0, map->count, table, entries);
}
