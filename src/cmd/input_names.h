/* What to call an input in titles. */
#ifndef ATTN_CMD_INPUT_NAMES_H
#define ATTN_CMD_INPUT_NAMES_H

#include "cmd/inputs.h"

/* Append the names of an opened input's files, or of its model: without folders, and without
 * repetition, as a checkpoint is often bound role by role.  False: no memory. */
bool input_names(const struct inputs *in, struct string_list *names);

/* Append ": Once upon a time, there was ...": how a model's text begins. */
void input_text_start(struct buffer *title, const char *text);

#endif
