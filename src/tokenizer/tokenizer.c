#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/pieces.h"
#include "tokenizer/tokenizer_internal.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/utf8.h"

/* No model attends over a text of this length. */
#define MAX_TEXT ((size_t)64 << 20)

void tokenizer_free(struct tokenizer *t)
{
	if (!t)
		return;
	added_release(&t->added);
	normalizer_release(&t->normalizers);
	pretokenizer_release(&t->pretokenizers);
	algorithm_free(t->algorithm);
	postprocessor_release(&t->post);
	free(t);
}

void encoding_release(struct encoding *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->tokens[i].text);
	free(e->tokens);
	*e = (struct encoding){0};
}

size_t tokenizer_size(const struct tokenizer *t)
{
	size_t size = algorithm_size(t->algorithm);
	return t->added.count ? size_max(size, t->added.by_id[t->added.count - 1]->id + 1) : size;
}

const char *tokenizer_token(const struct tokenizer *t, size_t id)
{
	const struct added_token *added = added_by_id(&t->added, id);
	return added ? added->content : algorithm_token(t->algorithm, id);
}

const char *tokenizer_kind(const struct tokenizer *t)
{
	return algorithm_kind(t->algorithm);
}

/* Cut the normalised tokens out of the text from `start` on, and add the pieces. */
static void cut_normalized(const struct tokenizer *t, struct pieces *pieces, size_t start)
{
	size_t length = pieces->text.length - start, at = 0, done = 0, from, to;
	const char *text = pieces->text.text + start;
	const struct added_token *token;
	while (length > 0 &&
	       (token = added_find(&t->added.normalized, text, length, &at, done, &from, &to))) {
		if (from > done)
			pieces_add(pieces, start + done, start + from, PIECE_NO_ID);
		if (from < to)
			pieces_add(pieces, start + from, start + to, token->id);
		done = to;
	}
	if (done < length)
		pieces_add(pieces, start + done, start + length, PIECE_NO_ID);
}

/* Normalise text[length], which begins at byte `origin`, and add its pieces. */
static enum attn_status add_text(const struct tokenizer *t, struct pieces *pieces, const char *text,
				 size_t length, size_t origin, struct attn_error *err)
{
	size_t start = pieces->text.length;
	if (t->normalizers.count == 0) {
		aligned_add_original(&pieces->text, text, length, origin);
	} else {
		struct aligned part = {.most = pieces->text.most};
		aligned_add_original(&part, text, length, origin);
		enum attn_status status = aligned_check(&part, err);
		if (status == ATTN_OK)
			status = normalizer_apply(&t->normalizers, &part, origin, err);
		if (status == ATTN_OK)
			aligned_add_part(&pieces->text, &part, 0, part.length);
		aligned_release(&part);
		TRY(status);
	}
	TRY(pieces_check(pieces, err));
	cut_normalized(t, pieces, start);
	return pieces_check(pieces, err);
}

/* Cut a text into the pieces that the algorithm gets, and added tokens between them. */
static enum attn_status cut(const struct tokenizer *t, const char *text, size_t length, struct pieces *pieces,
			    struct attn_error *err)
{
	size_t at = 0, done = 0, from, to;
	const struct added_token *token;
	while ((token = added_find(&t->added.raw, text, length, &at, done, &from, &to))) {
		if (from > done)
			TRY(add_text(t, pieces, text + done, from - done, done, err));
		if (from < to) {
			size_t start = pieces->text.length;
			aligned_add_original(&pieces->text, text + from, to - from, from);
			TRY(aligned_check(&pieces->text, err));
			pieces_add(pieces, start, pieces->text.length, token->id);
		}
		done = to;
	}
	if (done < length)
		TRY(add_text(t, pieces, text + done, length - done, done, err));
	TRY(pieces_check(pieces, err));
	return pretokenizer_apply(&t->pretokenizers, pieces, err);
}

/* Counts code points of a text.  Tokens come in order, or nearly, so that it goes on from where it was. */
struct counter {
	const char *text;
	size_t byte, point;
};

