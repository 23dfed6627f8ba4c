/* A fuzz target for READER: read the bytes and look at all that they hold. */
#include <stdint.h>
#include <string.h>

#include "files/formats.h"
#include "input/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	double sum = 0;
	struct attn_error err = {0};
	struct bundle b;
	bundle_init(&b);
	if (READER(data, length, "file", &b, &err) != ATTN_OK && !err.message[0])
		__builtin_trap(); /* a failure says why */
	for (size_t i = 0; i < b.tensor_count; i++)
		if (tensor_load(&b.tensors[i], &err) != ATTN_OK)
			b.tensors[i].count = 0;
	for (size_t i = 0; i < b.text_count; i++)
		text_load(&b.texts[i], &err);
	for (size_t i = 0; i < b.tensor_count; i++)
		for (size_t j = 0; j < b.tensors[i].count; j++)
			sum += tensor_get(&b.tensors[i], j);
	for (size_t i = 0; i < b.text_count; i++)
		for (size_t j = 0; j < b.texts[i].list.count; j++)
			sum += (double)strlen(b.texts[i].list.items[j]);
	volatile double used = sum;
	(void)used;
	bundle_release(&b);
	return 0;
}
