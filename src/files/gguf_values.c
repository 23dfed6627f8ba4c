/* Keys and values of a GGUF file that is open. */
#include "files/gguf.h"

#include <string.h>

#include "files/bytes_internal.h"
#include "util/utf8.h"

static const struct {
	const char *name;
	size_t size; /* bytes of a value; of a string at least */
} kinds[GGUF_KINDS] = {
    [GGUF_U8] = {"uint8", 1},     [GGUF_I8] = {"int8", 1},    [GGUF_U16] = {"uint16", 2},
    [GGUF_I16] = {"int16", 2},    [GGUF_U32] = {"uint32", 4}, [GGUF_I32] = {"int32", 4},
    [GGUF_F32] = {"float32", 4},  [GGUF_BOOL] = {"bool", 1},  [GGUF_TEXT] = {"string", 8},
    [GGUF_ARRAY] = {"array", 12}, [GGUF_U64] = {"uint64", 8}, [GGUF_I64] = {"int64", 8},
    [GGUF_F64] = {"float64", 8},
};

const char *gguf_kind_name(enum gguf_kind kind)
{
	return kinds[kind].name;
}

size_t gguf_kind_size(enum gguf_kind kind)
{
	return kinds[kind].size;
}

const struct gguf_pair *gguf_pair(const struct gguf *g, const char *key)
{
	size_t low = 0, high = g->pair_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(key, g->sorted[middle]->key);
		if (order == 0)
			return g->sorted[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

double gguf_number(const struct gguf_pair *p, size_t i)
{
	const unsigned char *at = p->data + i * gguf_kind_size(p->kind);
	uint32_t bits;
	uint64_t wide;
	float single;
	double number;
	switch (p->kind) {
	case GGUF_U8:
	case GGUF_BOOL:
		return *at;
	case GGUF_I8:
		return (int8_t)*at;
	case GGUF_U16:
		return read_le16(at);
	case GGUF_I16:
		return (int16_t)read_le16(at);
	case GGUF_U32:
		return read_le32(at);
	case GGUF_I32:
		return (int32_t)read_le32(at);
	case GGUF_U64:
		return (double)read_le64(at);
	case GGUF_I64:
		return (double)(int64_t)read_le64(at);
	case GGUF_F32:
		bits = read_le32(at);
		memcpy(&single, &bits, sizeof single);
		return (double)single;
	case GGUF_F64:
		wide = read_le64(at);
		memcpy(&number, &wide, sizeof number);
		return number;
	default:
		return 0;
	}
}

const unsigned char *gguf_text(const unsigned char *at, const char **text, size_t *length)
{
	*length = (size_t)read_le64(at);
	*text = (const char *)at + 8;
	return at + 8 + *length;
}

char *gguf_string(const char *text, size_t length)
{
	return memchr(text, 0, length) || !utf8_valid(text, length) ? NULL : strndup(text, length);
}
