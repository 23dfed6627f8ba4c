/* Fuzz target of gold standards of word alignments: links are sorted, each once. */
#include <stdint.h>

#include "files/pharaoh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct gold gold;
	if (gold_parse(&gold, (const char *)data, length, length % 2, length % 3 == 0, &err) != ATTN_OK &&
	    !err.message[0])
		__builtin_trap(); /* a failure says why */
	for (size_t i = 0; i < gold.count && !err.message[0]; i++) {
		const struct link_list *links = &gold.sentences[i].links;
		for (size_t k = 0; k < links->count; k++)
			if (link_find(links, links->items[k].source, links->items[k].target) !=
			    &links->items[k])
				__builtin_trap();
	}
	gold_release(&gold);
	return 0;
}
