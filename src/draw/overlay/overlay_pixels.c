/* The pixels of an overlay: patches and blending. */
#include <stdint.h>

#include "draw/overlay/overlay_internal.h"

/* How much of its contrast the picture keeps. */
#define CONTRAST 0.45

/* How far lines between patches are from what they cross to white or black. */
#define LINE_SHARE 0.2

const struct colormap *overlay_colormap(void)
{
	return colormap_find("inferno");
}

size_t overlay_border(size_t i, size_t pixels, size_t count)
{
	/* floor(i pixels / count + 1/2), in whole numbers */
	return (size_t)((2 * (uint64_t)i * pixels + count) / (2 * (uint64_t)count));
}

static unsigned char channel(double value)
{
	return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

static double mix(double from, double to, double share)
{
	return from + (to - from) * share;
}

/* Lightness as Rec. 601 weights the channels. */
static double grey_of(struct rgb p, bool light)
{
	double luma = 0.299 * p.r + 0.587 * p.g + 0.114 * p.b;
	return light ? 255 - CONTRAST * (255 - luma) : CONTRAST * luma;
}

struct rgb overlay_blend(struct rgb pixel, struct rgb colour, double share, bool light)
{
	double grey = grey_of(pixel, light), a = share > 0 ? OVERLAY_OPACITY * (share < 1 ? share : 1) : 0;
	return (struct rgb){channel(mix(grey, colour.r, a)), channel(mix(grey, colour.g, a)),
			    channel(mix(grey, colour.b, a))};
}

bool overlay_is_light(const struct rgb *table)
{
	return grey_of(table[0], false) > grey_of(table[OVERLAY_LEVELS - 1], false);
}

struct rgb overlay_colour(const struct rgb *table, double share)
{
	double s = share > 0 ? share < 1 ? share : 1 : 0;
	return table[colour_entry(mix(OVERLAY_FIRST, 1, s), OVERLAY_LEVELS)];
}

static struct rgb lift(struct rgb p, double to, double share)
{
	return (struct rgb){channel(mix(p.r, to, share)), channel(mix(p.g, to, share)),
			    channel(mix(p.b, to, share))};
}

/* Patches and what is drawn over them, in one panel. */
struct patch {
	size_t left, right, top, bottom; /* pixels of the panel */
	double share;
	struct rgb colour;
	bool masked;
};

static void paint_patch(const struct overlay_style *style, const struct patch *p, const struct image *picture,
			struct image *out, size_t x0, size_t y0)
{
	double line_to = style->light ? 0 : 255;
	size_t line = (size_t)style->line, hatch = (size_t)style->hatch;
	for (size_t y = p->top; y < p->bottom; y++) {
		for (size_t x = p->left; x < p->right; x++) {
			struct rgb pixel =
			    overlay_blend(image_pixel(picture, x, y), p->colour, p->share, style->light);
			if (p->masked && (x + y) % (6 * hatch) < hatch)
				pixel = lift(pixel, line_to, 0.5);
			/* On a patch's upper and left side, but not around the panel. */
			if ((p->left > 0 && x < p->left + line) || (p->top > 0 && y < p->top + line))
				pixel = lift(pixel, line_to, LINE_SHARE);
			pixel_set(image_at(out, x0 + x, y0 + y), pixel);
		}
	}
}

void overlay_paint(const struct overlay_style *style, const struct overlay_panel *panel,
		   const struct image *picture, struct image *out, int x, int y)
{
	for (size_t row = 0; row < style->patch_rows; row++) {
		for (size_t col = 0; col < style->patch_cols; col++) {
			size_t at = row * style->patch_cols + col;
			struct patch patch = {
			    .left = overlay_border(col, picture->width, style->patch_cols),
			    .right = overlay_border(col + 1, picture->width, style->patch_cols),
			    .top = overlay_border(row, picture->height, style->patch_rows),
			    .bottom = overlay_border(row + 1, picture->height, style->patch_rows),
			    .share = (double)panel->weights[at] / style->top,
			    .masked = panel->masked && panel->masked[at],
			};
			patch.colour = overlay_colour(style->table, patch.share);
			paint_patch(style, &patch, picture, out, (size_t)x, (size_t)y);
		}
	}
}
