/* Pre-tokenizers: what cuts a normalised text into the pieces that the algorithm gets, one by one. */
#ifndef ATTN_TOKENIZER_PRETOKENIZER_H
#define ATTN_TOKENIZER_PRETOKENIZER_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "tokenizer/pieces.h"
#include "util/error.h"

struct pretokenizer_step;

/* Steps that are taken one after the other, each on the pieces of the one before; a sequence within
 * another is part of it. */
struct pretokenizer_list {
	struct pretokenizer_step *items; /* owned */
	size_t count;
};

/* Add the steps of the "pre_tokenizer" object of a tokenizer.json; NULL has none. */
enum attn_status pretokenizer_parse(struct pretokenizer_list *list, const cJSON *object,
				    struct attn_error *err);
void pretokenizer_release(struct pretokenizer_list *list);

/* Cut, and change, the pieces that are no added tokens. */
enum attn_status pretokenizer_apply(const struct pretokenizer_list *list, struct pieces *pieces,
				    struct attn_error *err);

#endif
