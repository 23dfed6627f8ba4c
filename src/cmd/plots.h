/* Options of plots, and drawing them: for commands whose table is worth a picture. */
#ifndef ATTN_CMD_PLOTS_H
#define ATTN_CMD_PLOTS_H

#include "cmd/figures.h"
#include "draw/plot/plot.h"

/* In a table of options; "ho:" are then its letters. */
#define PLOT_OPTIONS                                                                                         \
	{"output", required_argument, NULL, 'o'}, {"format", required_argument, NULL, OPTION_FORMAT},        \
	    {"title", required_argument, NULL, OPTION_TITLE},                                                \
	    {"theme", required_argument, NULL, OPTION_THEME},                                                \
	    {"transparent", no_argument, NULL, OPTION_TRANSPARENT},                                          \
	    {"font", required_argument, NULL, OPTION_FONT},                                                  \
	    {"font-size", required_argument, NULL, OPTION_FONT_SIZE},                                        \
	    {"width", required_argument, NULL, OPTION_WIDTH}, {"dpi", required_argument, NULL, OPTION_DPI},  \
	{                                                                                                    \
		"no-caption", no_argument, NULL, OPTION_NO_CAPTION                                           \
	}

/* In a usage. */
#define PLOT_USAGE                                                                                           \
	"      --format, --title, --theme, --transparent, --font, --font-size, --width, --dpi,\n"            \
	"      --no-caption      of the picture, as 'attn heatmap' has them\n"

/* As given.  Zeroed, none. */
struct plot_request {
	const char *path;            /* NULL: no plot is asked for */
	const char *format, *option; /* --format, and the last option of a picture, "--theme"; or NULL */
	struct figure_options figure;
	struct text_engine *text; /* owned, after plot_open */
};

bool is_plot_option(int id);
enum attn_status plot_option(struct plot_request *r, int id, const struct options *o, struct attn_error *err);

/* Before slow work: check what was given, and load fonts, which may be missing.  Nothing where no plot is
 * asked for, but ATTN_USAGE where options are of one. */
enum attn_status plot_open(struct plot_request *r, struct attn_error *err);

/* Draw the figure, whose options and, if one was given, title are those asked for. */
enum attn_status plot_draw(struct plot_request *r, const struct plot_figure *figure,
			   const struct command *self, struct attn_error *err);
void plot_release(struct plot_request *r); /* safe on a zeroed one */

/* Whether the picture goes to standard output, in the place of the table. */
bool plot_replaces_table(const struct plot_request *r);

#endif
