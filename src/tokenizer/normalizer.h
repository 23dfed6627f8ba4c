/* Normalizers: what is done to the characters of a text before it is cut up. */
#ifndef ATTN_TOKENIZER_NORMALIZER_H
#define ATTN_TOKENIZER_NORMALIZER_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "tokenizer/aligned.h"
#include "util/error.h"

struct normalizer_step;

/* Steps that are taken one after the other; a sequence within another is part of it. */
struct normalizer_list {
	struct normalizer_step *items; /* owned */
	size_t count;
};

/* Add the steps of the "normalizer" object of a tokenizer.json; NULL has none. */
enum attn_status normalizer_parse(struct normalizer_list *list, const cJSON *object, struct attn_error *err);
void normalizer_release(struct normalizer_list *list);

/* Normalise `text` in place: a part of the original text that begins at byte `origin`. */
enum attn_status normalizer_apply(const struct normalizer_list *list, struct aligned *text, size_t origin,
				  struct attn_error *err);

#endif
