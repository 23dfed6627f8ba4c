/* What a decoder writes: greedily, the likeliest next token again and again. */
#ifndef ATTN_MODEL_GENERATE_H
#define ATTN_MODEL_GENERATE_H

#include "model/model.h"

/* What a model's files say about what it writes. */
struct writing_rules {
	size_t *ends; /* (end_count), owned: tokens that end a text */
	size_t end_count;
	size_t *never; /* (never_count), owned: tokens that are never written */
	size_t never_count;
	size_t opening; /* the token that comes first, after a decoder's own; SIZE_MAX: any may */
};

/* From generation_config.json of the model's folder, where there is one, or its config: eos_token_id,
 * suppress_tokens, bad_words_ids of one token, forced_bos_token_id. */
enum attn_status writing_rules_open(struct writing_rules *rules, const struct model *m,
				    struct attn_error *err);
void writing_rules_release(struct writing_rules *rules); /* safe on zeroed ones */

/* Write behind `text` at most `most` tokens, and no more than the model has positions for: *ids (*count),
 * owned by the caller, without the token that ended them.  Of equally likely tokens that with the lowest id.
 * `source` is what the encoder reads, of a model that has one, else NULL. */
enum attn_status model_generate(struct model *m, const struct text_ids *text, const struct text_ids *source,
				size_t most, size_t **ids, size_t *count, struct attn_error *err);

#endif
