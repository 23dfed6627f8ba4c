/* Fuzz target of the tokenizers of GGUF files: read one and encode texts with it, of which one is the file's
 * own end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/tokenizer_internal.h"
#include "util/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void encode(const struct tokenizer *t, const char *text, size_t length)
{
	struct encoding e;
	struct attn_error err = {0};
	if (tokenizer_encode(t, text, length, NULL, 0, true, &e, &err) != ATTN_OK)
		return; /* a vocabulary without an unknown token */
	for (size_t i = 0; i < e.count; i++)
		if (!tokenizer_token(t, e.tokens[i].id) || e.tokens[i].end > length ||
		    e.tokens[i].start > e.tokens[i].end)
			__builtin_trap();
	encoding_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char text[] = "  ab a\xc3\xa9 \xe2\x91\xa0 aaaaaaaa  bc <0x00> ";
	struct attn_error err = {0};
	struct tokenizer *t = calloc(1, sizeof *t);
	if (!t)
		return 0;
	if (tokenizer_parse_gguf(t, data, length, &err) == ATTN_OK) {
		size_t end = length < 64 ? length : 64;
		const char *tail = (const char *)data + length - end;
		encode(t, text, sizeof text - 1);
		if (utf8_valid(tail, end))
			encode(t, tail, end);
	} else if (!err.message[0]) {
		__builtin_trap(); /* a failure says why */
	}
	tokenizer_free(t);
	return 0;
}
