/* Fuzz target of the "model" of a tokenizer.json: read one and encode texts with it. */
#include <stdint.h>
#include <string.h>

#include "files/json_internal.h"
#include "tokenizer/algorithm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void encode(const struct algorithm *a, const char *text)
{
	struct subtokens list = SUBTOKENS_INIT;
	struct attn_error err = {0};
	size_t length = strlen(text);
	if (algorithm_encode(a, text, length, &list, &err) != ATTN_OK && (list.count > 0 || !err.message[0]))
		__builtin_trap();
	for (size_t i = 0; i < list.count; i++)
		if (!algorithm_token(a, list.items[i].id) || list.items[i].start > list.items[i].end ||
		    list.items[i].end > length)
			__builtin_trap();
	subtokens_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct algorithm *a;
	cJSON *root;
	if (json_text_parse(data, length, &root, &err) != ATTN_OK)
		return 0;
	if (algorithm_parse(&a, root, &err) == ATTN_OK) {
		encode(a, "abcabaab");
		encode(a, "un\xc3\xa9"
			  "aff\xf0\x9f\x98\x80"
			  "able");
		for (size_t id = 0; id < algorithm_size(a) && id < 3; id++)
			if (algorithm_token(a, id))
				encode(a, algorithm_token(a, id));
		algorithm_free(a);
	} else if (!err.message[0]) {
		__builtin_trap(); /* a failure says why */
	}
	cJSON_Delete(root);
	return 0;
}
