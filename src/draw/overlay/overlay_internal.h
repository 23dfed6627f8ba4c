/* Overlays from inside: overlay_figure.c places panels, overlay_pixels.c paints them. */
#ifndef ATTN_DRAW_OVERLAY_OVERLAY_INTERNAL_H
#define ATTN_DRAW_OVERLAY_OVERLAY_INTERNAL_H

#include "draw/heatmap/layout.h"
#include "draw/overlay/overlay.h"

enum {
	OVERLAY_LEVELS = 256 /* of the colour scale */
};

/* What panels are painted with. */
struct overlay_style {
	size_t patch_rows, patch_cols;
	const struct rgb *table; /* OVERLAY_LEVELS colours */
	bool light;              /* the map begins with its lighter end */
	double top;              /* of the scale */
	int line;                /* how thick lines are; 0: none between patches */
	int hatch;               /* how thick the lines over masked patches are */
};

/* Whether such a table begins with its lighter end. */
bool overlay_is_light(const struct rgb *table);

/* The table's colour for a share of the scale: from OVERLAY_FIRST of the map on. */
struct rgb overlay_colour(const struct rgb *table, double share);

/* Paint a panel with its upper left corner at (x, y) over `picture`, which has the
 * panel's size and lies inside `out`. */
void overlay_paint(const struct overlay_style *style, const struct overlay_panel *panel,
		   const struct image *picture, struct image *out, int x, int y);

#endif
