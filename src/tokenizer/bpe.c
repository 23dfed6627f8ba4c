#include "tokenizer/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/merging.h"
#include "util/checked.h"
#include "util/utf8.h"

struct bpe_merge *bpe_find_merge(const struct bpe *b, uint32_t left, uint32_t right)
{
	uint64_t pair = (uint64_t)left << 32 | right;
	for (size_t i = hash_mix(b->seed, pair);; i++) {
		struct bpe_merge *m = &b->merges[i & b->merge_mask];
		if (m->pair == pair || m->pair == UINT64_MAX)
			return m;
	}
}

static bool find_merge(const void *context, const struct symbol *left, const struct symbol *right,
		       uint32_t *rank, uint32_t *id)
{
	const struct bpe_merge *m = bpe_find_merge(context, left->id, right->id);
	*rank = m->rank;
	*id = m->id;
	return m->pair != UINT64_MAX;
}

/* Look up a code point as the vocabulary has it: text, with the prefix and suffix of its place, is put
 * together in `name`. */
static bool find_symbol(const struct bpe *b, const char *text, size_t step, bool first, bool last, char *name,
			size_t *length, uint32_t *id)
{
	size_t before = first ? 0 : b->prefix_length, after = last ? b->suffix_length : 0;
	memcpy(name, b->prefix, before);
	memcpy(name + before, text, step);
	memcpy(name + before + step, b->suffix, after);
	*length = before + step + after;
	return vocabulary_find(&b->base.vocabulary, name, *length, id);
}

/* Symbols of the bytes of `name`, where the vocabulary has all of them.  As in the reference, a prefix
 * and a suffix count. */
static bool add_bytes(const struct bpe *b, struct merging *m, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (b->byte_missing[(unsigned char)name[i]])
			return false;
	for (size_t i = 0; i < length; i++)
		merging_add(m, b->bytes[(unsigned char)name[i]], 1);
	return true;
}

/* A symbol for each code point.  What the vocabulary doesn't have is left out where there is no unknown
 * token, and the places of what follows move up, as they do in the reference. */
static enum attn_status add_symbols(const struct bpe *b, struct merging *m, const char *piece, size_t length,
				    struct attn_error *err)
{
	char name[2 * BPE_AFFIX_MAX + 4];
	size_t name_length, unknown = 0; /* bytes of an unknown symbol that is to be added */
	for (size_t i = 0, step; i < length; i += step) {
		uint32_t id;
		step = utf8_step(piece + i, length - i);
		if (step == 0)
			return attn_fail(err, ATTN_BAD_INPUT, "byte %zu of a piece is not UTF-8", i);
		if (find_symbol(b, piece + i, step, i == 0, i + step == length, name, &name_length, &id)) {
			if (unknown > 0)
				merging_add(m, b->unknown.id, unknown);
			unknown = 0;
			merging_add(m, id, step);
			continue;
		}
		if ((b->byte_fallback && add_bytes(b, m, name, name_length)) || !b->unknown.text)
			continue;
		TRY(unknown_token_check(&b->unknown, err));
		if (unknown > 0 && !b->fuse_unknown) {
			merging_add(m, b->unknown.id, unknown);
			unknown = 0;
		}
		unknown += step;
	}
	if (unknown > 0)
		merging_add(m, b->unknown.id, unknown);
	return ATTN_OK;
}

/* How many symbols a piece can have. */
static bool count_symbols(const struct bpe *b, size_t length, size_t *symbols)
{
	*symbols = length;
	return !b->byte_fallback || (size_mul(length, b->prefix_length + 1, symbols) &&
				     size_add(*symbols, b->suffix_length, symbols));
}

static enum attn_status bpe_encode(const struct algorithm *a, const char *piece, size_t length,
				   struct subtokens *out, struct attn_error *err)
{
	const struct bpe *b = (const struct bpe *)a;
	struct merging m;
	uint32_t id;
	size_t symbols;
	if (b->ignore_merges && vocabulary_find(&a->vocabulary, piece, length, &id))
		return subtokens_add(out, id, 0, length, false) ? ATTN_OK : attn_fail_memory(err);
	if (!count_symbols(b, length, &symbols))
		return attn_fail_memory(err);
	bool ok = merging_init(&m, symbols);
	enum attn_status status = ok ? add_symbols(b, &m, piece, length, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		merging_run(&m, find_merge, b);
	for (uint32_t i = 0; status == ATTN_OK && m.count > 0 && i != NO_SYMBOL; i = m.symbols[i].next) {
		size_t start = m.symbols[i].start, end = start + m.symbols[i].length;
		ok = subtokens_add(out, m.symbols[i].id, start < length ? start : length,
				   end < length ? end : length, false);
		if (!ok)
			status = attn_fail_memory(err);
	}
	merging_release(&m);
	return status;
}

static void bpe_release(struct algorithm *a)
{
	struct bpe *b = (struct bpe *)a;
	free(b->merges);
	free(b->unknown.text);
	free(b->prefix);
	free(b->suffix);
}

const struct algorithm_type bpe_type = {"BPE", bpe_encode, bpe_release};
