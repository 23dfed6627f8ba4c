/* The steps of normalizers, as they are read and as they are done. */
#ifndef ATTN_TOKENIZER_NORMALIZER_INTERNAL_H
#define ATTN_TOKENIZER_NORMALIZER_INTERNAL_H

#include <stdbool.h>

#include "tokenizer/charsmap.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pattern.h"

struct normalizer_step {
	/* Append `in` as the step leaves it to the empty `out`; aligned_check is the caller's. */
	enum attn_status (*apply)(const struct normalizer_step *step, const struct aligned *in, size_t origin,
				  struct aligned *out, struct attn_error *err);
	bool compatible, compose;          /* normal form */
	bool left, right;                  /* strip */
	struct pattern *pattern;           /* replace; owned */
	char *text;                        /* replace: what by; prepend: what; owned */
	struct charsmap *map;              /* precompiled; owned */
	struct sentencepiece_rules *rules; /* of a SentencePiece model; owned */
};

typedef enum attn_status normalizer_function(const struct normalizer_step *step, const struct aligned *in,
					     size_t origin, struct aligned *out, struct attn_error *err);

normalizer_function normalize_form;       /* NFC, NFD, NFKC, NFKD */
normalizer_function normalize_lowercase;  /* Lowercase, and the last step of BertNormalizer */
normalizer_function normalize_accents;    /* StripAccents: drops all marks */
normalizer_function normalize_strip;      /* Strip */
normalizer_function normalize_replace;    /* Replace */
normalizer_function normalize_prepend;    /* Prepend */
normalizer_function normalize_clean;      /* BertNormalizer: controls are dropped, white space is a space */
normalizer_function normalize_chinese;    /* BertNormalizer: spaces around Chinese characters */
normalizer_function normalize_nonspacing; /* BertNormalizer: drops what is left of accents */
normalizer_function normalize_nmt;        /* Nmt */
normalizer_function normalize_bytes;      /* ByteLevel */
normalizer_function normalize_map;        /* Precompiled */

/* A new step at the end, or NULL with a message. */
struct normalizer_step *normalizer_add(struct normalizer_list *list, normalizer_function *apply,
				       struct attn_error *err);

void sentencepiece_rules_free(struct sentencepiece_rules *r); /* NULL is none */

#endif
