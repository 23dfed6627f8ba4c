/* How a layout is made: layout_fit.c tries sizes of cells, layout_place.c places everything
 * around them, layout_labels.c chooses the labels. */
#ifndef ATTN_DRAW_HEATMAP_LAYOUT_INTERNAL_H
#define ATTN_DRAW_HEATMAP_LAYOUT_INTERNAL_H

#include "draw/heatmap/layout.h"

enum {
	LEGIBLE_CELL = 14 /* pixels at 96 dpi: a label fits beside every cell */
};

/* A length given at 96 dpi, in pixels: at least 1. */
static inline int scaled(const struct layout_request *request, int length)
{
	int pixels = (int)((double)length * request->scale + 0.5);

	return pixels > 0 ? pixels : 1;
}

/* Pixels that no text may be wider than, or 0. */
static inline int width_limit(const struct layout_request *request)
{
	return (int)(request->width ? request->width : request->size);
}

/* Choose which labels are shown beside cells of `cell` pixels, in which font
 * and direction: out->row, out->col and out->label_shift.  Labels are
 * shortened to `limit`; none are shown when it is 0. */
void layout_choose_labels(const struct layout_request *request, const struct layout_measure *m, int cell,
			  int limit, struct heatmap_layout *out);

/* Widen automatic cells a little where this keeps column labels horizontal. */
int layout_widen_cell(const struct layout_request *request, const struct layout_measure *m, int cell,
		      int limit);

/* Lay out with cells of `cell` pixels, whatever size results.  Labels are
 * shortened to `label_limit`, and left out when it is 0. */
void layout_place(const struct layout_request *request, const struct layout_measure *measure, int columns,
		  int cell, int label_limit, struct heatmap_layout *out);

/* Move everything but the notes. */
void layout_move(struct heatmap_layout *l, int dx, int dy);

#endif
