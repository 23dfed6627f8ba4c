/* Fuzz target of the reader of CTranslate2's files: read one, and look at all that it holds. */
#include <stdint.h>
#include <string.h>

#include "files/ctranslate2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct ct2 c;
	size_t used = 0;
	if (ct2_open(&c, data, length, &err) != ATTN_OK)
		return err.message[0] ? 0 : (__builtin_trap(), 0);
	for (size_t i = 0; i < c.count; i++) {
		const struct ct2_variable *v = &c.variables[i];
		if (!ct2_find(&c, v->name))
			__builtin_trap();
		used += ct2_number(v, 0) > 0;
		for (size_t b = 0; b < v->bytes; b++)
			used += v->data[b];
	}
	volatile size_t all = used;
	(void)all;
	ct2_release(&c);
	return 0;
}
