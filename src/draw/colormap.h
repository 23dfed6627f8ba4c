/* Colour maps: from a share of the scale, 0 to 1, to a colour.
 *
 * Every map is perceptual: its lightness changes evenly from one end to the
 * other, so that equal steps of weight look like equal steps, in print and for
 * readers who do not tell hues apart.  There is no rainbow.
 */
#ifndef ATTN_DRAW_COLORMAP_H
#define ATTN_DRAW_COLORMAP_H

#include <stddef.h>

struct rgb {
	unsigned char r, g, b; /* sRGB */
};

struct colormap; /* all are static: never freed */

/* The map called `name` (case-sensitive), or NULL when there is none. */
const struct colormap *colormap_find(const char *name);

const struct colormap *colormap_default(void); /* "ink": white to blue-black */

/* Maps by number, for lists: name and one line on it, NULL from colormap_count
 * on.  The default comes first. */
size_t colormap_count(void);
const char *colormap_name(size_t i);
const char *colormap_summary(size_t i);

/* All names, as a message lists them: "ink, greys, viridis, ...". */
const char *colormap_names(void);

/* Fill table[entries] (at least 2): entry 0 is a weight of 0, the last the top
 * of the scale.  NULL stands for the default map. */
void colormap_fill(const struct colormap *map, struct rgb *table, size_t entries);

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
