#include "tokens/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/characters.h"
#include "tokens/token.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/utf8.h"

/* How a list marks its words. */
enum kind {
	KIND_NONE,
	KIND_BYTES,     /* U+0120 begins, all in GPT-2's alphabet */
	KIND_BEGIN,     /* U+2581 begins */
	KIND_SPACE,     /* a space begins */
	KIND_GOES_ON,   /* ## goes on */
	KIND_END,       /* </w> ends */
	KIND_CONTINUED, /* @@ does not end */
};

static const char BEGIN[] = "\xe2\x96\x81", GOES_ON[] = "##", END[] = "</w>", CONTINUED[] = "@@";

/* A token: its text, without markers, is text[from, to) of all. */
struct piece {
	size_t from, to;
	bool begins, ends;  /* marked so */
	bool special, byte; /* byte: the name of one, "<0xE4>" */
};

struct pieces {
	enum kind kind;
	struct piece *items;
	size_t count;
	struct buffer text;
};

static bool has_prefix(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(text, prefix, length) == 0;
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), end = strlen(suffix);
	return length > end && strcmp(text + length - end, suffix) == 0;
}

static enum kind kind_of(const struct string_list *list)
{
	bool begin = false, space = false, goes_on = false, end = false, continued = false;
	if (tokens_byte_level(list))
		return KIND_BYTES;
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i];
		begin |= has_prefix(text, BEGIN);
		goes_on |= has_prefix(text, GOES_ON) && text[2] != '\0';
		end |= has_suffix(text, END);
		continued |= has_suffix(text, CONTINUED);
		space |= text[0] == ' ' && text[1] != '\0';
	}
	return begin       ? KIND_BEGIN
	       : goes_on   ? KIND_GOES_ON
	       : end       ? KIND_END
	       : continued ? KIND_CONTINUED
	       : space     ? KIND_SPACE
			   : KIND_NONE;
}

/* A byte that a tokenizer has no piece for: "<0xE4>".  -1: it is something else. */
static int fallback_byte(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	if (strlen(text) != 6 || !has_prefix(text, "<0x") || text[5] != '>')
		return -1;
	const char *high = strchr(digits, text[3]), *low = strchr(digits, text[4]);
	return high && low ? (int)((high - digits) * 16 + (low - digits)) : -1;
}

/* <s>, </s>, <pad>, <|endoftext|>, [CLS], [unused1] */
static bool is_special(const char *text)
{
	size_t length = strlen(text);
	if (length < 3 || strcmp(text, END) == 0)
		return false;
	if (text[0] == '<' && text[length - 1] == '>')
		return fallback_byte(text) < 0 && strcspn(text + 1, "<> ") == length - 2;
	return text[0] == '[' && text[length - 1] == ']' &&
	       strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
		   length - 2;
}

/* Append a token's text without markers, and note what they say. */
static void add_piece(struct pieces *p, const char *raw)
{
	struct piece *piece = &p->items[p->count++];
	size_t length = strlen(raw);
	int byte = p->kind == KIND_BEGIN ? fallback_byte(raw) : -1;
	*piece = (struct piece){.from = p->text.length, .special = is_special(raw)};
	if (piece->special || p->kind == KIND_NONE) {
		piece->begins = p->kind == KIND_NONE;
		buffer_add_string(&p->text, raw);
	} else if (p->kind == KIND_GOES_ON) {
		piece->begins = !has_prefix(raw, GOES_ON) || length == 2;
		buffer_add_string(&p->text, piece->begins ? raw : raw + 2);
	} else if (p->kind == KIND_END || p->kind == KIND_CONTINUED) {
		bool marked = has_suffix(raw, p->kind == KIND_END ? END : CONTINUED) || strcmp(raw, END) == 0;
		size_t mark = !marked ? 0 : p->kind == KIND_END ? strlen(END) : strlen(CONTINUED);
		piece->ends = marked == (p->kind == KIND_END);
		buffer_add(&p->text, raw, length - mark);
	} else if (byte > 0) {
		piece->byte = true;
		buffer_add_char(&p->text, (char)byte);
	} else if (p->kind == KIND_BYTES) {
		token_add_bytes(&p->text, raw);
	} else if (p->kind == KIND_BEGIN && has_prefix(raw, BEGIN)) {
		piece->begins = true;
		buffer_add_string(&p->text, raw + strlen(BEGIN));
	} else {
		buffer_add_string(&p->text, raw);
	}
	piece->to = p->text.length;
}

/* White space in front begins a word where markers say that, and spaces are no part of it;
 * a line end or tab alone is a word. */
static void take_spaces(struct pieces *p)
{
	if (p->kind != KIND_BYTES && p->kind != KIND_BEGIN && p->kind != KIND_SPACE)
		return;
	for (size_t i = 0; i < p->count; i++) {
		struct piece *piece = &p->items[i];
		const char *text = p->text.data + piece->from;
		size_t length = piece->to - piece->from;
		if (length > 0 && strchr(" \t\n\r", *text))
			piece->begins = true;
		size_t white = 0, spaces = 0;
		for (; white < length && strchr(" \t\n\r", text[white]); white++)
			spaces += text[white] == ' ';
		piece->ends = white == length && spaces < white;
		while (length > 0 && *text == ' ') {
			text++;
			length--;
		}
		piece->from = piece->to - length;
	}
}

