/* SentencePiece's BPE (bpe_model.cc): adjacent symbols are merged where both together are a piece, the
 * highest score first. */
#include <stdlib.h>

#include "tokenizer/merging.h"
#include "tokenizer/sentencepiece_internal.h"
#include "util/utf8.h"

/* Bit of a symbol's id: it is user defined and never merged. */
#define FROZEN 0x80000000u

struct merging_text {
	const struct sentencepiece *model;
	const char *text;
	/* Of each unused piece, the bytes of its left part when it was seen last: it is split there again.
	 * NULL where the model has none. */
	uint32_t *left;
};

static bool find_merge(const void *context, const struct symbol *left, const struct symbol *right,
		       uint32_t *rank, uint32_t *id)
{
	const struct merging_text *t = context;
	size_t length = (size_t)left->length + right->length;
	if ((left->id | right->id) & FROZEN || length > TRIE_MAX_DEPTH ||
	    !vocabulary_find(&t->model->found, t->text + left->start, length, id))
		return false;
	*rank = t->model->ranks[*id];
	if (t->left && t->model->types[*id] == PIECE_UNUSED)
		t->left[*id] = left->length;
	return true;
}

/* The longest user defined piece at the start of text[length], or 0. */
static size_t find_user_defined(const struct trie *t, const char *text, size_t length, uint32_t *id)
{
	size_t matched = 0;
	uint32_t node = 0;
	for (size_t i = 0; i < length && (node = trie_child(t, node, (uint8_t)text[i])) != 0; i++)
		if (t->nodes[node].value != 0) {
			*id = t->nodes[node].value - 1;
			matched = i + 1;
		}
	return matched;
}

static void add_symbols(const struct sentencepiece *s, struct merging *m, const char *text, size_t length)
{
	for (size_t i = 0, step; i < length; i += step) {
		uint32_t id = s->unknown;
		step = find_user_defined(&s->trie, text + i, length - i, &id);
		if (step > 0) {
			merging_add(m, id | FROZEN, step);
			continue;
		}
		step = utf8_step(text + i, length - i);
		step = step ? step : 1;
		vocabulary_find(&s->found, text + i, step, &id);
		merging_add(m, id, step);
	}
}

/* Write text[start..end), a piece or an unknown character; an unused piece is split as it was merged.  No
 * deeper than it has bytes. */
static void write_symbol(struct piece_writer *w, const struct merging_text *t, uint32_t id, size_t start,
			 size_t end)
{
	uint32_t left = t->left && t->model->types[id] == PIECE_UNUSED ? t->left[id] : 0;
	if (left == 0) {
		write_piece(w, id, start, end);
		return;
	}
	for (int part = 0; part < 2; part++) {
		size_t from = part ? start + left : start, to = part ? end : start + left;
		uint32_t part_id = t->model->unknown;
		vocabulary_find(&t->model->found, t->text + from, to - from, &part_id);
		write_symbol(w, t, part_id, from, to);
	}
}

enum attn_status sentencepiece_encode_bpe(const struct algorithm *a, const char *piece, size_t length,
					  struct subtokens *out, struct attn_error *err)
{
	const struct sentencepiece *s = (const struct sentencepiece *)a;
	struct merging_text text = {s, piece, NULL};
	struct piece_writer writer = {s, piece, out, false, false};
	struct merging m;
	if (s->any_unused)
		text.left = calloc(a->vocabulary.size, sizeof *text.left);
	bool ok = merging_init(&m, length) && (text.left || !s->any_unused);
	if (ok) {
		add_symbols(s, &m, piece, length);
		merging_run(&m, find_merge, &text);
		for (uint32_t i = 0; i != NO_SYMBOL; i = m.symbols[i].next)
			write_symbol(&writer, &text, m.symbols[i].id & ~FROZEN, m.symbols[i].start,
				     (size_t)m.symbols[i].start + m.symbols[i].length);
	}
	merging_release(&m);
	free(text.left);
	return ok && !writer.failed ? ATTN_OK : attn_fail_memory(err);
}
