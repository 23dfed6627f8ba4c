/* The names that inputs and results use: one table for readers, binding, help
 * and suggestions. */
#ifndef ATTN_CORE_ROLES_H
#define ATTN_CORE_ROLES_H

#include <stdbool.h>
#include <stddef.h>

enum role_kind {
	ROLE_TENSOR,  /* an input tensor: embeddings, wq, mask, ... */
	ROLE_RESULT,  /* a result tensor: weights, context, output, scores */
	ROLE_TEXT,    /* a list of strings: tokens, source_tokens, head_names */
	ROLE_SETTING, /* num_heads, causal, ... */
};

struct role {
	const char *name;
	enum role_kind kind;
	const char *shape;   /* "(N, D) or (B, N, D)"; the value's form for a setting */
	const char *meaning; /* a few words */
};

extern const struct role roles[]; /* ends with a NULL name */

const struct role *role_find(const char *name); /* case-sensitive; NULL when unknown */

/* Names, of settings or tensors, for attention of kinds that this version does not
 * compute: they are refused unless they say that there is none of it. */
struct unsupported {
	const char *name;
	const char *neutral;   /* the text that says so; NULL: nothing does */
	double neutral_number; /* the number that says so, or all of an array; NaN: none does */
};

const struct unsupported *unsupported_find(const char *name); /* or NULL */

/* The known role nearest to `name`, or NULL when none is near (more than a
 * third of its letters, or 2 edits for a short one, differ). */
const char *role_suggest(const char *name);

#endif
