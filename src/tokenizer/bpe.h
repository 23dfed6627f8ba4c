/* Byte pair encoding (Sennrich, Haddow, Birch 2016, "Neural Machine Translation of Rare Words with
 * Subword Units") by a list of merges. */
#ifndef ATTN_TOKENIZER_BPE_H
#define ATTN_TOKENIZER_BPE_H

#include "tokenizer/algorithm_internal.h"

/* Bytes of a prefix or suffix; they are put before and behind each code point. */
#define BPE_AFFIX_MAX 64

struct bpe {
	struct algorithm base;
	struct bpe_merge {
		uint64_t pair; /* ids: left << 32 | right; UINT64_MAX: a free slot */
		uint32_t rank, id;
	} * merges; /* owned; (merge_mask + 1): a hash table */
	size_t merge_mask;
	uint64_t seed;
	struct unknown_token unknown;
	char *prefix, *suffix; /* owned: of symbols after the first, of the last; may be empty */
	size_t prefix_length, suffix_length;
	bool fuse_unknown;  /* adjacent unknown symbols are one */
	bool ignore_merges; /* a piece that is a token as a whole is that token */
	bool byte_fallback; /* what is not in the vocabulary becomes tokens of its bytes, where all exist */
	uint32_t bytes[256];
	bool byte_missing[256];
};

extern const struct algorithm_type bpe_type;

/* The slot of a pair in the table of merges: where it is, or the free one where it belongs. */
struct bpe_merge *bpe_find_merge(const struct bpe *b, uint32_t left, uint32_t right);

#endif
