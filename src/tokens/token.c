#include "tokens/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/utf8.h"

static const char WORD_START[] = "\xe2\x96\x81";   /* U+2581 */
static const char BYTE_SPACE[] = "\xc4\xa0";       /* U+0120 */
static const char SHOWN_SPACE[] = "\xe2\x90\xa3";  /* U+2423 */
static const char SHOWN_RETURN[] = "\xe2\x86\xb5"; /* U+21B5 */
static const char SHOWN_TAB[] = "\xe2\x87\xa5";    /* U+21E5 */

/* GPT-2's table: printable Latin-1 bytes stand for themselves, the others follow
 * from U+0100 up.  Returns the byte, or -1 for a character outside the alphabet. */
static int byte_of(uint32_t code)
{
	static short bytes[0x144];
	static bool ready;
	if (!ready) {
		uint32_t next = 0x100;
		memset(bytes, -1, sizeof bytes);
		for (uint32_t b = 0; b < 256; b++) {
			bool self = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
			bytes[self ? b : next++] = (short)b;
		}
		ready = true;
	}
	return code < sizeof bytes / sizeof *bytes ? bytes[code] : -1;
}

bool tokens_byte_level(const struct string_list *list)
{
	bool marked = false;
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i];
		size_t length = strlen(text);
		for (size_t at = 0; at < length;) {
			uint32_t code;
			size_t step = utf8_decode(text + at, length - at, &code);
			if (step == 0 || (byte_of(code) < 0 && text[0] != '<'))
				return false;
			at += step;
		}
		marked |= strncmp(text, BYTE_SPACE, 2) == 0;
	}
	return marked;
}

void token_add_bytes(struct buffer *out, const char *text)
{
	size_t length = strlen(text);
	for (size_t at = 0; at < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + at, length - at, &code);
		int byte = byte_of(code);
		if (byte == 0)
			buffer_add_string(out, "\\x00"); /* a C string cannot hold it */
		else if (byte > 0)
			buffer_add_char(out, (char)byte);
		else
			buffer_add(out, text + at, step);
		at += step;
	}
}

void token_add_visible(struct buffer *out, const char *text, size_t length, bool only_space)
{
	for (size_t at = 0; at < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + at, length - at, &code);
		if (step == 0) {
			buffer_printf(out, "\\x%02x", (unsigned char)text[at]);
			step = 1;
		} else if (code == '\n') {
			buffer_add_string(out, SHOWN_RETURN);
		} else if (code == '\t') {
			buffer_add_string(out, SHOWN_TAB);
		} else if (code == ' ' && only_space) {
			buffer_add_string(out, SHOWN_SPACE);
		} else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
			buffer_printf(out, "\\x%02x", code);
		} else {
			buffer_add(out, text + at, step);
		}
		at += step;
	}
}

static void add_shown(struct buffer *out, const char *text)
{
	size_t length = strlen(text);
	if (length > 2 && strncmp(text, "##", 2) == 0) {
		text += 2;
		length -= 2;
	} else if (length >= 3 && strncmp(text, WORD_START, 3) == 0) {
		text += 3;
		length -= 3;
		if (length == 0)
			buffer_add_string(out, SHOWN_SPACE);
	}
	if (length > 4 && strcmp(text + length - 4, "</w>") == 0)
		length -= 4;
	bool only_space = strspn(text, " ") == length;
	if (!only_space)
		while (length > 1 && *text == ' ') { /* a space in front marks a word's start, too */
			text++;
			length--;
		}
	token_add_visible(out, text, length, only_space);
}

bool tokens_shown(const struct string_list *raw, struct string_list *shown)
{
	bool bytes = tokens_byte_level(raw);
	struct buffer decoded = BUFFER_INIT, text = BUFFER_INIT;
	bool ok = true;
	for (size_t i = 0; i < raw->count && ok; i++) {
		buffer_clear(&decoded);
		buffer_clear(&text);
		if (bytes)
			token_add_bytes(&decoded, raw->items[i]);
		else
			buffer_add_string(&decoded, raw->items[i]);
		buffer_add(&decoded, "", 0);
		if (!decoded.failed)
			add_shown(&text, decoded.data);
		buffer_add(&text, "", 0);
		ok = !decoded.failed && !text.failed && string_list_add(shown, text.data);
	}
	buffer_release(&decoded);
	buffer_release(&text);
	return ok;
}

bool token_matches(const char *text, const char *raw, const char *shown)
{
	return strcmp(text, raw) == 0 || strcmp(text, shown) == 0;
}

size_t token_nearest(const char *text, const struct string_list *shown)
{
	size_t best = shown->count, nearest = strlen(text) / 2 + 1;
	for (size_t i = 0; i < shown->count; i++) {
		size_t distance = edit_distance(text, shown->items[i]);
		if (distance < nearest && distance < strlen(shown->items[i])) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

/* Whether text[length] begins and ends so, with something between without spaces and '<' or '>'. */
static bool is_between(const char *text, size_t length, const char *begin, const char *end)
{
	size_t before = strlen(begin), after = strlen(end);
	if (length <= before + after || strncmp(text, begin, before) != 0 ||
	    strcmp(text + length - after, end) != 0)
		return false;
	return strcspn(text + before, "<> ") >= length - before - after;
}

/* "unk" and "mask", in any case, in text[length]. */
static bool stands_for_word(const char *text, size_t length)
{
	return (length == 3 && strncasecmp(text, "unk", 3) == 0) ||
	       (length == 4 && strncasecmp(text, "mask", 4) == 0);
}

bool token_is_mark(const char *token)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = strlen(token);
	if (length < 3 || strcmp(token, "</w>") == 0 || stands_for_word(token + 1, length - 2))
		return false;
	if (is_between(token, length, ">>", "<<"))
		return true;
	if (is_between(token, length, "<", ">"))
		return !(length == 6 && strncmp(token, "<0x", 3) == 0);
	return length >= 5 && token[0] == '[' && strspn(token + 1, capitals) == length - 2 &&
	       token[length - 1] == ']';
}
