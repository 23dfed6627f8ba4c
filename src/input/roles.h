/* The names that inputs and results use: ONE table (roles.def) for readers, options, usage,
 * completion, binding, suggestions and results. */
#ifndef ATTN_INPUT_ROLES_H
#define ATTN_INPUT_ROLES_H

#include <stdbool.h>
#include <stddef.h>

/* ROLE_EMBEDDINGS and so on; ROLE_NONE is what has a name of its own. */
enum role_id {
	ROLE_NONE,
#define ROLE(ID, ...) ROLE_##ID,
#include "input/roles.def"
#undef ROLE
	ROLE_COUNT
};

enum role_kind {
	KIND_TENSOR,   /* an input tensor: embeddings, wq, mask, ... */
	KIND_RESULT,   /* a result tensor: weights, context, output, scores */
	KIND_TEXT,     /* a list of strings: tokens, source_tokens, head_names */
	KIND_PER_HEAD, /* temperature, sinks, ...: a tensor, or a setting */
	KIND_SETTING,  /* num_heads, scale, ... */
	KIND_PAIR,     /* window: a setting of two numbers, which may be an array */
	KIND_BOOL,     /* causal, ...: a setting that is true or false; false asks for nothing */
	KIND_CHOICE    /* score, ...: a setting that is one of the words quoted in its form */
};

/* What a role is about. */
enum {
	ABOUT_PROJECTED = 1,   /* projections and what they are applied to */
	ABOUT_PRECOMPUTED = 2, /* Q, K, V as they are */
	ABOUT_LATENT = 4,      /* latent attention */
	ABOUT_MASKING = 8,     /* which keys a query attends to */
	ABOUT_KEYS = 16,       /* which keys there are beside own ones */
	ABOUT_FORM = 32,       /* how this file stores things: a result has a form of its own */
	ABOUT_RESULT = 64,     /* what results say about themselves, with no use beside an input */
	ABOUT_HEAD_LIST = 128, /* what a JSON list of heads says already */
	ABOUT_INFINITY = 256   /* a tensor that may hold -inf, which JSON writes as null */
};

enum {
	ROLE_ALIASES = 2
};

struct role {
	const char *name;
	enum role_kind kind;
	const char *form;    /* "(N, D) or (B, N, D)"; the value's form for a setting */
	const char *meaning; /* a few words */
	unsigned about;
	const char *option; /* its argument, "" for one that is true or false; NULL: it has no option */
	const char *preset; /* what holds where it is not given; or NULL */
	bool variant;       /* of an attention variant: where --help lists the option */
	const char *aliases[ROLE_ALIASES]; /* what published configurations call it */
	const char *without; /* what it has no effect without, where it may go unused; or NULL */
	enum role_id choice; /* a setting that may turn off what it belongs to */
};

/* Of ids from ROLE_NONE + 1 to ROLE_COUNT - 1. */
extern const struct role roles[ROLE_COUNT];

static inline bool role_is_setting(const struct role *role)
{
	return role->kind >= KIND_SETTING;
}

enum role_id role_find(const char *name); /* case-sensitive; ROLE_NONE when unknown */

/* The known role nearest to `name`, or NULL when none is near (more than a
 * third of its letters, or 2 edits for a short one, differ). */
const char *role_suggest(const char *name);

/* The role that published configurations call `name`, or `name` itself. */
const char *role_meant(const char *name);

/* As role_suggest, but of a name among others' that need not be ours, such as a key of a file's
 * metadata: one that means a setting, or is a slip of the pen away (an edit, or two neighbours
 * swapped, or two edits of a long one). */
const char *role_suggest_slip(const char *name);

/* "num-heads" of num_heads, into text[ROLE_NAME]. */
enum {
	ROLE_NAME = 40
};
void role_option(const struct role *role, char text[ROLE_NAME]);

/* The words of a KIND_CHOICE role, quoted in its form: word `index` into text[ROLE_NAME];
 * false: there are not so many. */
bool role_word(const struct role *role, size_t index, char text[ROLE_NAME]);

#endif
