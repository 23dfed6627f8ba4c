#include "tokenizer/postprocessor.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/bytes.h"
#include "tokenizer/unicode.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/utf8.h"

static bool is_space(uint32_t code)
{
	return code == byte_letter(' ') || unicode_is_space(code);
}

/* Spaces at the start of a token's string, and at its end. */
static void count_spaces(const char *text, size_t *leading, size_t *trailing)
{
	size_t length = strlen(text);
	bool before = true;
	*leading = *trailing = 0;
	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		i += utf8_decode(text + i, length - i, &code);
		bool space = is_space(code);
		before &= space;
		*leading += before;
		*trailing = space ? *trailing + 1 : 0;
	}
}

/* process_offsets of the reference's byte_level.rs. */
static void trim_offsets(struct encoding *e, bool prefix)
{
	for (size_t i = 0; i < e->count; i++) {
		struct token *token = &e->tokens[i];
		size_t leading, trailing;
		count_spaces(token->text, &leading, &trailing);
		if (prefix && leading == 1 && (i == 0 || token->start == 0))
			leading = 0;
		token->start = size_min(token->start + leading, token->end);
		if (trailing > 0 && token->end >= trailing)
			token->end = size_max(token->end - trailing, token->start);
	}
}

/* Move the tokens of a sequence to the end of *out, which has room. */
static void move_tokens(struct encoding *out, struct encoding *from, unsigned char type)
{
	for (size_t i = 0; i < from->count; i++) {
		out->tokens[out->count] = from->tokens[i];
		out->tokens[out->count++].type = type;
	}
	from->count = 0;
}

/* A template may have a sequence more than once: then all but the last time it is copied. */
static enum attn_status copy_tokens(struct encoding *out, const struct encoding *from, unsigned char type,
				    struct attn_error *err)
{
	for (size_t i = 0; i < from->count; i++) {
		struct token copy = from->tokens[i];
		copy.type = type;
		copy.text = strdup(copy.text);
		if (!copy.text)
			return attn_fail_memory(err);
		out->tokens[out->count++] = copy;
	}
	return ATTN_OK;
}

static enum attn_status add_token(struct encoding *out, const struct template_piece *piece,
				  struct attn_error *err)
{
	struct token token = {
	    .id = piece->id, .text = strdup(piece->text), .special = true, .type = piece->type};
	if (!token.text)
		return attn_fail_memory(err);
	out->tokens[out->count++] = token;
	return ATTN_OK;
}

static bool comes_again(const struct template *t, size_t at)
{
	for (size_t i = at + 1; i < t->count; i++)
		if (t->items[i].sequence && t->items[i].pair == t->items[at].pair)
			return true;
	return false;
}

static enum attn_status apply_template(const struct template *t, struct encoding *text, struct encoding *pair,
				       bool specials, struct encoding *out, struct attn_error *err)
{
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++)
		count += t->items[i].sequence ? (t->items[i].pair ? pair->count : text->count) : 1;
	out->tokens = array_alloc(count, sizeof *out->tokens);
	if (!out->tokens)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		const struct template_piece *piece = &t->items[i];
		struct encoding *from = piece->pair ? pair : text;
		if (!piece->sequence && specials)
			TRY(add_token(out, piece, err));
		else if (piece->sequence && comes_again(t, i))
			TRY(copy_tokens(out, from, piece->type, err));
		else if (piece->sequence)
			move_tokens(out, from, piece->type);
	}
	return ATTN_OK;
}

enum attn_status postprocessor_apply(const struct postprocessor *p, struct encoding *text,
				     struct encoding *pair, bool specials, struct encoding *out,
				     struct attn_error *err)
{
	struct template_piece sequences[] = {{.sequence = true}, {.sequence = true, .pair = true, .type = 1}};
	const struct template plain = {sequences, pair ? 2 : 1};
	const struct template *t = !p->has_template ? &plain : pair ? &p->both : &p->single;
	for (size_t i = 0; i < p->trim_count; i++) {
		trim_offsets(text, p->trims[i].prefix);
		if (pair)
			trim_offsets(pair, p->trims[i].prefix);
	}
	enum attn_status status = apply_template(t, text, pair, specials, out, err);
	if (status != ATTN_OK)
		encoding_release(out);
	encoding_release(text);
	if (pair)
		encoding_release(pair);
	return status;
}
