/* Colour maps: from a share of the scale, 0 to 1, to a colour.
 *
 * Every map is perceptual: its lightness changes evenly from one end to the
 * other, so that equal steps of weight look like equal steps, in print and to
 * colour-blind readers.  There is no rainbow.  A diverging map is
 * for signed values: from a middle, which is 0, lightness changes alike to both
 * sides.
 */
#ifndef ATTN_DRAW_HEATMAP_COLORMAP_H
#define ATTN_DRAW_HEATMAP_COLORMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/image/colour.h"

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
 * of the scale; of a diverging map that is its upper half.  On a dark background more is
 * brighter, so maps that begin with their lighter end are reversed.  NULL stands for the
 * default map. */
void colormap_fill(const struct colormap *map, enum background_kind background, struct rgb *table,
		   size_t entries);

/* The same for a diverging scale: entry 0 is its negative end, the middle one 0
 * (exactly, if `entries` is odd), the last its positive end.  The middle is white,
 * or near-black on a dark background.  NULL and maps that do not diverge stand for the
 * default diverging one. */
void colormap_fill_diverging(const struct colormap *map, enum background_kind background, struct rgb *table,
			     size_t entries);

#endif
