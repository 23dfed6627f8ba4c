/* Fuzz target of the GGUF reader: as a bundle, as target.h has it, and then all keys and tensors. */
#define LLVMFuzzerTestOneInput fuzz_bundle
#define READER gguf_parse
#include "target.h"
#undef LLVMFuzzerTestOneInput

#include "files/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static size_t look_at_pair(const struct gguf *g, const struct gguf_pair *p)
{
	const unsigned char *at = p->data;
	size_t used = 0;
	if (gguf_pair(g, p->key) != p)
		__builtin_trap(); /* every key is found, once */
	for (size_t i = 0; i < p->count; i++) {
		const char *text;
		size_t bytes;
		if (p->kind != GGUF_TEXT) {
			used += gguf_number(p, i) > 0;
			continue;
		}
		at = gguf_text(at, &text, &bytes);
		for (size_t c = 0; c < bytes; c++)
			used += (unsigned char)text[c];
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct gguf g;
	size_t used = 0;
	fuzz_bundle(data, length);
	if (gguf_open(&g, data, length, &err) != ATTN_OK)
		return err.message[0] ? 0 : (__builtin_trap(), 0);
	for (size_t i = 0; i < g.pair_count; i++)
		used += look_at_pair(&g, &g.pairs[i]);
	for (size_t i = 0; i < g.tensor_count; i++)
		for (size_t b = 0; b < g.tensors[i].bytes; b++)
			used += g.tensors[i].data[b];
	volatile size_t all = used;
	(void)all;
	gguf_release(&g);
	return 0;
}
