/* Which colours a figure's values get, and what a reader has to be told of that. */
#ifndef ATTN_DRAW_HEATMAP_HEATMAP_SCALE_H
#define ATTN_DRAW_HEATMAP_HEATMAP_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/heatmap/heatmap.h"
#include "draw/heatmap/scale.h"
#include "util/buffer.h"

enum {
	/* Steps of the colour scale.  With the 16 greys of text they keep a
	 * picture within a palette of 256. */
	HEAT_LEVELS = 232
};

struct heatmap_scale {
	struct scale colours; /* of values, or where there are `tops` of values over these */
	double *tops;         /* (panels): ends of the panels' own scales, owned; NULL: one scale */
	size_t levels;        /* of colour: an odd number on a diverging scale, whose 0 has one */
	bool clipped;         /* the scale ends at a percentile */
	double highest;       /* magnitude of the cells */
	double lowest;        /* below 0, or 0 */
	bool any_masked;
};

/* Look at all cells of the figure.  ATTN_FAILED without memory. */
enum attn_status heatmap_scale_init(struct heatmap_scale *s, const struct heatmap_figure *figure,
				    struct attn_error *err);
void heatmap_scale_release(struct heatmap_scale *s); /* safe on a zeroed scale */

/* The colour of a value in a panel: an entry of a table of s->levels. */
size_t heatmap_scale_level(const struct heatmap_scale *s, size_t panel, float value);

/* The percentile of the magnitudes of all cells that count: the least one that at
 * least `percent` in a hundred do not exceed (the nearest rank).  0 where no cell
 * counts.  `bins` is scratch memory: 65,536. */
double heatmap_percentile(const struct heatmap_panel *panels, size_t count, double percent, size_t *bins);

/* Append what the bar does not say: its transform, and what lies beyond its ends. */
void heatmap_scale_notes(struct buffer *notes, const struct heatmap_scale *s,
			 const struct heatmap_figure *figure);

#endif
