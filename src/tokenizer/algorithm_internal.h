/* What the algorithms share: a vocabulary, and how each is called. */
#ifndef ATTN_TOKENIZER_ALGORITHM_INTERNAL_H
#define ATTN_TOKENIZER_ALGORITHM_INTERNAL_H

#include "tokenizer/algorithm.h"
#include "tokenizer/vocabulary.h"

struct algorithm_type {
	const char *name;
	/* As algorithm_encode, for a piece that is not empty and has no more than UINT32_MAX bytes. */
	enum attn_status (*encode)(const struct algorithm *a, const char *piece, size_t length,
				   struct subtokens *out, struct attn_error *err);
	void (*release)(struct algorithm *a); /* what it owns beside the vocabulary; may be NULL */
};

/* The first member of each algorithm's own struct. */
struct algorithm {
	const struct algorithm_type *type;
	struct vocabulary vocabulary;
};

/* Allocate `size` zeroed bytes that begin with an algorithm; NULL: no memory. */
struct algorithm *algorithm_new(const struct algorithm_type *type, size_t size);

/* What a reader ends with: *out is `a`, or NULL and `a` freed where it failed. */
enum attn_status algorithm_finish(struct algorithm **out, struct algorithm *a, enum attn_status status);

/* Append one; false: no memory. */
bool subtokens_add(struct subtokens *list, size_t id, size_t start, size_t end, bool unknown);

/* A token that stands for what a vocabulary doesn't have.  It is looked up when it is needed first, as
 * the reference does: models without it are sound until then. */
struct unknown_token {
	char *text; /* owned; NULL: none */
	uint32_t id;
	bool found;
};

/* Copy `text`, which may be NULL, and look it up. */
enum attn_status unknown_token_set(struct unknown_token *u, const struct vocabulary *v, const char *text,
				   struct attn_error *err);

/* ATTN_OK where it can be used, else what is missing. */
enum attn_status unknown_token_check(const struct unknown_token *u, struct attn_error *err);

/* Each reads its own "model" object. */
enum attn_status bpe_parse(struct algorithm **out, const cJSON *model, struct attn_error *err);
enum attn_status wordpiece_parse(struct algorithm **out, const cJSON *model, struct attn_error *err);
enum attn_status unigram_parse(struct algorithm **out, const cJSON *model, struct attn_error *err);
enum attn_status wordlevel_parse(struct algorithm **out, const cJSON *model, struct attn_error *err);

#endif
