/* attn align --draw: the matrix of a sentence, with its links marked. */
#ifndef ATTN_CMD_ALIGN_DRAW_H
#define ATTN_CMD_ALIGN_DRAW_H

#include "cmd/align_input.h"
#include "cmd/figures.h"

/* Stream the rows of a batch item and draw them, with squares on its links and frames around those of the
 * gold standard (NULL: there is none). */
enum attn_status align_draw(struct align_input *input, size_t batch, const struct link_list *gold,
			    const struct figure_options *figure, const char *path, const struct command *self,
			    struct attn_error *err);

#endif