static size_t count_points(struct counter *c, size_t byte)
{
	for (; c->byte < byte; c->byte++)
		c->point += (c->text[c->byte] & 0xc0) != 0x80;
	for (; c->byte > byte; c->byte--)
		c->point -= (c->text[c->byte - 1] & 0xc0) != 0x80;
	return c->point;
}

/* Append the token of the bytes [start, end) of the pieces' text; its string is `string`, or those bytes
 * where that is NULL. */
static enum attn_status add_token(struct encoding *out, size_t *capacity, const struct pieces *pieces,
				  struct counter *counter, size_t id, size_t start, size_t end,
				  const char *string, struct attn_error *err)
{
	if (out->count == *capacity) {
		size_t larger = *capacity ? *capacity * 2 : 64;
		struct token *tokens = reallocarray(out->tokens, larger, sizeof *tokens);
		if (!tokens)
			return attn_fail_memory(err);
		out->tokens = tokens;
		*capacity = larger;
	}
	struct token token = {.id = id};
	token.text = string ? strdup(string) : strndup(pieces->text.text + start, end - start);
	if (!token.text)
		return attn_fail_memory(err);
	const struct span *spans = pieces->text.spans;
	token.start = count_points(counter, start < end ? spans[start].start : 0);
	token.end = start < end ? count_points(counter, spans[end - 1].end) : token.start;
	out->tokens[out->count++] = token;
	return ATTN_OK;
}

static enum attn_status encode_pieces(const struct tokenizer *t, const char *text,
				      const struct pieces *pieces, struct subtokens *found,
				      struct encoding *out, struct attn_error *err)
{
	struct counter counter = {text, 0, 0};
	size_t capacity = 0;
	for (size_t p = 0; p < pieces->count; p++) {
		const struct piece *piece = &pieces->items[p];
		if (piece->id != PIECE_NO_ID) {
			TRY(add_token(out, &capacity, pieces, &counter, piece->id, piece->start, piece->end,
				      NULL, err));
			continue;
		}
		found->count = 0;
		TRY(algorithm_encode(t->algorithm, pieces->text.text + piece->start,
				     piece->end - piece->start, found, err));
		for (size_t i = 0; i < found->count; i++) {
			const struct subtoken *s = &found->items[i];
			TRY(add_token(out, &capacity, pieces, &counter, s->id, piece->start + s->start,
				      piece->start + s->end,
				      s->unknown ? NULL : algorithm_token(t->algorithm, s->id), err));
		}
	}
	return ATTN_OK;
}

/* The tokens of one text; *out is empty after a failure. */
static enum attn_status encode_one(const struct tokenizer *t, const char *text, size_t length,
				   struct encoding *out, struct attn_error *err)
{
	struct pieces pieces = {.text = {.most = aligned_most(length)}};
	struct subtokens found = SUBTOKENS_INIT;
	*out = (struct encoding){0};
	if (length > MAX_TEXT)
		return attn_fail(err, ATTN_BAD_INPUT, "the text has %zu bytes, expected at most %zu", length,
				 MAX_TEXT);
	for (size_t i = 0; i < length;) {
		size_t step = utf8_step(text + i, length - i);
		if (step == 0)
			return attn_fail(err, ATTN_BAD_INPUT, "byte %zu of the text is not UTF-8", i);
		i += step;
	}
	enum attn_status status = cut(t, text, length, &pieces, err);
	if (status == ATTN_OK)
		status = encode_pieces(t, text, &pieces, &found, out, err);
	if (status != ATTN_OK)
		encoding_release(out);
	subtokens_release(&found);
	pieces_release(&pieces);
	return status;
}

enum attn_status tokenizer_encode(const struct tokenizer *t, const char *text, size_t length,
				  const char *pair, size_t pair_length, bool specials, struct encoding *out,
				  struct attn_error *err)
{
	struct encoding first, second = {0};
	*out = (struct encoding){0};
	TRY(encode_one(t, text, length, &first, err));
	enum attn_status status = pair ? encode_one(t, pair, pair_length, &second, err) : ATTN_OK;
	if (status == ATTN_OK)
		status = postprocessor_apply(&t->post, &first, pair ? &second : NULL, specials, out, err);
	encoding_release(&first);
	return status;
}
