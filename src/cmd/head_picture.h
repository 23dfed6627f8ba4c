/* attn heatmap --statistic: a figure of all heads as one picture, layers by heads. */
#ifndef ATTN_CMD_HEAD_PICTURE_H
#define ATTN_CMD_HEAD_PICTURE_H

#include "cmd/figures.h"
#include "cmd/head_figures.h"
#include "cmd/view_options.h"

/* ATTN_USAGE for options that such a picture has no use for; `scores` and `image` say whether
 * those of the command are given. */
enum attn_status head_picture_check(const struct figure_options *figure, const struct view_request *view,
				    bool scores, bool image, struct attn_error *err);

/* Stream the selected rows, of one batch item, and draw the figure of their heads. */
enum attn_status head_picture_write(const struct head_figure *statistic, const struct figure_options *figure,
				    const struct inputs *in, const struct selection *selection,
				    const char *path, const struct command *self, struct attn_error *err);

#endif
