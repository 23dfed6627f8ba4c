#include "tokenizer/charsmap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/base64.h"
#include "util/utf8.h"

struct charsmap {
	char *bytes;        /* owned; all of the map and a NUL */
	const char *units;  /* in `bytes`; 4 bytes each */
	size_t unit_count;  /* at least 1 */
	const char *values; /* in `bytes`; each ends with a NUL */
	size_t values_size; /* with the last NUL */
};

static uint32_t read_number(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The parts of a unit (darts-clone): whether a value lies at its offset, the byte that leads to it, and
 * the offset to its children, to be xored with its own place. */
static bool has_leaf(uint32_t unit)
{
	return unit >> 8 & 1;
}

static uint32_t label(uint32_t unit)
{
	return unit & 0x800000ff; /* of a value, no byte */
}

static uint32_t offset(uint32_t unit)
{
	return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* Whether no replacement is longer than what a map may make of one character. */
static bool are_short(const char *values, size_t size)
{
	for (size_t start = 0, used; start < size; start += used + 1) {
		used = strlen(values + start);
		if (used > CHARSMAP_MAX_LENGTH)
			return false;
	}
	return true;
}

/* Take the bytes, which end with a NUL that `length` doesn't count. */
static enum attn_status take(struct charsmap **out, char *bytes, size_t length, struct attn_error *err)
{
	size_t units = length >= 4 ? read_number(bytes) : 0;
	if (length < 4 || units > length - 4 || units < 4 || units % 4 != 0)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "a map of %zu bytes whose trie takes %zu, expected at least one unit of 4 bytes "
		    "and no more than there are",
		    length, units);
	const char *values = bytes + 4 + units;
	size_t values_size = length - 4 - units + 1;
	if (!utf8_valid(values, values_size) || !are_short(values, values_size))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "the map's replacements are not UTF-8 of at most %d bytes each",
				 CHARSMAP_MAX_LENGTH);
	struct charsmap *m = malloc(sizeof *m);
	if (!m)
		return attn_fail_memory(err);
	*m = (struct charsmap){bytes, bytes + 4, units / 4, values, values_size};
	*out = m;
	return ATTN_OK;
}

enum attn_status charsmap_parse(struct charsmap **out, const char *text, size_t length,
				struct attn_error *err)
{
	struct buffer bytes = BUFFER_INIT;
	*out = NULL;
	bool ok = buffer_add_from_base64(&bytes, text, length);
	enum attn_status status = ok             ? take(out, bytes.data, bytes.length, err)
				  : bytes.failed ? attn_fail_memory(err)
						 : attn_fail(err, ATTN_BAD_INPUT, "not base64");
	if (status != ATTN_OK)
		buffer_release(&bytes);
	return status;
}

enum attn_status charsmap_read(struct charsmap **out, const void *bytes, size_t length,
			       struct attn_error *err)
{
	struct buffer copy = BUFFER_INIT;
	*out = NULL;
	buffer_add(&copy, bytes, length);
	enum attn_status status = copy.failed ? attn_fail_memory(err) : take(out, copy.data, length, err);
	if (status != ATTN_OK)
		buffer_release(&copy);
	return status;
}

void charsmap_free(struct charsmap *m)
{
	if (!m)
		return;
	free(m->bytes);
	free(m);
}

bool charsmap_find(const struct charsmap *m, const char *text, size_t length, bool longest, size_t *matched,
		   const char **replacement, size_t *replacement_length)
{
	size_t value = SIZE_MAX;
	uint32_t at = offset(read_number(m->units));
	length = length < CHARSMAP_MAX_LENGTH ? length : CHARSMAP_MAX_LENGTH;
	for (size_t i = 0; i < length && (longest || value == SIZE_MAX); i++) {
		at ^= (unsigned char)text[i];
		if (at >= m->unit_count)
			break;
		uint32_t unit = read_number(m->units + 4 * (size_t)at);
		if (label(unit) != (unsigned char)text[i])
			break;
		at ^= offset(unit);
		if (!has_leaf(unit))
			continue;
		size_t found =
		    at < m->unit_count ? read_number(m->units + 4 * (size_t)at) & 0x7fffffff : SIZE_MAX;
		if (found >= m->values_size || ((unsigned char)m->values[found] & 0xc0) == 0x80)
			break; /* outside, or within a character */
		value = found;
		*matched = i + 1;
	}
	if (value == SIZE_MAX)
		return false;
	*replacement = m->values + value;
	*replacement_length = strlen(*replacement);
	return true;
}
