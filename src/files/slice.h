/* Parts of a tensor, chosen as NumPy does: "[0,:,2:5]". */
#ifndef ATTN_FILES_SLICE_H
#define ATTN_FILES_SLICE_H

#include "input/tensor.h"
#include "util/strings.h"

/* The '[' that opens the brackets at the end of `text`, or NULL where it does not end in
 * brackets that hold only what a slice may. */
char *slice_find(char *text);

/* Reduce a loaded tensor to what `slice` ("[...]") chooses: indices, which take their axis away,
 * START:STOP:STEP, and one "..." for the axes in between; negative numbers count from the end.
 * ATTN_BAD_INPUT for an index that is not there, ATTN_USAGE for what is no slice; *t is then as
 * before. */
enum attn_status tensor_slice(struct tensor *t, const char *slice, struct attn_error *err);

/* The same for a list, which has one axis; one index leaves a list of one. */
enum attn_status strings_slice(struct string_list *list, const char *name, const char *slice,
			       struct attn_error *err);

#endif
