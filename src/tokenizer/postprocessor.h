/* Post-processors: what is put around the tokens of a text and its pair, and their offsets and types
 * afterwards.
 *
 * All of them are templates here: BERT's and RoBERTa's are two that everyone has.
 */
#ifndef ATTN_TOKENIZER_POSTPROCESSOR_H
#define ATTN_TOKENIZER_POSTPROCESSOR_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/tokenizer.h"
#include "util/error.h"

struct template_piece {
	bool sequence; /* the text's tokens, or the pair's; else an added token */
	bool pair;
	unsigned char type; /* of all its tokens */
	size_t id;          /* of an added token */
	char *text;         /* its string; owned */
};

struct template
{
	struct template_piece *items; /* owned */
	size_t count;
};

struct postprocessor {
	/* The trimmings of offsets, in order: each takes away the spaces at the ends of a token, but
	 * with `prefix` not a single one before the first token, which the pre-tokenizer put there. */
	struct trim {
		bool prefix;
	} * trims; /* owned */
	size_t trim_count;
	bool has_template;
	struct template single, both;
};

/* Read the "post_processor" object of a tokenizer.json; NULL adds nothing.  `known` tells which ids
 * there are: others are refused. */
enum attn_status postprocessor_parse(struct postprocessor *p, const cJSON *object,
				     bool (*known)(const void *context, size_t id), const void *context,
				     struct attn_error *err);
void postprocessor_release(struct postprocessor *p);

/* Make *out, which is empty, of the tokens of the text, and of the pair unless that is NULL; both are
 * empty afterwards.  Without `specials` no tokens are added. */
enum attn_status postprocessor_apply(const struct postprocessor *p, struct encoding *text,
				     struct encoding *pair, bool specials, struct encoding *out,
				     struct attn_error *err);

#endif
