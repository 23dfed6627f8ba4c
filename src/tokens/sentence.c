#include "tokens/sentence.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "util/memory.h"
#include "util/utf8.h"

/* Full stops, question and exclamation marks: Latin, CJK (wide, half-width),
 * Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese, Tibetan. */
static const uint32_t terminators[] = {'.',    '!',    '?',    0x3002, 0xff01, 0xff0e, 0xff1f,
				       0xff61, 0x061f, 0x06d4, 0x0964, 0x0965, 0x0589, 0x1362,
				       0x1367, 0x17d4, 0x104b, 0x0f0d, 0x203c, 0x2047};

static const uint32_t closers[] = {'"',    '\'',   ')',    ']',    '}',    0xbb,   0x201d,
				   0x2019, 0x300d, 0x300f, 0x300b, 0x3011, 0xff09, 0x203a};

/* Commas, colons, semicolons and ellipses: Latin, CJK (wide, half-width), Arabic, Ethiopic. */
static const uint32_t dividers[] = {',',    ';',    ':',    0x2026, 0x3001, 0xff0c, 0xff1a,
				    0xff1b, 0xff64, 0x060c, 0x061b, 0x1363, 0x1364, 0x1365};

static const char *const marks[] = {"[SEP]", "</s>", "<eos>", "<|endoftext|>"};

static bool among(uint32_t code, const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == code)
			return true;
	return false;
}

static bool is_terminator(uint32_t code)
{
	return among(code, terminators, sizeof terminators / sizeof *terminators);
}

static bool is_closer(uint32_t code)
{
	return among(code, closers, sizeof closers / sizeof *closers);
}

static bool is_mark(const char *token)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strcmp(token, marks[i]) == 0)
			return true;
	return false;
}

/* What decides about one token. */
struct look {
	size_t letters, points; /* other characters, full stops with such a one after them */
	uint32_t last;          /* the last character that does not close, or 0 */
	bool closed;            /* there are quotes or brackets that close */
};

static struct look look_at(const char *token)
{
	struct look look = {0};
	size_t length = strlen(token), step;
	uint32_t code;
	for (size_t i = 0; i < length; i += step) {
		step = utf8_decode(token + i, length - i, &code);
		if (step == 0) {
			step = 1;
			code = 0xfffd;
		}
		if (is_closer(code)) {
			look.closed = true;
			continue;
		}
		look.letters += !is_terminator(code);
		look.points += look.last == '.' && !is_terminator(code);
		look.last = code;
	}
	return look;
}

static bool ends_sentence(const struct string_list *shown, size_t i)
{
	const char *token = shown->items[i];
	struct look look = look_at(token);
	if (is_mark(token))
		return true;
	if (!is_terminator(look.last))
		return false;
	if (look.last != '.' || look.letters > 1)
		return !(look.last == '.' && look.points > 0);
	if (look.letters == 1)
		return false;
	/* "3" "." "14" */
	const char *before = i > 0 ? shown->items[i - 1] : "";
	const char *after = i + 1 < shown->count ? shown->items[i + 1] : "";
	size_t length = strlen(before);
	return !(length > 0 && isdigit((unsigned char)before[length - 1]) && isdigit((unsigned char)*after));
}

/* A token that belongs to the end before it. */
static bool only_closes(const char *token)
{
	struct look look = look_at(token);
	return is_mark(token) || (look.letters == 0 && (look.last != 0 || look.closed));
}

bool *sentence_ends(const struct string_list *shown)
{
	bool *ends = array_alloc(shown->count, sizeof *ends);
	for (size_t i = 0; ends && i < shown->count; i++) {
		bool goes_on = i > 0 && ends[i - 1] && only_closes(shown->items[i]);
		ends[i] = goes_on || ends_sentence(shown, i);
		if (goes_on)
			ends[i - 1] = false;
	}
	return ends;
}

bool token_separates(const char *shown)
{
	size_t length = strlen(shown), step, points = 0;
	uint32_t code;
	if (is_mark(shown))
		return true;
	for (size_t i = 0; i < length; i += step) {
		step = utf8_decode(shown + i, length - i, &code);
		bool point = step > 0 && (is_terminator(code) ||
					  among(code, dividers, sizeof dividers / sizeof *dividers));
		if (!point && (step == 0 || !is_closer(code)))
			return false;
		points += point;
	}
	return points > 0;
}
