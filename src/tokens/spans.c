#include "tokens/spans.h"

#include <stdlib.h>
#include <string.h>

#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

bool span_list_add(struct span_list *list, struct span span)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct span *items = reallocarray(list->items, room, sizeof *items);
		if (!items)
			return false;
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = span;
	return true;
}

void span_list_release(struct span_list *list)
{
	free(list->items);
	*list = (struct span_list){0};
}

bool span_indices(const char *text, size_t *first, size_t *last)
{
	char digits[32];
	size_t length = text[0] == '#' ? strcspn(text + 1, "-") : sizeof digits;
	if (length >= sizeof digits)
		return false;
	memcpy(digits, text + 1, length);
	digits[length] = '\0';
	if (!parse_count(digits, first))
		return false;
	*last = *first;
	return text[1 + length] == '\0' || (parse_count(text + 2 + length, last) && *last >= *first);
}

void spelling_add(struct buffer *out, const char *text)
{
	static const char space[] = " \t\r\n\v\f";
	while (*text) {
		text += strspn(text, space);
		size_t length = strcspn(text, space);
		buffer_add(out, text, length);
		text += length;
	}
}

/* White space is shown by signs, and is nothing here. */
static bool is_shown_space(const char *shown)
{
	static const char *const signs[] = {"\u2423", "\u21b5", "\u21e5"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs;) {
		if (*shown == '\0')
			return true;
		size_t length = strlen(signs[i]);
		bool same = strncmp(shown, signs[i], length) == 0;
		shown += same ? length : 0;
		i = same ? 0 : i + 1;
	}
	return *shown == '\0';
}

bool spelling_init(struct spelling *s, const struct string_list *raw, const struct string_list *shown)
{
	bool bytes = tokens_byte_level(raw);
	struct buffer token = BUFFER_INIT;
	*s = (struct spelling){.raw = raw, .shown = shown, .ends = array_alloc(raw->count, sizeof *s->ends)};
	s->text.failed = !s->ends;
	for (size_t i = 0; i < raw->count && !s->text.failed; i++) {
		buffer_clear(&token);
		if (bytes)
			token_add_bytes(&token, raw->items[i]);
		else if (!is_shown_space(shown->items[i]))
			buffer_add_string(&token, shown->items[i]);
		spelling_add(&s->text, token.length ? token.data : "");
		s->text.failed |= token.failed;
		s->ends[i] = s->text.length;
	}
	buffer_release(&token);
	return !s->text.failed;
}

void spelling_release(struct spelling *s)
{
	buffer_release(&s->text);
	free(s->ends);
	*s = (struct spelling){0};
}

/* The first token that ends behind `place`. */
static size_t token_behind(const struct spelling *s, size_t place)
{
	size_t low = 0, high = s->raw->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->ends[middle] <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct span spelling_span(const struct spelling *s, size_t start, size_t end)
{
	return (struct span){token_behind(s, start), token_behind(s, end - 1) + 1};
}

static bool find_runs(const struct spelling *s, const struct buffer *text, struct span_list *out)
{
	const char *from = s->text.data, *end = from + s->text.length, *at;
	while (from < end && (at = memmem(from, (size_t)(end - from), text->data, text->length))) {
		size_t start = (size_t)(at - s->text.data);
		struct span span = spelling_span(s, start, start + text->length);
		bool whole = s->ends[span.end - 1] == start + text->length &&
			     start == (span.first ? s->ends[span.first - 1] : 0);
		if (whole && !span_list_add(out, span))
			return false;
		from = at + 1;
	}
	return true;
}

bool spelling_find(const struct spelling *s, const char *text, struct span_list *out)
{
	size_t before = out->count;
	bool ok = true;
	for (size_t i = 0; i < s->raw->count && ok; i++)
		if (token_matches(text, s->raw->items[i], s->shown->items[i]))
			ok = span_list_add(out, (struct span){i, i + 1});
	if (!ok || out->count > before)
		return ok;
	struct buffer spelled = BUFFER_INIT;
	spelling_add(&spelled, text);
	ok = !spelled.failed && (spelled.length == 0 || s->text.length == 0 || find_runs(s, &spelled, out));
	buffer_release(&spelled);
	return ok;
}
