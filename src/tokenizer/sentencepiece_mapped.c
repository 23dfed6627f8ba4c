/* SentencePiece with ids of its own (Marian): the model cuts the text, and a vocabulary beside it, shared by
 * the models of two languages, says the ids. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/sentencepiece.h"

struct mapped {
	struct algorithm base;
	struct algorithm *pieces; /* owned */
	uint32_t *ids;            /* owned; of each piece */
	uint32_t unknown;
};

static enum attn_status mapped_encode(const struct algorithm *a, const char *piece, size_t length,
				      struct subtokens *out, struct attn_error *err)
{
	const struct mapped *m = (const struct mapped *)a;
	size_t before = out->count;
	TRY(algorithm_encode(m->pieces, piece, length, out, err));
	for (size_t i = before; i < out->count; i++) {
		out->items[i].id = m->ids[out->items[i].id];
		out->items[i].unknown = out->items[i].id == m->unknown;
	}
	return ATTN_OK;
}

static void mapped_release(struct algorithm *a)
{
	struct mapped *m = (struct mapped *)a;
	algorithm_free(m->pieces);
	free(m->ids);
}

static enum attn_status init(struct mapped *m, struct algorithm *pieces, const cJSON *vocab,
			     const char *unknown, struct attn_error *err)
{
	struct vocabulary *v = &m->base.vocabulary;
	size_t count = algorithm_size(pieces);
	m->pieces = pieces;
	TRY(vocabulary_parse(v, vocab, "vocab", err));
	if (!vocabulary_find(v, unknown, strlen(unknown), &m->unknown))
		return attn_fail(err, ATTN_BAD_INPUT, "the vocabulary has no '%.100s' for what is unknown",
				 unknown);
	m->ids = reallocarray(NULL, count ? count : 1, sizeof *m->ids);
	if (!m->ids)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		const char *text = algorithm_token(pieces, i);
		if (!text || !vocabulary_find(v, text, strlen(text), &m->ids[i]))
			m->ids[i] = m->unknown;
	}
	return ATTN_OK;
}

enum attn_status sentencepiece_map(struct algorithm **out, struct algorithm *pieces, const cJSON *vocab,
				   const char *unknown, struct attn_error *err)
{
	static const struct algorithm_type type = {"SentencePiece with a vocabulary", mapped_encode,
						   mapped_release};
	struct algorithm *a = algorithm_new(&type, sizeof(struct mapped));
	*out = NULL;
	if (!a) {
		algorithm_free(pieces);
		return attn_fail_memory(err);
	}
	return algorithm_finish(out, a, init((struct mapped *)a, pieces, vocab, unknown, err));
}
