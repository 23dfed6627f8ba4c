/* WordPiece (Wu et al. 2016, "Google's Neural Machine Translation System", as in BERT): the longest
 * token from the left, then the longest that goes on from there. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/fields.h"
#include "tokenizer/trie.h"

struct wordpiece {
	struct algorithm base;
	struct trie trie;
	uint32_t inside; /* the node from which tokens inside a word go on, after the prefix */
	bool continues;  /* whether there are such */
	size_t max_characters;
	struct unknown_token unknown;
};

static bool is_longer(const char *piece, size_t length, size_t characters)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)piece[i] & 0xc0) != 0x80 && characters-- == 0)
			return true;
	return false;
}

/* The longest token below `node` at the start of text[length]: how many bytes it takes, 0: none. */
static size_t find_longest(const struct trie *t, uint32_t node, const char *text, size_t length, uint32_t *id)
{
	size_t matched = 0;
	for (size_t i = 0; i < length && (node = trie_child(t, node, (uint8_t)text[i])) != 0; i++) {
		if (t->nodes[node].value == 0)
			continue;
		*id = t->nodes[node].value - 1;
		matched = i + 1;
	}
	return matched;
}

/* A word that can't be made of tokens as a whole is unknown as a whole. */
static enum attn_status add_unknown(const struct wordpiece *w, size_t length, struct subtokens *out,
				    struct attn_error *err)
{
	TRY(unknown_token_check(&w->unknown, err));
	return subtokens_add(out, w->unknown.id, 0, length, false) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status wordpiece_encode(const struct algorithm *a, const char *piece, size_t length,
					 struct subtokens *out, struct attn_error *err)
{
	const struct wordpiece *w = (const struct wordpiece *)a;
	size_t before = out->count;
	if (is_longer(piece, length, w->max_characters))
		return add_unknown(w, length, out, err);
	for (size_t i = 0, step; i < length; i += step) {
		uint32_t id;
		step = i > 0 && !w->continues
			   ? 0
			   : find_longest(&w->trie, i > 0 ? w->inside : 0, piece + i, length - i, &id);
		if (step == 0) {
			out->count = before;
			return add_unknown(w, length, out, err);
		}
		if (!subtokens_add(out, id, i, i + step, false))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

static void wordpiece_release(struct algorithm *a)
{
	struct wordpiece *w = (struct wordpiece *)a;
	trie_release(&w->trie);
	free(w->unknown.text);
}

static const struct algorithm_type wordpiece_type = {"WordPiece", wordpiece_encode, wordpiece_release};

/* Once the vocabulary is read. */
static enum attn_status prepare(struct wordpiece *w, const char *unknown, const char *prefix,
				struct attn_error *err)
{
	TRY(unknown_token_set(&w->unknown, &w->base.vocabulary, unknown, err));
	TRY(trie_init(&w->trie, &w->base.vocabulary, err));
	w->continues = true;
	for (; *prefix && w->continues; prefix++) {
		w->inside = trie_child(&w->trie, w->inside, (uint8_t)*prefix);
		w->continues = w->inside != 0;
	}
	return ATTN_OK;
}

static enum attn_status read_model(struct wordpiece *w, const cJSON *model, struct attn_error *err)
{
	const char *unknown, *prefix;
	TRY(field_string(model, "unk_token", "[UNK]", &unknown, err));
	TRY(field_string(model, "continuing_subword_prefix", "##", &prefix, err));
	TRY(field_count(model, "max_input_chars_per_word", 100, (size_t)1 << 53, &w->max_characters, err));
	TRY(vocabulary_parse(&w->base.vocabulary, cJSON_GetObjectItemCaseSensitive(model, "vocab"), "vocab",
			     err));
	return prepare(w, unknown, prefix, err);
}

enum attn_status wordpiece_parse(struct algorithm **out, const cJSON *model, struct attn_error *err)
{
	struct algorithm *a = algorithm_new(&wordpiece_type, sizeof(struct wordpiece));
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_model((struct wordpiece *)a, model, err));
}

static enum attn_status read_lines(struct wordpiece *w, const char *text, size_t length,
				   const char *unk_token, struct attn_error *err)
{
	w->max_characters = 100;
	TRY(vocabulary_parse_lines(&w->base.vocabulary, text, length, err));
	return prepare(w, unk_token, "##", err);
}

enum attn_status algorithm_parse_wordpiece(struct algorithm **out, const char *text, size_t length,
					   const char *unk_token, struct attn_error *err)
{
	struct algorithm *a = algorithm_new(&wordpiece_type, sizeof(struct wordpiece));
	*out = NULL;
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_lines((struct wordpiece *)a, text, length, unk_token, err));
}
