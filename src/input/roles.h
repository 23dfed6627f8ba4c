/* The names that inputs and results use: one table for readers, binding, help
 * and suggestions. */
#ifndef ATTN_INPUT_ROLES_H
#define ATTN_INPUT_ROLES_H

#include <stdbool.h>
#include <stddef.h>

enum role_kind {
	ROLE_TENSOR,       /* an input tensor: embeddings, wq, mask, ... */
	ROLE_RESULT,       /* a result tensor: weights, context, output, scores */
	ROLE_TEXT,         /* a list of strings: tokens, source_tokens, head_names */
	ROLE_SETTING,      /* num_heads, causal, ... */
	ROLE_SETTING_PAIR, /* window: a setting of two numbers, which may be an array */
	ROLE_PER_HEAD,     /* temperature, sinks, ...: a tensor, or a setting */
};

struct role {
	const char *name;
	enum role_kind kind;
	const char *shape;   /* "(N, D) or (B, N, D)"; the value's form for a setting */
	const char *meaning; /* a few words */
};

extern const struct role roles[]; /* ends with a NULL name */

static inline bool role_is_setting(const struct role *role)
{
	return role->kind == ROLE_SETTING || role->kind == ROLE_SETTING_PAIR;
}

const struct role *role_find(const char *name); /* case-sensitive; NULL when unknown */

/* The known role nearest to `name`, or NULL when none is near (more than a
 * third of its letters, or 2 edits for a short one, differ). */
const char *role_suggest(const char *name);

#endif
