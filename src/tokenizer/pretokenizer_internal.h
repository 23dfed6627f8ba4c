/* The steps of pre-tokenizers, as they are read and as they are done. */
#ifndef ATTN_TOKENIZER_PRETOKENIZER_INTERNAL_H
#define ATTN_TOKENIZER_PRETOKENIZER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tokenizer/pattern.h"
#include "tokenizer/pretokenizer.h"

/* What becomes of the matches: they are dropped; pieces of their own; joined to the piece before,
 * or to the one behind, but no two of them; or pieces of their own, joined where they touch. */
enum split_behavior {
	SPLIT_REMOVED,
	SPLIT_ISOLATED,
	SPLIT_WITH_PREVIOUS,
	SPLIT_WITH_NEXT,
	SPLIT_CONTIGUOUS,
};

/* When a mark is put before a piece that has none. */
enum prepend_scheme {
	PREPEND_ALWAYS,
	PREPEND_FIRST, /* only before the one that begins where the text does */
	PREPEND_NEVER,
};

struct pretokenizer_step {
	enum attn_status (*apply)(const struct pretokenizer_step *step, struct pieces *pieces,
				  struct attn_error *err);
	bool (*is_match)(uint32_t code); /* split at characters, or else at a pattern */
	struct pattern *pattern;         /* owned */
	enum split_behavior behavior;
	bool invert;   /* what is between matches is one, and the other way round */
	size_t length; /* fixed length, in characters */
	char mark[5];  /* what is prepended, and what stands for a space */
	bool replace;  /* spaces by the mark */
	enum prepend_scheme scheme;
};

enum attn_status pretokenize_split(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err);
enum attn_status pretokenize_fixed(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err);
enum attn_status pretokenize_mark(const struct pretokenizer_step *step, struct pieces *pieces,
				  struct attn_error *err);
enum attn_status pretokenize_bytes(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err);

#endif
