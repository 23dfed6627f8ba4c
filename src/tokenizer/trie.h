/* A trie over the bytes of a vocabulary's tokens: which tokens a text begins with. */
#ifndef ATTN_TOKENIZER_TRIE_H
#define ATTN_TOKENIZER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer/vocabulary.h"
#include "util/error.h"

/* Bytes of a token.  A walk may begin at each place of a text and go as deep as the trie, so what a
 * file may make it cost is bounded. */
#define TRIE_MAX_DEPTH 1024

struct trie {
	struct trie_node {
		uint32_t first;       /* of its children, which lie side by side, by label */
		uint32_t value;       /* the id of the token that ends here plus 1; 0: none */
		uint16_t child_count; /* at most 256 */
		uint8_t label;        /* the byte that leads here */
	} * nodes;                    /* owned; node 0 is the root */
	size_t count;
};

/* Make a trie of all tokens of a finished vocabulary that are not empty.  ATTN_BAD_INPUT where one has
 * more than TRIE_MAX_DEPTH bytes. */
enum attn_status trie_init(struct trie *t, const struct vocabulary *v, struct attn_error *err);
void trie_release(struct trie *t);

/* The child of a node for a byte, or 0: none. */
static inline uint32_t trie_child(const struct trie *t, uint32_t node, uint8_t byte)
{
	uint32_t low = t->nodes[node].first, high = low + t->nodes[node].child_count, end = high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->nodes[middle].label < byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && t->nodes[low].label == byte ? low : 0;
}

#endif
