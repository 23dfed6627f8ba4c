#include "files/formats.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const struct {
	enum format format;
	const char *name, *ending;
} formats[] = {
    {FORMAT_JSON, "json", ".json"}, {FORMAT_NPY, "npy", ".npy"},
    {FORMAT_NPZ, "npz", ".npz"},    {FORMAT_SAFETENSORS, "safetensors", ".safetensors"},
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

static bool looks_like_json(const unsigned char *data, size_t length)
{
	size_t i = starts_with(data, length, "\xef\xbb\xbf") ? 3 : 0;
	while (i < length && data[i] && strchr(" \t\r\n", data[i]))
		i++;
	return i < length && (data[i] == '{' || data[i] == '[');
}

enum format format_sniff(const unsigned char *data, size_t length)
{
	if (starts_with(data, length, "\x93NUMPY"))
		return FORMAT_NPY;
	if (starts_with(data, length, "PK\3\4") || starts_with(data, length, "PK\5\6"))
		return FORMAT_NPZ;
	/* The length of a safetensors header may itself look like '{' or a space,
	 * but its last byte is 0, which JSON never holds. */
	bool brace = length > 8 && data[8] == '{';
	if (brace && data[7] == 0)
		return FORMAT_SAFETENSORS;
	if (looks_like_json(data, length))
		return FORMAT_JSON;
	return brace ? FORMAT_SAFETENSORS : FORMAT_UNKNOWN;
}

enum format format_of_name(const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < FORMAT_ENTRIES; i++) {
		size_t ending = strlen(formats[i].ending);
		if (length >= ending && strcasecmp(path + length - ending, formats[i].ending) == 0)
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
