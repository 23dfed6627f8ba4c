/* Heatmap files: options of pictures, and drawing grids. */
#ifndef ATTN_CMD_FIGURES_H
#define ATTN_CMD_FIGURES_H

#include "cmd/inputs.h"
#include "consumers/grid.h"
#include "draw/heatmap/heatmap.h"
#include "draw/terminal/terminal.h"
#include "files/output.h"

/* PICTURE_OPTIONS in a usage. */
#define PICTURE_USAGE                                                                                        \
	"Pictures: --colormap NAME, --cell PIXELS, --size PIXELS, --dpi NUMBER, --title TEXT,\n"             \
	"      --transpose, --numbers auto|on|off, --reduce max|mean, --max X, --range R, --clip P,\n"       \
	"      --transform linear|sqrt|log, --sentences, --xlabel TEXT,\n"                                   \
	"      --ylabel TEXT, --no-colorbar, --no-caption, --markers keep|drop,\n"                           \
	"      --width LENGTH, --theme NAME, --transparent, --font FAMILY, --font-size PT; see\n"            \
	"      'attn heatmap --help'\n"

struct figure_options {
	struct heatmap_options heatmap;
	enum grid_reduction reduction;
	const char *title;           /* NULL: layer and head */
	const char *xlabel, *ylabel; /* of columns and rows; NULL: what they are; "": none */
	const char *scores;          /* values are these, "unscaled scores"; NULL: weights */
	const char *statistic;       /* values are these, of heads; NULL: no */
	bool difference;             /* values are A - B */
	bool keep_markers;           /* labels are tokens as in the file */
	bool may_list;               /* set by commands that have --colormap list */
	bool list;                   /* it was given: colormaps_print, and nothing else */
	bool reduce_given;
	bool sentences;                   /* lines where they end */
	bool ordered;                     /* panels are in an order of their own */
	const char *order;                /* says by what, or NULL */
	const struct heatmap_mark *marks; /* on cells */
	size_t mark_count;
	const char *mark_note;           /* what they mean */
	const struct terminal *terminal; /* text on standard output instead of a file; NULL: a file */
};

/* Take one of PICTURE_OPTIONS. */
enum attn_status figure_option(struct figure_options *f, int id, const struct options *o,
			       struct attn_error *err);

/* Make the grid consumer that the pictures need for the selected rows; `panels` of
 * them share a picture. */
enum attn_status figure_grids(struct grid_consumer *grids, const struct figure_options *f,
			      const struct rows_info *info, const struct selection *selection, size_t panels,
			      struct attn_error *err);

enum {
	FIGURES_WAITING = 64 /* file descriptors, at most */
};

/* One run's pictures: fonts are loaded and labels measured once.  Pictures that are
 * drawn wait for each other, and appear together. */
struct figures {
	const struct command *self;
	const struct inputs *in;
	const struct figure_options *options;
	struct heatmap_painter *painter;
	bool *query_ends, *key_ends; /* of sentences, owned; NULL: not asked for */
	struct output waiting[FIGURES_WAITING];
	size_t waiting_count;
};

/* Loads Pango, which may be missing: call it before slow work. */
enum attn_status figures_init(struct figures *f, const struct command *self, const struct inputs *in,
			      const struct figure_options *options, struct attn_error *err);

/* Warns about characters that no font has, and drops what is not committed; safe on
 * a zeroed one. */
void figures_release(struct figures *f);

/* Append what is drawn, "batch 0, layer 1, head 3": batch items and layers only where there
 * are several or they are known. */
void figure_place(struct buffer *text, const struct rows_info *info, const struct grid *grids, size_t count);

/* A title for each panel: its head, and its layer where there are several.  False: out of
 * memory. */
bool figure_panel_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles);

/* The same for a figure whose rows are layers, where there are several: each row has a title,
 * too, and panels that of their head. */
bool figure_layer_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles, struct string_list *rows);

/* Draw grids[0..count) of one batch item as one picture: a single heatmap, or a grid of
 * panels, whose rows are layers where there are several, unless the panels are ordered.  "-" is
 * standard output.  The file appears with figures_commit, or before, when too many wait. */
enum attn_status figures_draw(struct figures *f, const struct grid *grids, size_t count, const char *path,
			      struct attn_error *err);
enum attn_status figures_commit(struct figures *f, struct attn_error *err);

/* The consumer that draws each head into DIR/head0.png, ... and the heads that share a
 * layer and a batch item into DIR/heads.png, with layer1- and batch0- before it
 * where there are several.  It draws them as they come, so that only one head, and
 * the small panels of one layer, are in memory. */
struct head_figures {
	struct row_consumer consumer;

	/* Private. */
	struct figures *figures;
	const char *directory;
	struct grid_options single_options, overview_options;
	struct selection one; /* the current layer, batch item and head */
	struct grid_consumer single, overview;
};

enum attn_status head_figures_init(struct head_figures *h, struct figures *f, const char *directory,
				   struct attn_error *err);
void head_figures_release(struct head_figures *h); /* safe on a zeroed one */

#endif
