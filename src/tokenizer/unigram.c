/* Unigram language model (Kudo 2018, "Subword Regularization"): of all ways to cut a text into tokens,
 * the one with the greatest sum of scores (Viterbi). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/fields.h"
#include "tokenizer/trie.h"
#include "util/utf8.h"

#define UNKNOWN_PENALTY 10.0

struct unigram {
	struct algorithm base;
	struct trie trie;
	double *scores; /* owned; (ids) */
	double unknown_score;
	uint32_t unknown;
	bool has_unknown;
	bool byte_fallback;
	uint32_t bytes[256];
	bool byte_missing[256];
};

#define NOT_REACHED UINT32_MAX

/* The best way to a place in the text. */
struct place {
	double score;
	uint32_t from, id; /* its last token; NOT_REACHED */
	uint32_t to;       /* where the token that begins here ends, once the best way is known */
};

enum {
	LOCAL_PLACES = 128
};

/* Equals leave what was found first. */
static void reach(struct place *p, double score, uint32_t from, uint32_t id)
{
	if (p->from == NOT_REACHED || score > p->score)
		*p = (struct place){score, from, id, 0};
}

/* Go on from places[at] by each token that the text has there, and by one unknown character of `step`
 * bytes where no token is that character. */
static enum attn_status go_on(const struct unigram *u, const char *piece, size_t length, size_t at,
			      size_t step, struct place *places, struct attn_error *err)
{
	const struct trie *t = &u->trie;
	double score = places[at].score;
	bool single = false;
	uint32_t node = 0;
	for (size_t i = at; i < length && (node = trie_child(t, node, (uint8_t)piece[i])) != 0; i++) {
		if (t->nodes[node].value == 0)
			continue;
		uint32_t id = t->nodes[node].value - 1;
		reach(&places[i + 1], u->scores[id] + score, (uint32_t)at, id);
		single = single || i + 1 == at + step;
	}
	struct place *next = &places[at + step];
	score += u->unknown_score;
	if (single || (next->from != NOT_REACHED && !(score > next->score)))
		return ATTN_OK;
	if (!u->has_unknown)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "the vocabulary doesn't have '%.*s', and 'unk_id' is null", (int)step,
				 piece + at);
	reach(next, score, (uint32_t)at, u->unknown);
	return ATTN_OK;
}

/* What the vocabulary doesn't have, piece[start..end): one unknown token, or tokens of its bytes, each
 * with the place of the whole.  All the same it may be a token: unk_id's own text. */
static bool add_unknown(const struct unigram *u, const char *piece, size_t start, size_t end,
			struct subtokens *out)
{
	const unsigned char *text = (const unsigned char *)piece;
	uint32_t id;
	bool bytes = u->byte_fallback;
	if (vocabulary_find(&u->base.vocabulary, piece + start, end - start, &id))
		return subtokens_add(out, id, start, end, false);
	for (size_t i = start; bytes && i < end; i++)
		bytes = !u->byte_missing[text[i]];
	if (!bytes)
		return subtokens_add(out, u->unknown, start, end, true);
	for (size_t i = start; i < end; i++)
		if (!subtokens_add(out, u->bytes[text[i]], start, end, false))
			return false;
	return true;
}

/* Add the tokens of the best way; adjacent unknown characters are one. */
static bool add_tokens(const struct unigram *u, const char *piece, size_t length, struct place *places,
		       struct subtokens *out)
{
	for (size_t end = length; end > 0; end = places[end].from)
		places[places[end].from].to = (uint32_t)end;
	for (size_t start = 0, end; start < length; start = end) {
		end = places[start].to;
		uint32_t id = places[end].id;
		if (!u->has_unknown || id != u->unknown) {
			if (!subtokens_add(out, id, start, end, false))
				return false;
			continue;
		}
		while (end < length && places[places[end].to].id == u->unknown)
			end = places[end].to;
		if (!add_unknown(u, piece, start, end, out))
			return false;
	}
	return true;
}

