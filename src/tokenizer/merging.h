/* Merging adjacent symbols, best pair first: what all forms of BPE do once they have symbols. */
#ifndef ATTN_TOKENIZER_MERGING_H
#define ATTN_TOKENIZER_MERGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint32_t id;
	uint32_t start, length;  /* in bytes; length 0: it was merged into one before it */
	uint32_t previous, next; /* indices of symbols; NO_SYMBOL at the ends */
};

#define NO_SYMBOL UINT32_MAX

/* Whether `right`, which follows `left`, can be merged into it: the rank of that, 0 before all others,
 * and the id of both together. */
typedef bool (*merge_rule)(const void *context, const struct symbol *left, const struct symbol *right,
			   uint32_t *rank, uint32_t *id);

enum {
	MERGING_LOCAL = 64 /* symbols that need no allocation: most words */
};

struct merging {
	struct symbol *symbols; /* (capacity), in the order of the text */
	uint64_t *queue;        /* (2 * capacity), a heap: rank, then index of the left symbol */
	size_t count, capacity, queued;
	struct symbol local_symbols[MERGING_LOCAL];
	uint64_t local_queue[2 * MERGING_LOCAL];
};

/* Make room for `capacity` symbols; false: no memory, or more than indices can count. */
bool merging_init(struct merging *m, size_t capacity);
void merging_release(struct merging *m);

/* Append a symbol, within the capacity; it starts where the one before it ends. */
void merging_add(struct merging *m, uint32_t id, size_t length);

/* Merge until no pair is left, of equal ranks the leftmost first.  Those that remain are symbols[0] and
 * what `next` leads to.  Takes O(n log n) steps and at most 3 n calls of the rule. */
void merging_run(struct merging *m, merge_rule rule, const void *context);

#endif
