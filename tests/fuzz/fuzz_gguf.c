/* Fuzz target of the GGUF reader: as a bundle, as target.h has it, then all keys and tensors, and then as
 * a model's file. */
#define LLVMFuzzerTestOneInput fuzz_bundle
#define READER gguf_parse
#include "target.h"
#undef LLVMFuzzerTestOneInput

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/architecture.h"
#include "model/gguf_internal.h"

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

/* What families ask of it. */
static void ask(const struct checkpoint *cp)
{
	static const char *const names[] = {"embed_tokens.weight", "layers.0.self_attn.q_proj.weight",
					    "h.1.attn.c_attn.bias", "embeddings.LayerNorm.weight",
					    "a.weight"};
	struct attn_error err = {0};
	struct architecture a = {0};
	if (architecture_init(&a, NULL, cp->config, &err) != ATTN_OK && !err.message[0])
		__builtin_trap();
	architecture_release(&a);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct model_tensor *t;
		float first;
		if (checkpoint_find(cp, names[i], &t, &err) == ATTN_OK && t && t->count > 0)
			model_tensor_floats(t, 0, t->type->values == 1, &first, &err);
	}
}

static void open_model(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	char path[40];
	int fd = memfd_create("gguf", 0);
	struct checkpoint *cp = calloc(1, sizeof *cp);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (cp && fd >= 0 && write(fd, data, length) == (ssize_t)length) {
		if (gguf_checkpoint_open(cp, path, &err) == ATTN_OK)
			ask(cp);
		else if (!err.message[0])
			__builtin_trap();
	}
	checkpoint_free(cp);
	close(fd);
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
	open_model(data, length);
	return 0;
}