static enum attn_status unigram_encode(const struct algorithm *a, const char *piece, size_t length,
				       struct subtokens *out, struct attn_error *err)
{
	const struct unigram *u = (const struct unigram *)a;
	struct place local[LOCAL_PLACES], *places = local;
	enum attn_status status = ATTN_OK;
	if (length >= LOCAL_PLACES && !(places = malloc((length + 1) * sizeof *places)))
		return attn_fail_memory(err);
	places[0] = (struct place){0};
	for (size_t i = 1; i <= length; i++)
		places[i].from = NOT_REACHED;
	for (size_t i = 0, step; i < length && status == ATTN_OK; i += step) {
		step = utf8_step(piece + i, length - i);
		if (step == 0)
			status = attn_fail(err, ATTN_BAD_INPUT, "byte %zu of a piece is not UTF-8", i);
		else
			status = go_on(u, piece, length, i, step, places, err);
	}
	if (status == ATTN_OK && !add_tokens(u, piece, length, places, out))
		status = attn_fail_memory(err);
	if (places != local)
		free(places);
	return status;
}

static void unigram_release(struct algorithm *a)
{
	struct unigram *u = (struct unigram *)a;
	trie_release(&u->trie);
	free(u->scores);
}

/* An item of the vocabulary: ["token", score]. */
static enum attn_status read_item(const cJSON *item, size_t place, const char **token, double *score,
				  struct attn_error *err)
{
	const cJSON *text = cJSON_IsArray(item) ? item->child : NULL;
	const cJSON *number = text ? text->next : NULL;
	if (!cJSON_IsString(text) || !cJSON_IsNumber(number) || !isfinite(number->valuedouble) ||
	    number->next)
		return attn_fail(err, ATTN_BAD_INPUT, "'vocab[%zu]' is not a token and its finite score",
				 place);
	*token = text->valuestring;
	*score = number->valuedouble;
	return ATTN_OK;
}

static enum attn_status read_vocabulary(struct unigram *u, const cJSON *array, struct attn_error *err)
{
	struct vocabulary *v = &u->base.vocabulary;
	const cJSON *item;
	const char *token;
	size_t count = 0, bytes = 0, id = 0;
	double score, least = INFINITY;
	if (!cJSON_IsArray(array))
		return attn_fail(err, ATTN_BAD_INPUT, "'vocab' is %s, expected an array of tokens and scores",
				 array ? "something else" : "missing");
	cJSON_ArrayForEach(item, array)
	{
		TRY(read_item(item, count, &token, &score, err));
		bytes += strlen(token);
		count++;
	}
	TRY(vocabulary_init(v, count, bytes, err));
	u->scores = malloc((count ? count : 1) * sizeof *u->scores);
	if (!u->scores)
		return attn_fail_memory(err);
	cJSON_ArrayForEach(item, array)
	{
		TRY(read_item(item, id, &token, &u->scores[id], err));
		least = fmin(least, u->scores[id]);
		TRY(vocabulary_add(v, token, strlen(token), id++, err));
	}
	u->unknown_score = least - UNKNOWN_PENALTY;
	return vocabulary_finish(v, err);
}

static enum attn_status read_model(struct unigram *u, const cJSON *model, struct attn_error *err)
{
	size_t unknown;
	TRY(field_bool(model, "byte_fallback", false, &u->byte_fallback, err));
	TRY(field_count(model, "unk_id", UINT32_MAX, UINT32_MAX, &unknown, err));
	TRY(read_vocabulary(u, cJSON_GetObjectItemCaseSensitive(model, "vocab"), err));
	u->has_unknown = cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(model, "unk_id"));
	u->unknown = (uint32_t)unknown;
	if (u->has_unknown && unknown >= u->base.vocabulary.count)
		return attn_fail(err, ATTN_BAD_INPUT, "'unk_id' is %zu, expected an index of the %zu tokens",
				 unknown, u->base.vocabulary.count);
	vocabulary_find_bytes(&u->base.vocabulary, u->bytes, u->byte_missing);
	return trie_init(&u->trie, &u->base.vocabulary, err);
}

enum attn_status unigram_parse(struct algorithm **out, const cJSON *model, struct attn_error *err)
{
	static const struct algorithm_type type = {"Unigram", unigram_encode, unigram_release};
	struct algorithm *a = algorithm_new(&type, sizeof(struct unigram));
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_model((struct unigram *)a, model, err));
}
