/* A set of named tensors, text lists and settings, whatever files they came
 * from.  It knows nothing of what they mean: see problem.h.
 */
#ifndef ATTN_INPUT_BUNDLE_H
#define ATTN_INPUT_BUNDLE_H

#include "input/tensor.h"
#include "util/error.h"
#include "util/strings.h"

struct text {
	char *name; /* "tokens", "source_tokens", "head_names" */
	char *origin;
	enum role_id role; /* ROLE_NONE: a name of the file's own; so too below */
	bool used;         /* see given.h; so too below */
	struct string_list list;
	bool implied; /* the labels of a table: gives way to a list that is given by itself */

	/* As a tensor's: the list is empty until text_load has been called. */
	enum attn_status (*load)(struct text *text, struct attn_error *err);
	void *source;
};

/* Settings are kept as text, as a file's metadata and the command line have
 * them: numbers as JSON writes them, true and false as "true" and "false". */
struct setting {
	char *name, *value;
	char *origin;      /* a file, or the option that set it */
	bool from_command; /* overrides a file's, and is never overridden */
	bool implied;      /* how a table or layers were read: not a name of the file's */
	enum role_id role;
	bool used;
};

/* What a file holds that cannot be used: another program's, or of a type that is not computed
 * with.  It is listed, and an error only where it is asked for. */
struct other {
	char *name, *origin;
	char *type;  /* "object", "C64", "string", ... */
	char *why;   /* the error when it is asked for, without the file's name */
	char *value; /* a string or number; NULL where it is more */
	int rank;    /* 0 also where it has no shape */
	size_t shape[TENSOR_MAX_RANK];
};

struct bundle {
	struct tensor *tensors;
	size_t tensor_count;
	struct text *texts;
	size_t text_count;
	struct setting *settings;
	size_t setting_count;
	struct string_list notes; /* on how a file was read, for the user */
	struct other *others;
	size_t other_count;
	size_t head_list; /* wq, wk, wv were joined from a "heads" list of so many; 0: they were not */
	struct bundle_resource *resources; /* see bundle_keep */
};

/* An empty bundle, and its end: what it owns is freed, and what it keeps is released. */
void bundle_init(struct bundle *b);
void bundle_release(struct bundle *b);

/* Move *t, *list, *text into the bundle (zeroing the source, also on failure).  A
 * second tensor or text of one name is ATTN_BAD_INPUT that names both files. */
enum attn_status bundle_add_tensor(struct bundle *b, struct tensor *t, struct attn_error *err);
enum attn_status bundle_add_text(struct bundle *b, const char *name, const char *origin,
				 struct string_list *list, struct attn_error *err);
enum attn_status bundle_take_text(struct bundle *b, struct text *text, struct attn_error *err);

/* Add a setting.  The same name twice from files is fine with the same value
 * and ATTN_BAD_INPUT with another, unless it is no name of ours (roles.h): the
 * first then stays. */
enum attn_status bundle_add_setting(struct bundle *b, const char *name, const char *value, const char *origin,
				    struct attn_error *err);

/* Add what cannot be used, of which the caller may then set value, rank and shape; NULL when out
 * of memory.  The strings are copied; `origin` may be NULL.  A name may come more than once. */
struct other *bundle_add_other(struct bundle *b, const char *name, const char *origin, const char *type,
			       const char *why, struct attn_error *err);

/* Set from the command line: overrides what files say. */
enum attn_status bundle_override(struct bundle *b, const char *name, const char *value, const char *origin,
				 struct attn_error *err);

/* Free `resource` by release(resource) when the bundle is released: memory that
 * tensors point into.  On failure the resource has been released. */
enum attn_status bundle_keep(struct bundle *b, void *resource, void (*release)(void *),
			     struct attn_error *err);

/* Move everything of `from` into `to` (settings, texts, tensors, resources) and
 * leave `from` empty.  On failure what could not be moved has been released. */
enum attn_status bundle_merge(struct bundle *to, struct bundle *from, struct attn_error *err);

/* Free what *text owns, and zero it. */
void text_release(struct text *text);

/* Make sure that the strings are there, as tensor_load does. */
enum attn_status text_load(struct text *text, struct attn_error *err);

/* Release the tensor or text at `index`; those after it move up. */
void bundle_remove_tensor(struct bundle *b, size_t index);
void bundle_remove_text(struct bundle *b, size_t index);

/* By name, for what need not be a role; or NULL.  Roles are asked for by id: given.h. */
struct tensor *bundle_tensor(const struct bundle *b, const char *name);
const struct text *bundle_text(const struct bundle *b, const char *name);
const struct setting *bundle_setting(const struct bundle *b, const char *name);
const struct other *bundle_other(const struct bundle *b, const char *name);

#endif
