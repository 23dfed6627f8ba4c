/* Fuzz target of the JSON files of a model's folder: the bytes as a config.json, of which all kinds of
 * questions are asked, and as an index of shards, in a folder where none is.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/weights_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void ask(const struct config *c, const char *key)
{
	struct attn_error err = {0};
	size_t size = 0;
	double number = 0;
	bool truth;
	if (config_size(c, key, CONFIG_REQUIRED, 1, 4096, &size, &err) != ATTN_OK ? !err.message[0]
										  : size < 1 || size > 4096)
		__builtin_trap();
	if (config_number(c, key, NAN, 0, 10, &number, &err) == ATTN_OK && !(number >= 0 && number <= 10))
		__builtin_trap();
	config_bool(c, key, true, &truth, &err);
	if (config_has(c, key) && config_is_null(c, key))
		__builtin_trap();
	size_t count = config_list(c, key), used = strlen(config_text(c, key, ""));
	for (size_t i = 0; i < count; i++) {
		const char *text = config_list_text(c, key, i);
		used += text ? strlen(text) : isfinite(config_list_number(c, key, i));
	}
	volatile size_t all = used;
	(void)all;
}

static void read_config(const uint8_t *data, size_t length)
{
	static const char *const keys[] = {"model_type",  "hidden_size", "rope_scaling.factor",
					   "layer_types", "a",           "a.b.c"};
	struct attn_error err = {0};
	struct config *c;
	if (config_parse(&c, data, length, "file", &err) != ATTN_OK) {
		if (!err.message[0] || c)
			__builtin_trap();
		return;
	}
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		ask(c, keys[i]);
	config_free(c);
}

static void read_index(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct checkpoint *cp = calloc(1, sizeof *cp);
	const struct model_tensor *t;
	if (!cp)
		return;
	cp->path = strdup("/nowhere");
	if (checkpoint_read_index(cp, data, length, "file", &err) == ATTN_OK) {
		for (size_t i = 0; i < cp->count; i++)
			if (checkpoint_find(cp, cp->places[i].tensor.name, &t, &err) == ATTN_OK || t)
				__builtin_trap(); /* its shard isn't there */
		checkpoint_find(cp, "embed_tokens.weight", &t, &err);
	} else if (!err.message[0]) {
		__builtin_trap();
	}
	checkpoint_free(cp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	read_config(data, length);
	read_index(data, length);
	return 0;
}
