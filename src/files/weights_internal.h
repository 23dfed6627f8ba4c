/* Attention weights as others store them: by layers, by steps, as a table. */
#ifndef ATTN_FILES_WEIGHTS_INTERNAL_H
#define ATTN_FILES_WEIGHTS_INTERNAL_H

#include <stdbool.h>

#include "input/bundle.h"
#include "input/roles.h"

/* What members are, which their names may say. */
enum members {
	MEMBERS_LAYERS,
	MEMBERS_STEPS, /* of a generation */
	MEMBERS_HEADS,
};

/* Put tensors together, as tensors_join does, without the axis of one batch item.  Layers of
 * (queries, keys) have one head, which is an average: its name goes to `labels`, and where steps
 * begin after other keys, so does past_keys.  The parts are left to the caller. */
enum attn_status weights_join(struct tensor *parts, size_t count, enum members kind, const char *name,
			      struct tensor *out, struct bundle *labels, struct attn_error *err);

/* Whether `role` is weights, and the file's members of the name `pattern` ("layer_*"; NULL: all
 * of its tensors) are parts of them. */
bool weights_are_members(const struct bundle *file, const struct role *role, const char *pattern);

/* Put these members together, in the order of their numbers, as *t; the file gets its labels. */
enum attn_status weights_join_members(struct bundle *file, const char *pattern, const char *path,
				      struct tensor *t, struct attn_error *err);

/* In a whole file without any role, whose tensors are all members of weights: put them together
 * as 'weights', and say so in a note. */
enum attn_status weights_find(struct bundle *file, const char *path, struct attn_error *err);

/* Weights that are a vector are those of one query: give them its axis. */
void weights_shape(struct bundle *b);

/* Move to *kept what a tensor of `rest`, bound to `role`, brings along: labels of rows, and for
 * weights and scores those of columns, and settings. */
enum attn_status weights_companions(struct bundle *rest, const struct role *role, struct bundle *kept,
				    struct attn_error *err);

#endif
