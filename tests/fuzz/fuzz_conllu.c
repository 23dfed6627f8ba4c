/* Fuzz target of dependency trees: what is read refers to what there is. */
#include <stdint.h>

#include "files/conllu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct conllu c;
	if (conllu_parse(&c, (const char *)data, length, &err) != ATTN_OK) {
		if (!err.message[0])
			__builtin_trap(); /* a failure says why */
	} else {
		for (size_t i = 0; i < c.count; i++)
			if (c.words[i].surface >= c.forms.count || c.words[i].relation >= c.relations.count ||
			    (c.words[i].head != SIZE_MAX && c.words[i].head >= c.count))
				__builtin_trap();
	}
	conllu_release(&c);
	return 0;
}
