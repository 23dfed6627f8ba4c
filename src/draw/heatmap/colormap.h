/* Colour maps: from a share of the scale, 0 to 1, to a colour.
 *
 * Every map is perceptual: its lightness changes evenly from one end to the
 * other, so that equal steps of weight look like equal steps, in print and for
 * readers who do not tell hues apart.  There is no rainbow.  A diverging map is
 * for values with a sign: from a middle, which is 0, lightness changes alike to
 * both sides.
 */
#ifndef ATTN_DRAW_HEATMAP_COLORMAP_H
#define ATTN_DRAW_HEATMAP_COLORMAP_H

#include <stdbool.h>
#include <stddef.h>

struct rgb {
	unsigned char r, g, b; /* sRGB */
};

struct colormap; /* all are static: never freed */

/* The map called `name` (case-sensitive), or NULL when there is none. */
const struct colormap *colormap_find(const char *name);

const struct colormap *colormap_default(void); /* "ink": white to blue-black */

const struct colormap *colormap_default_diverging(void); /* "balance": blue, white, orange-brown */
bool colormap_diverging(const struct colormap *map);     /* NULL: the default map, which is not */

/* Maps by number, for lists: name and one line on it, NULL from colormap_count
 * on.  The default comes first. */
size_t colormap_count(void);
const char *colormap_name(size_t i);
const char *colormap_summary(size_t i);

const char *colormap_name_of(const struct colormap *map);

/* All names, as a message lists them: "ink, greys, viridis, ...". */
const char *colormap_names(void);
const char *colormap_diverging_names(void); /* of the diverging ones */

/* Fill table[entries] (at least 2): entry 0 is a weight of 0, the last the top
 * of the scale; of a diverging map that is its upper half.  NULL stands for the
 * default map. */
void colormap_fill(const struct colormap *map, struct rgb *table, size_t entries);

/* The same for a diverging scale: entry 0 is its negative end, the middle one 0
 * (exactly, if `entries` is odd), the last its positive end.  The middle is white,
 * or with `dark` near-black.  NULL and maps that do not diverge stand for the
 * default diverging one. */
void colormap_fill_diverging(const struct colormap *map, bool dark, struct rgb *table, size_t entries);

/* The entry of such a table for a share of the scale; beyond [0, 1] the ends,
 * and NaN is 0. */
size_t colormap_entry(double share, size_t entries);

/* Masked cells, under every map: a light grey, and thin diagonal lines in a
 * darker one, so that they cannot be taken for a weight even where the map
 * itself is grey. */
struct rgb colour_masked(void);
struct rgb colour_masked_line(void);

/* Black or white, whichever reads better on `background`: the WCAG 2 contrast
 * is then at least 4.5. */
struct rgb colour_text_on(struct rgb background);

/* WCAG 2 contrast ratio of two colours: 1 to 21. */
double colour_contrast(struct rgb a, struct rgb b);

#endif
