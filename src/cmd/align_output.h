/* The links of attn align: lines in the Pharaoh format, or a table. */
#ifndef ATTN_CMD_ALIGN_OUTPUT_H
#define ATTN_CMD_ALIGN_OUTPUT_H

#include "cmd/align_input.h"
#include "cmd/table_writer.h"

struct align_output {
	bool confidence, reverse;
	struct table_writer table; /* format TABLE_DEFAULT: Pharaoh lines, in its `out` */
};

/* The columns of the table, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status align_output_begin(struct align_output *o, const char *list, struct attn_error *err);

/* Append the links of a sentence, counted from 0. */
enum attn_status align_output_add(struct align_output *o, const struct align_input *input, size_t sentence,
				  size_t batch, struct attn_error *err);
enum attn_status align_output_write(struct align_output *o, const char *path, const struct command *self,
				    struct attn_error *err);
void align_output_release(struct align_output *o); /* safe on a zeroed one */

#endif