/* The character before `at`, or 0 where its bytes are broken or there is none. */
static uint32_t character_before(const struct pieces *p, size_t at)
{
	size_t from = at;
	uint32_t code;
	while (from > 0 && at - from < 4) {
		from--;
		if (((unsigned char)p->text.data[from] & 0xc0) != 0x80)
			break;
	}
	return from < at && utf8_decode(p->text.data + from, at - from, &code) == at - from ? code : 0;
}

static uint32_t character_at(const struct pieces *p, size_t at)
{
	uint32_t code;
	return utf8_decode(p->text.data + at, p->text.length - at, &code) > 0 ? code : 0;
}

static bool is_punctuation(const struct pieces *p, const struct piece *piece)
{
	for (size_t at = piece->from; at < piece->to;) {
		uint32_t code;
		size_t step = utf8_decode(p->text.data + at, piece->to - at, &code);
		if (step == 0 || !character_is_punctuation(code))
			return false;
		at += step;
	}
	return piece->to > piece->from;
}

/* Whether piece i is the apostrophe of "don't", or the point or comma of a number. */
static bool is_within_word(const struct pieces *p, size_t i)
{
	if (i == 0 || i + 1 == p->count)
		return false;
	const struct piece *piece = &p->items[i], *next = piece + 1;
	if (piece->begins || next->begins || next->special || piece[-1].special || next->to == next->from)
		return false;
	uint32_t sign = character_at(p, piece->from);
	if (piece->from + utf8_step(p->text.data + piece->from, piece->to - piece->from) != piece->to)
		return false;
	uint32_t before = character_before(p, piece->from), after = character_at(p, next->from);
	bool digits = character_is_digit(before) && character_is_digit(after);
	bool letters = character_is_letter(before) && character_is_letter(after);
	if (sign == ',')
		return digits;
	return (sign == '\'' || sign == 0x2019 || sign == '.') && (digits || letters);
}

static bool breaks_at(const struct pieces *p, size_t i)
{
	return is_punctuation(p, &p->items[i]) && !is_within_word(p, i);
}

/* Whether a word begins at piece i, above 0. */
static bool begins_word(const struct pieces *p, size_t i)
{
	const struct piece *piece = &p->items[i], *before = piece - 1;
	if (piece->begins || before->ends || piece->special || before->special)
		return true;
	if (p->kind == KIND_GOES_ON || p->kind == KIND_END || p->kind == KIND_CONTINUED)
		return false;
	/* A marker alone is that of what follows; and bytes that go on with a character. */
	if (before->to == before->from || piece->to == piece->from ||
	    ((unsigned char)p->text.data[piece->from] & 0xc0) == 0x80)
		return false;
	uint32_t last = character_before(p, piece->from), next = character_at(p, piece->from);
	if (character_is_extending(next))
		return false;
	return character_is_unspaced(last) || character_is_extending(last) || character_is_unspaced(next) ||
	       breaks_at(p, i) || breaks_at(p, i - 1);
}

static bool reserve(struct words *words, size_t more)
{
	size_t size;
	if (!size_add(words->count, more, &size) || !size_add(size, 1, &size))
		return false;
	size_t *first = reallocarray(words->first, size, sizeof *first);
	if (!first)
		return false;
	if (words->count == 0)
		first[0] = 0;
	words->first = first;
	return true;
}

/* Append one word of `tokens` tokens. */
static bool add_word(struct words *words, size_t tokens, const char *label)
{
	words->first[words->count + 1] = words->first[words->count] + tokens;
	words->count++;
	return string_list_add(&words->labels, label);
}

/* One of several pieces: their texts joined, so that characters come out whole. */
static bool add_joined(struct words *words, const struct pieces *p, size_t first, size_t last)
{
	struct buffer label = BUFFER_INIT;
	size_t from = p->items[first].from, to = p->items[last - 1].to;
	if (to > from)
		token_add_visible(&label, p->text.data + from, to - from, false);
	else
		token_add_visible(&label, " ", 1, true);
	bool ok = !label.failed && add_word(words, last - first, label.data);
	buffer_release(&label);
	return ok;
}

static bool add_words(struct words *words, const struct pieces *p, const struct string_list *shown)
{
	bool ok = true;
	for (size_t first = 0, last; first < p->count && ok; first = last) {
		for (last = first + 1; last < p->count && !begins_word(p, last);)
			last++;
		ok = last - first == 1 && !p->items[first].byte ? add_word(words, 1, shown->items[first])
								: add_joined(words, p, first, last);
	}
	return ok;
}

bool words_add(struct words *words, const struct string_list *list)
{
	struct pieces p = {.kind = kind_of(list), .text = BUFFER_INIT};
	struct string_list shown = {0};
	p.items = array_alloc(list->count, sizeof *p.items);
	bool ok = p.items && reserve(words, list->count) && tokens_shown(list, &shown);
	for (size_t i = 0; i < list->count && ok; i++)
		add_piece(&p, list->items[i]);
	buffer_add(&p.text, "", 0);
	ok = ok && !p.text.failed;
	if (ok) {
		take_spaces(&p);
		ok = add_words(words, &p, &shown);
	}
	string_list_release(&shown);
	buffer_release(&p.text);
	free(p.items);
	return ok;
}

bool words_add_single(struct words *words, const struct string_list *list)
{
	struct string_list shown = {0};
	bool ok = reserve(words, list->count) && tokens_shown(list, &shown);
	for (size_t i = 0; i < list->count && ok; i++)
		ok = add_word(words, 1, shown.items[i]);
	string_list_release(&shown);
	return ok;
}

void words_release(struct words *words)
{
	free(words->first);
	string_list_release(&words->labels);
	*words = (struct words){0};
}
