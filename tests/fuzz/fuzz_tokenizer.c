/* Fuzz target of tokenizers: a tokenizer.json, with which a few texts are encoded, and its own last
 * bytes where they are text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/json_internal.h"
#include "tokenizer/tokenizer_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void encode(const struct tokenizer *t, const char *text, size_t length, const char *pair)
{
	struct encoding found;
	struct attn_error err = {0};
	size_t pair_length = pair ? strlen(pair) : 0;
	enum attn_status status = tokenizer_encode(t, text, length, pair, pair_length, true, &found, &err);
	if (status != ATTN_OK && !err.message[0])
		__builtin_trap(); /* a failure says why */
	for (size_t i = 0; i < found.count; i++) {
		const struct token *token = &found.tokens[i];
		size_t most = length > pair_length ? length : pair_length;
		if (token->id >= tokenizer_size(t) || token->start > token->end || token->end > most)
			__builtin_trap();
	}
	encoding_release(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char text[] = "Hello, w\xc3\xb6rld!  I'm [X] 12345 \xe4\xbd\xa0\xe5\xa5\xbd "
				   "\xe2\x91\xa0\xcc\x81 e\xcc\x81\t\n a_b aaaaaaaa";
	struct attn_error err = {0};
	struct tokenizer *t = calloc(1, sizeof *t);
	cJSON *root = NULL;
	enum attn_status status = t ? json_text_parse(data, length, &root, &err) : ATTN_FAILED;
	if (status == ATTN_OK)
		status = tokenizer_parse(t, root, &err);
	if (status == ATTN_OK) {
		size_t tail = length < 32 ? length : 32;
		encode(t, text, sizeof text - 1, NULL);
		encode(t, text, 20, "a pair");
		encode(t, text, 0, "");
		encode(t, (const char *)data + length - tail, tail, NULL);
		(void)tokenizer_kind(t);
	} else if (!err.message[0]) {
		__builtin_trap(); /* a failure says why */
	}
	cJSON_Delete(root);
	tokenizer_free(t);
	return 0;
}
