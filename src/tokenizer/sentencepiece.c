#include "tokenizer/sentencepiece.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/sentencepiece_internal.h"
#include "util/utf8.h"

void write_piece(struct piece_writer *w, uint32_t id, size_t start, size_t end)
{
	const struct sentencepiece *m = w->model;
	bool unknown = id == m->unknown;
	if (unknown && m->byte_fallback) {
		for (size_t i = start; i < end && !w->failed; i++)
			w->failed =
			    !subtokens_add(w->out, m->bytes[(unsigned char)w->text[i]], start, end, false);
	} else if (unknown && w->after_unknown) {
		w->out->items[w->out->count - 1].end = end;
	} else {
		w->failed = w->failed || !subtokens_add(w->out, id, start, end, unknown);
	}
	w->after_unknown = unknown && !w->failed;
}

static void release(struct algorithm *a)
{
	struct sentencepiece *s = (struct sentencepiece *)a;
	vocabulary_release(&s->found);
	trie_release(&s->trie);
	free(s->scores);
	free(s->ranks);
	free(s->types);
}

static enum attn_status check_piece(const struct sentencepiece_piece *p, size_t id, struct attn_error *err)
{
	if (p->length == 0 || p->length > TRIE_MAX_DEPTH)
		return attn_fail(err, ATTN_BAD_INPUT, "piece %zu has %zu bytes, expected 1 to %d", id,
				 p->length, TRIE_MAX_DEPTH);
	if (!utf8_valid(p->text, p->length) || memchr(p->text, '\0', p->length))
		return attn_fail(err, ATTN_BAD_INPUT, "piece %zu is not UTF-8 without NULs", id);
	if (!isfinite(p->score))
		return attn_fail(err, ATTN_BAD_INPUT, "the score of piece %zu, '%.*s', is not finite", id,
				 p->length < 100 ? (int)p->length : 100, p->text);
	return ATTN_OK;
}

enum attn_status sentencepiece_collect(struct vocabulary *v, const struct sentencepiece_model *m,
				       unsigned types, struct attn_error *err)
{
	size_t count = 0, bytes = 0;
	uint32_t other;
	for (size_t i = 0; i < m->count; i++) {
		TRY(check_piece(&m->pieces[i], i, err));
		count += types >> m->pieces[i].type & 1;
		bytes += m->pieces[i].length;
	}
	TRY(vocabulary_init(v, count, bytes, err));
	for (size_t i = 0; i < m->count; i++) {
		const struct sentencepiece_piece *p = &m->pieces[i];
		if (!(types >> p->type & 1))
			continue;
		if (types != ALL_PIECES && vocabulary_find(v, p->text, p->length, &other))
			return attn_fail(err, ATTN_BAD_INPUT, "piece %zu, '%.*s', is piece %u again", i,
					 p->length < 100 ? (int)p->length : 100, p->text, other);
		TRY(vocabulary_add(v, p->text, p->length, i, err));
	}
	return vocabulary_finish(v, err);
}

/* Copy the scores and types, and see what they say. */
static enum attn_status copy_pieces(struct sentencepiece *s, const struct sentencepiece_model *m,
				    struct attn_error *err)
{
	size_t unknown = 0;
	s->scores = malloc(m->count * sizeof *s->scores);
	s->types = malloc(m->count);
	if (!s->scores || !s->types)
		return attn_fail_memory(err);
	s->least = FLT_MAX;
	s->greatest = FLT_MIN; /* as the library has it: never below 0 */
	for (size_t i = 0; i < m->count; i++) {
		const struct sentencepiece_piece *p = &m->pieces[i];
		s->scores[i] = p->score;
		s->types[i] = (unsigned char)p->type;
		s->any_unused |= p->type == PIECE_UNUSED;
		if (p->type == PIECE_NORMAL) {
			s->least = fminf(s->least, p->score);
			s->greatest = fmaxf(s->greatest, p->score);
		}
		if (p->type == PIECE_UNKNOWN && unknown++ == 0)
			s->unknown = (uint32_t)i;
	}
	if (unknown != 1)
		return attn_fail(err, ATTN_BAD_INPUT, "%zu pieces for what is unknown, expected one",
				 unknown);
	return ATTN_OK;
}

static enum attn_status find_bytes(struct sentencepiece *s, bool byte_fallback, struct attn_error *err)
{
	bool missing[256];
	s->byte_fallback = byte_fallback;
	if (!byte_fallback)
		return ATTN_OK;
	vocabulary_find_bytes(&s->base.vocabulary, s->bytes, missing);
	for (int i = 0; i < 256; i++)
		if (missing[i])
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'byte_fallback' is true, and there is no piece '<0x%02X>'",
					 (unsigned)i);
	return ATTN_OK;
}

struct ranked {
	float score;
	uint32_t id;
};

static int by_score(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return (x->score < y->score) - (x->score > y->score);
}

static enum attn_status rank_pieces(struct sentencepiece *s, size_t count, struct attn_error *err)
{
	struct ranked *order = malloc(count * sizeof *order);
	s->ranks = malloc(count * sizeof *s->ranks);
	if (!order || !s->ranks) {
		free(order);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked){s->scores[i], (uint32_t)i};
	qsort(order, count, sizeof *order, by_score);
	uint32_t rank = 0;
	for (size_t i = 0; i < count; i++) {
		rank += i > 0 && order[i].score < order[i - 1].score;
		s->ranks[order[i].id] = rank;
	}
	free(order);
	return ATTN_OK;
}

static enum attn_status init(struct sentencepiece *s, const struct sentencepiece_model *m,
			     struct attn_error *err)
{
	struct vocabulary user_defined = {0};
	TRY(sentencepiece_collect(&s->base.vocabulary, m, ALL_PIECES, err));
	TRY(sentencepiece_collect(&s->found, m, TEXT_PIECES, err));
	TRY(copy_pieces(s, m, err));
	TRY(find_bytes(s, m->byte_fallback, err));
	if (!m->bpe)
		return trie_init(&s->trie, &s->found, err);
	TRY(rank_pieces(s, m->count, err));
	enum attn_status status = sentencepiece_collect(&user_defined, m, 1u << PIECE_USER_DEFINED, err);
	if (status == ATTN_OK)
		status = trie_init(&s->trie, &user_defined, err);
	vocabulary_release(&user_defined);
	return status;
}

enum attn_status sentencepiece_algorithm(struct algorithm **out, const struct sentencepiece_model *m,
					 struct attn_error *err)
{
	static const struct algorithm_type unigram = {"SentencePiece Unigram", sentencepiece_encode_unigram,
						      release};
	static const struct algorithm_type bpe = {"SentencePiece BPE", sentencepiece_encode_bpe, release};
	struct algorithm *a = algorithm_new(m->bpe ? &bpe : &unigram, sizeof(struct sentencepiece));
	*out = NULL;
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, init((struct sentencepiece *)a, m, err));
}
