/* SentencePiece's Unigram (unigram_model.cc, EncodeOptimized): as tokenizer/unigram.c, but the best sums are
 * rounded to float32, which decides between near equals. */
#include <stdlib.h>

#include "tokenizer/sentencepiece_internal.h"
#include "util/utf8.h"

#define UNKNOWN_PENALTY 10.0f
#define NOT_REACHED UINT32_MAX

/* The best way to a place in the text. */
struct place {
	float score;
	uint32_t from, id; /* its last piece; NOT_REACHED */
	uint32_t to;       /* where the piece that begins here ends, once the best way is known */
};

static void reach(struct place *p, double score, size_t from, uint32_t id)
{
	if (p->from == NOT_REACHED || score > (double)p->score)
		*p = (struct place){(float)score, (uint32_t)from, id, 0};
}

/* User defined pieces win over all others. */
static double piece_score(const struct sentencepiece *s, uint32_t id, size_t length)
{
	if (s->types[id] == PIECE_USER_DEFINED)
		return (double)((float)length * s->greatest) - 0.1;
	return (double)s->scores[id];
}

/* Go on from places[at] by each piece that the text has there, and by one unknown character of `step`
 * bytes where no piece is that character. */
static void go_on(const struct sentencepiece *s, const char *text, size_t length, size_t at, size_t step,
		  struct place *places)
{
	const struct trie *t = &s->trie;
	float score = places[at].score;
	bool single = false;
	uint32_t node = 0;
	for (size_t i = at; i < length && (node = trie_child(t, node, (uint8_t)text[i])) != 0; i++) {
		uint32_t id = t->nodes[node].value - 1;
		if (t->nodes[node].value == 0 || s->types[id] == PIECE_UNUSED)
			continue;
		reach(&places[i + 1], piece_score(s, id, i + 1 - at) + (double)score, at, id);
		single = single || i + 1 == at + step;
	}
	float unknown = s->least - UNKNOWN_PENALTY + score;
	if (!single)
		reach(&places[at + step], (double)unknown, at, s->unknown);
}

enum attn_status sentencepiece_encode_unigram(const struct algorithm *a, const char *piece, size_t length,
					      struct subtokens *out, struct attn_error *err)
{
	const struct sentencepiece *s = (const struct sentencepiece *)a;
	struct piece_writer writer = {s, piece, out, false, false};
	struct place *places = reallocarray(NULL, length + 1, sizeof *places);
	if (!places)
		return attn_fail_memory(err);
	places[0] = (struct place){0};
	for (size_t i = 1; i <= length; i++)
		places[i].from = NOT_REACHED;
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_step(piece + i, length - i);
		step = step ? step : 1;
		go_on(s, piece, length, i, step, places);
	}
	for (size_t end = length; end > 0; end = places[end].from)
		places[places[end].from].to = (uint32_t)end;
	for (size_t i = 0; i < length; i = places[i].to)
		write_piece(&writer, places[places[i].to].id, i, places[i].to);
	free(places);
	return writer.failed ? attn_fail_memory(err) : ATTN_OK;
}
