/* Heatmap files: options of pictures, and drawing grids to PNG. */
#ifndef ATTN_CMD_FIGURES_H
#define ATTN_CMD_FIGURES_H

#include "cmd/inputs.h"
#include "draw/heatmap.h"
#include "sinks/grid.h"

struct figure_options {
	struct heatmap_options heatmap;
	enum grid_reduction reduction;
	const char *title; /* NULL: layer and head */
};

/* Take one of PICTURE_OPTIONS. */
enum attn_status figure_option(struct figure_options *f, int id, const struct options *o,
			       struct attn_error *err);

/* Make the grid sink that the pictures need for the selected rows; `panels` of
 * them share a picture. */
enum attn_status figure_sink(struct grid_sink *sink, const struct figure_options *f,
			     const struct rows_info *info, const struct selection *selection, size_t panels,
			     struct attn_error *err);

/* One run's pictures: fonts are loaded and labels measured once. */
struct figures {
	const struct command *self;
	const struct inputs *in;
	const struct figure_options *options;
	struct heatmap_painter *painter;
};

enum attn_status figures_init(struct figures *f, const struct command *self, const struct inputs *in,
			      const struct figure_options *options, struct attn_error *err);

/* Warns about characters that no font has; safe on a zeroed one. */
void figures_release(struct figures *f);

/* Draw grids[0..count) of one layer and batch item as one picture: a single heatmap, or a grid
 * of panels.  "-" is standard output. */
enum attn_status figures_draw(struct figures *f, const struct grid *grids, size_t count, const char *path,
			      struct attn_error *err);

/* Draw each grid of `single` into DIR/head0.png, ... and those of `overview`
 * (empty where there is one head) that share a layer and a batch item into
 * DIR/heads.png, with layer1- and batch0- before it where there are several. */
enum attn_status figures_draw_all(struct figures *f, const struct grid_sink *single,
				  const struct grid_sink *overview, const char *directory,
				  struct attn_error *err);

#endif
