/* Finding added tokens in a text. */
#include <stdint.h>
#include <string.h>

#include "tokenizer/added.h"
#include "tokenizer/unicode.h"
#include "util/minmax.h"
#include "util/utf8.h"

/* The first of items[low, high), which share their first `depth` bytes, whose next byte is at least
 * `byte`.  All are longer than that. */
static size_t lower_bound(const struct added_index *index, size_t low, size_t high, size_t depth, int byte)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((unsigned char)index->items[middle]->sought[depth] < byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The longest token that text[length] begins with, or NULL. */
static const struct added_token *longest(const struct added_index *index, const char *text, size_t length)
{
	unsigned char byte = (unsigned char)text[0];
	size_t low = index->first[byte], high = index->first[byte + 1];
	const struct added_token *best = NULL;
	for (size_t depth = 1; low < high; depth++) {
		if (index->items[low]->length == depth)
			best = index->items[low];
		while (low < high && index->items[low]->length == depth)
			low++;
		if (depth == length)
			break;
		byte = (unsigned char)text[depth];
		low = lower_bound(index, low, high, depth, byte);
		high = lower_bound(index, low, high, depth, byte + 1);
	}
	return best;
}

/* The character that ends at byte `end` of a text, and where it begins. */
static uint32_t character_before(const char *text, size_t end, size_t *start)
{
	uint32_t code = 0;
	size_t at = end - 1;
	while (at > 0 && (text[at] & 0xc0) == 0x80)
		at--;
	utf8_decode(text + at, end - at, &code);
	*start = at;
	return code;
}

static bool is_single_word(const char *text, size_t length, size_t start, size_t end)
{
	uint32_t code = 0;
	size_t unused;
	if (start > 0 && unicode_is_word(character_before(text, start, &unused)))
		return false;
	return end == length || utf8_decode(text + end, length - end, &code) == 0 || !unicode_is_word(code);
}

static size_t skip_space(const char *text, size_t length, size_t at)
{
	while (at < length) {
		uint32_t code = 0;
		size_t step = utf8_decode(text + at, length - at, &code);
		if (step == 0 || !unicode_is_space(code))
			break;
		at += step;
	}
	return at;
}

static size_t skip_space_back(const char *text, size_t at, size_t done)
{
	while (at > done) {
		size_t start;
		if (!unicode_is_space(character_before(text, at, &start)))
			break;
		at = start;
	}
	return at;
}

const struct added_token *added_find(const struct added_index *index, const char *text, size_t length,
				     size_t *at, size_t done, size_t *start, size_t *end)
{
	for (size_t i = *at; index->count > 0 && i < length; i++) {
		const struct added_token *token = longest(index, text + i, length - i);
		if (!token)
			continue;
		*start = i;
		*end = i + token->length;
		*at = *end;
		if (token->single_word && !is_single_word(text, length, *start, *end)) {
			i = *end - 1; /* the search goes on behind it all the same */
			continue;
		}
		if (token->lstrip)
			*start = size_max(skip_space_back(text, *start, done), done);
		if (token->rstrip)
			*end = skip_space(text, length, *end);
		return token;
	}
	*at = length;
	return NULL;
}
