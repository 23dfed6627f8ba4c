/* Colour maps: from a share of the scale, 0 to 1, to a colour.
 *
 * Every map is perceptual: its lightness changes evenly from one end to the
 * other, so that equal steps of weight look like equal steps, in print and for
 * readers who do not tell hues apart.  There is no rainbow.
 */
#ifndef ATTN_DRAW_COLORMAP_H
#define ATTN_DRAW_COLORMAP_H

#include <stddef.h>

enum {
	COLORMAP_ENTRIES = 256
};

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

/* Fill table[COLORMAP_ENTRIES]: entry 0 is a weight of 0, the last the top of
 * the scale.  NULL stands for the default map. */
void colormap_fill(const struct colormap *map, struct rgb *table);

/* The entry of a table for a share of the scale; beyond [0, 1] the ends, and
 * NaN is 0. */
size_t colormap_entry(double share);

/* The grey of masked cells over a map: not a colour of the map's lower end. */
struct rgb colormap_masked(const struct colormap *map);

/* Black or white, whichever reads better on `background`: the WCAG 2 contrast
 * is then at least 4.5. */
struct rgb colour_text_on(struct rgb background);

/* WCAG 2 contrast ratio of two colours: 1 to 21. */
double colour_contrast(struct rgb a, struct rgb b);

#endif
