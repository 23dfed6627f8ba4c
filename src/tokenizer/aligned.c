#include "tokenizer/aligned.h"

#include <stdlib.h>
#include <string.h>

#include "util/minmax.h"
#include "util/utf8.h"

size_t aligned_most(size_t length)
{
	return size_min(size_min(length, ALIGNED_MAX / 64) * 64 + 1000000, ALIGNED_MAX);
}

void aligned_release(struct aligned *a)
{
	free(a->text);
	free(a->spans);
	*a = (struct aligned){0};
}

void aligned_clear(struct aligned *a)
{
	a->length = 0;
}

static bool reserve(struct aligned *a, size_t more)
{
	a->too_long |= more > (a->most ? a->most : ALIGNED_MAX) - a->length;
	a->failed |= a->too_long;
	if (a->failed)
		return false;
	if (a->length + more <= a->capacity)
		return true;
	size_t capacity = a->capacity ? a->capacity : 64;
	while (capacity < a->length + more)
		capacity *= 2;
	char *text = realloc(a->text, capacity);
	if (text)
		a->text = text;
	struct span *spans = text ? reallocarray(a->spans, capacity, sizeof *spans) : NULL;
	if (spans)
		a->spans = spans;
	a->failed = !spans;
	if (spans)
		a->capacity = capacity;
	return spans != NULL;
}

void aligned_add(struct aligned *a, const char *text, size_t length, struct span span)
{
	if (length == 0 || !reserve(a, length))
		return;
	memcpy(a->text + a->length, text, length);
	for (size_t i = 0; i < length; i++)
		a->spans[a->length + i] = span;
	a->length += length;
}

void aligned_add_original(struct aligned *a, const char *text, size_t length, size_t offset)
{
	if (length == 0 || !reserve(a, length))
		return;
	memcpy(a->text + a->length, text, length);
	for (size_t i = 0; i < length;) {
		size_t step = utf8_step(text + i, length - i);
		struct span span = {(uint32_t)(offset + i), (uint32_t)(offset + i + step)};
		for (size_t end = i + step; i < end; i++)
			a->spans[a->length + i] = span;
	}
	a->length += length;
}

void aligned_add_part(struct aligned *a, const struct aligned *from, size_t start, size_t end)
{
	if (start == end || !reserve(a, end - start))
		return;
	memcpy(a->text + a->length, from->text + start, end - start);
	memcpy(a->spans + a->length, from->spans + start, (end - start) * sizeof *a->spans);
	a->length += end - start;
}

void changes_release(struct changes *c)
{
	free(c->items);
	*c = (struct changes){0};
}

void changes_clear(struct changes *c)
{
	c->count = 0;
}

void changes_add(struct changes *c, uint32_t code, int32_t taken)
{
	if (c->failed)
		return;
	if (c->count == c->capacity) {
		size_t capacity = c->capacity ? c->capacity * 2 : 64;
		struct change *items = reallocarray(c->items, capacity, sizeof *items);
		if (!items) {
			c->failed = true;
			return;
		}
		c->items = items;
		c->capacity = capacity;
	}
	c->items[c->count++] = (struct change){code, taken};
}

/* Where `count` characters after byte `at` end. */
static size_t skip(const struct aligned *from, size_t at, size_t count)
{
	for (; count > 0 && at < from->length; count--)
		at += utf8_step(from->text + at, from->length - at);
	return at;
}

void aligned_add_changed(struct aligned *a, const struct aligned *from, const struct changes *c,
			 size_t dropped, size_t origin)
{
	size_t at = skip(from, 0, dropped);
	a->failed |= c->failed;
	for (size_t i = 0; i < c->count && !a->failed; i++) {
		int32_t taken = c->items[i].taken;
		struct span span = {(uint32_t)origin, (uint32_t)origin};
		/* Changes that take more than there is can only come of a map that drops what is at
		 * the front; the last character then stands for them. */
		if (taken <= 0 && at < from->length)
			span = from->spans[at];
		else if (at > 0)
			span = from->spans[at - 1];
		if (taken <= 0)
			at = skip(from, at, (size_t)(1 - taken));
		char text[4];
		aligned_add(a, text, utf8_encode(c->items[i].code, text), span);
	}
}

enum attn_status aligned_check(const struct aligned *a, struct attn_error *err)
{
	if (a->too_long)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "the text is longer than %zu bytes when it is normalised",
				 a->most ? a->most : ALIGNED_MAX);
	return a->failed ? attn_fail_memory(err) : ATTN_OK;
}
