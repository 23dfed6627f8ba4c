/* --terminal: heatmaps on standard output as text. */
#ifndef ATTN_CMD_TERMINAL_H
#define ATTN_CMD_TERMINAL_H

#include "cmd/figures.h"
#include "draw/terminal/terminal.h"

/* Let figures be drawn on standard output: fill *terminal with what that is and its size (of
 * the terminal, else COLUMNS, else 80).  ATTN_USAGE for options of files; `format` is --format
 * or NULL. */
enum attn_status terminal_choose(struct figure_options *figure, struct terminal *terminal, const char *format,
				 struct attn_error *err);

/* Draw a figure on standard output. */
enum attn_status terminal_print(const struct terminal *terminal, const struct heatmap_figure *figure,
				const struct command *self, struct attn_error *err);

#endif
