#include "files/formats.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "util/utf8.h"

static const struct {
	enum format format;
	const char *name, *ending;
} formats[] = {
    {FORMAT_JSON, "json", ".json"}, {FORMAT_NPY, "npy", ".npy"},
    {FORMAT_NPZ, "npz", ".npz"},    {FORMAT_SAFETENSORS, "safetensors", ".safetensors"},
    {FORMAT_GGUF, "GGUF", NULL},    {FORMAT_TEXT, "text", NULL},
    {FORMAT_TSV, "tsv", ".tsv"},    {FORMAT_JSONL, "jsonl", ".jsonl"},
};

enum {
	FORMAT_ENTRIES = sizeof formats / sizeof *formats
};

static bool starts_with(const unsigned char *data, size_t length, const char *magic)
{
	size_t magic_length = strlen(magic);
	return length >= magic_length && memcmp(data, magic, magic_length) == 0;
}

/* Whether text may go on so after the '[' of an array, which "[CLS]" does not. */
static bool begins_value(const unsigned char *data, size_t length)
{
	static const char *const words[] = {"true", "false", "null", "nan", "inf"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t word = strlen(words[i]);
		if (length >= word && strncasecmp((const char *)data, words[i], word) == 0)
			return true;
	}
	return data[0] && strchr("[]{\"-/,0123456789", data[0]);
}

static bool looks_like_json(const unsigned char *data, size_t length)
{
	size_t i = starts_with(data, length, "\xef\xbb\xbf") ? 3 : 0;
	while (i < length && data[i] && strchr(" \t\r\n", data[i]))
		i++;
	if (i == length || data[i] != '[')
		return i < length && data[i] == '{';
	for (i++; i < length && data[i] && strchr(" \t\r\n", data[i]);)
		i++;
	return i == length || begins_value(data + i, length - i);
}

/* Text may be cut in a character here, where only the beginning is looked at. */
static bool looks_like_text(const unsigned char *data, size_t length)
{
	enum {
		LOOKED_AT = 4096
	};
	size_t most = length < LOOKED_AT ? length : LOOKED_AT, at = 0;
	while (at < most) {
		size_t step = utf8_step((const char *)data + at, length - at);
		bool control = data[at] < ' ' && !strchr("\t\n\r\f\v\b\x1b", data[at]);
		if (step == 0 || data[at] == 0 || control)
			return false;
		at += step;
	}
	return length > 0;
}

enum format format_sniff(const unsigned char *data, size_t length)
{
	if (starts_with(data, length, "\x93NUMPY"))
		return FORMAT_NPY;
	if (starts_with(data, length, "GGUF"))
		return FORMAT_GGUF;
	if (starts_with(data, length, "PK\3\4") || starts_with(data, length, "PK\5\6"))
		return FORMAT_NPZ;
	/* The length of a safetensors header may itself look like '{' or a space,
	 * but its last byte is 0, which JSON never holds. */
	bool brace = length > 8 && data[8] == '{';
	if (brace && data[7] == 0)
		return FORMAT_SAFETENSORS;
	if (looks_like_json(data, length))
		return FORMAT_JSON;
	if (brace)
		return FORMAT_SAFETENSORS;
	return looks_like_text(data, length) ? FORMAT_TEXT : FORMAT_UNKNOWN;
}

enum format format_of_name(const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < FORMAT_ENTRIES; i++) {
		size_t ending = formats[i].ending ? strlen(formats[i].ending) : 0;
		if (ending > 0 && length >= ending &&
		    strcasecmp(path + length - ending, formats[i].ending) == 0)
			return formats[i].format;
	}
	return FORMAT_UNKNOWN;
}

const char *format_name(enum format format)
{
	for (size_t i = 0; i < FORMAT_ENTRIES; i++)
		if (formats[i].format == format)
			return formats[i].name;
	return "unknown";
}
