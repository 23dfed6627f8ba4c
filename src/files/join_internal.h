/* Tensors put together: layers, and the steps of a generation. */
#ifndef ATTN_FILES_JOIN_INTERNAL_H
#define ATTN_FILES_JOIN_INTERNAL_H

#include "input/tensor.h"

/* How tensors are put together. */
enum join {
	JOIN_STACKED, /* of one shape, along a new first axis */
	JOIN_STEPS,   /* along the queries */
};

/* Put `count` (from 1) tensors together as *out, called `name`: those of one shape are stacked.
 * Those whose queries follow on one another, (..., q, k) each with q more keys than the one
 * before, or just rows (k) of one key more each, are the steps of a generation: their queries
 * come one after another, with zeros where a step had no key yet.  With `steps` those of one
 * shape are steps, too, as cross-attention has them.  Loads the tensors, and leaves them to the
 * caller; *out owns its data.  ATTN_BAD_INPUT that names the first two of other shapes. */
enum attn_status tensors_join(struct tensor *parts, size_t count, bool steps, const char *name,
			      struct tensor *out, enum join *how, struct attn_error *err);

/* What numbers a name has where `pattern` has '*' (each stands for digits; at most 2): false
 * where the rest differs. */
bool name_numbers(const char *pattern, const char *name, size_t numbers[2]);

/* The pattern that all `count` names match with numbers of their own: "layer_*", "step_*_layer_*".
 * NULL: there is none, or no memory; the caller frees it. */
char *names_pattern(const char *const *names, size_t count);

#endif
