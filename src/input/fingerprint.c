#include "input/fingerprint.h"

#include <string.h>

#include "input/given.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/* With the length, so that what follows cannot be taken for a part of it. */
static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	uint64_t word;
	size_t i = 0;
	hash = mix(hash, length);
	for (; i + sizeof word <= length; i += sizeof word) {
		memcpy(&word, from + i, sizeof word);
		hash = mix(hash, word);
	}
	word = 0;
	if (i < length)
		memcpy(&word, from + i, length - i);
	return mix(hash, word);
}

static uint64_t mix_string(uint64_t hash, const char *text)
{
	return mix_bytes(hash, text, strlen(text));
}

enum attn_status bundle_fingerprint(const struct bundle *b, uint64_t *fingerprint, struct attn_error *err)
{
	uint64_t hash = 0;
	for (enum role_id role = ROLE_NONE + 1; role < ROLE_COUNT; role++) {
		struct tensor *t = use_tensor(b, role);
		const struct text *text = given_text(b, role);
		const struct setting *setting = given_setting(b, role);
		if (t || text || setting)
			hash = mix_string(hash, roles[role].name);
		TRY(t ? tensor_load(t, err) : ATTN_OK);
		if (t) {
			hash = mix(hash, (uint64_t)t->dtype);
			hash = mix_bytes(hash, t->shape, (size_t)t->rank * sizeof *t->shape);
			hash = mix_bytes(hash, t->data, t->count * dtype_size(t->dtype));
		}
		for (size_t i = 0; text && i < text->list.count; i++)
			hash = mix_string(hash, text->list.items[i]);
		if (setting)
			hash = mix_string(hash, setting->value);
	}
	*fingerprint = hash;
	return ATTN_OK;
}
