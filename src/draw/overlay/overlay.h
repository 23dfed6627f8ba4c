/* Attention of one token to the patches of a picture, laid over that picture.
 *
 * Patch (r, c) of R x C covers the picture from round(c W / C) to before
 * round((c + 1) W / C) of its W columns, and of its rows likewise, so that patches
 * lie edge to edge and cover it exactly; weights are not smoothed.  The picture is
 * made grey and dark (light, under a colour map that begins with its lighter end).  With
 * s, the weight over the top of the scale, a pixel becomes
 *   (1 - a) grey + a map(b + (1 - b) s),  a = OVERLAY_OPACITY s,  b = OVERLAY_FIRST
 * so that the picture shows through everywhere, and more weight never looks more like the
 * picture's own grey than less.  The colour bar shows the same over a middle grey.
 */
#ifndef ATTN_DRAW_OVERLAY_OVERLAY_H
#define ATTN_DRAW_OVERLAY_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/heatmap/colormap.h"
#include "draw/image/image.h"
#include "draw/text/text.h"
#include "util/error.h"

#define OVERLAY_OPACITY 0.75
#define OVERLAY_FIRST 0.35

struct overlay_panel {
	const float *weights;        /* (patch_rows, patch_cols) */
	const unsigned char *masked; /* the same: 1 = masked, which is hatched */
	const char *title;           /* "head 3"; NULL: none.  Not drawn over a single panel */
};

/* All pointers are the caller's and only read. */
struct overlay_figure {
	const struct image *picture;
	size_t patch_rows, patch_cols; /* at least 1 */
	const struct overlay_panel *panels;
	size_t panel_count;
	const char *title;               /* "ball: head 0"; NULL: none */
	const char *note;                /* one more line under the picture; NULL: none */
	const struct colormap *colormap; /* NULL: overlay_colormap() */
	double scale_max;                /* top of the scale; 0: the largest weight drawn */
	double dpi;                      /* scales text, and `size`; 0: 96 */
	size_t size;                     /* longer side, exactly, pixels at 96 dpi; 0: automatic */
};

/* The map that shows best on photographs: from black over red to yellow. */
const struct colormap *overlay_colormap(void);

/* The first pixel of patch `i` of `count` over `pixels` pixels: round(i pixels / count). */
size_t overlay_border(size_t i, size_t pixels, size_t count);

/* A pixel of the picture under `colour`, the map's for `share` of the scale. */
struct rgb overlay_blend(struct rgb pixel, struct rgb colour, double share, bool light);

/* Draw into *out (released by the caller; empty on failure).  ATTN_USAGE when `size`
 * has no room, ATTN_FAILED without memory. */
enum attn_status overlay_draw(struct text_engine *text, const struct overlay_figure *figure,
			      struct image *out, struct attn_error *err);

#endif
