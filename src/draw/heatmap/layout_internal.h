/* Shared by layout.c, layout_fit.c and layout_plan.c. */
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

/* Choose which labels are shown beside cells of `cell` pixels, in which font,
 * and which way round: out->row, out->col and out->label_shift.  Labels are
 * shortened to `limit`; none are shown when it is 0. */
void plan_labels(const struct layout_request *request, const struct layout_measure *m, int cell, int limit,
		 struct layout *out);

/* Widen automatic cells a little where this keeps column labels level. */
int widen_for_labels(const struct layout_request *request, const struct layout_measure *m, int cell,
		     int limit);

/* Lay out with cells of `cell` pixels, whatever size results.  Labels are
 * shortened to `label_limit`, and left out when it is 0. */
void try_layout(const struct layout_request *request, const struct layout_measure *measure, int columns,
		int cell, int label_limit, struct layout *out);

/* Move everything but the notes. */
void move_layout(struct layout *l, int dx, int dy);

#endif
