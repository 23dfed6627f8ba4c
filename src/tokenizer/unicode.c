#include "tokenizer/unicode.h"

#include <string.h>
#include <utf8proc.h>

#include "util/utf8.h"

/* Categories as bits. */
#define BIT(category) (1u << UTF8PROC_CATEGORY_##category)
enum {
	MARK = BIT(MN) | BIT(MC) | BIT(ME),
	LETTER = BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO),
	NUMBER = BIT(ND) | BIT(NL) | BIT(NO),
	PUNCTUATION = BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO),
};

static bool has_category(uint32_t code, unsigned bits)
{
	return bits >> utf8proc_category((utf8proc_int32_t)code) & 1;
}

bool unicode_is_space(uint32_t code)
{
	return (code >= 0x9 && code <= 0xd) || code == 0x20 || code == 0x85 || code == 0xa0 ||
	       code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
	       code == 0x202f || code == 0x205f || code == 0x3000;
}

bool unicode_is_word(uint32_t code)
{
	/* Letters in circles and squares are alphabetic symbols. */
	return has_category(code, LETTER | MARK | BIT(ND) | BIT(NL) | BIT(PC)) || code == 0x200c ||
	       code == 0x200d || (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
	       (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

bool unicode_is_numeric(uint32_t code)
{
	return has_category(code, NUMBER);
}

bool unicode_is_punctuation(uint32_t code)
{
	return (code < 0x80 && code != 0 && strchr("$+<=>^`|~", (int)code)) ||
	       has_category(code, PUNCTUATION);
}

bool unicode_is_mark(uint32_t code)
{
	return has_category(code, MARK);
}

bool unicode_is_nonspacing(uint32_t code)
{
	return has_category(code, BIT(MN));
}

bool unicode_is_other(uint32_t code)
{
	return has_category(code, BIT(CC) | BIT(CF) | BIT(CO));
}

size_t unicode_lower(uint32_t code, uint32_t lower[2])
{
	if (code == 0x130) { /* the only one that becomes two */
		lower[0] = 'i';
		lower[1] = 0x307;
		return 2;
	}
	lower[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
	return 1;
}

static int combining_class(uint32_t code)
{
	return utf8proc_get_property((utf8proc_int32_t)code)->combining_class;
}

/* The composition of a starter and what follows it, or 0. */
static uint32_t compose_pair(uint32_t first, uint32_t second)
{
	utf8proc_int32_t pair[3] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second, 0};
	if (second < 0x80)
		return 0;
	return utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) == 1 ? (uint32_t)pair[0]
											  : 0;
}

/* Decompose, with the marks of a character in no order yet. */
static void decompose(struct changes *c, const char *text, size_t length, bool compatible)
{
	utf8proc_option_t options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		utf8proc_int32_t parts[32]; /* the longest has 18 */
		i += utf8_decode(text + i, length - i, &code);
		utf8proc_ssize_t count =
		    code < 0x80 ? 0
				: utf8proc_decompose_char((utf8proc_int32_t)code, parts, 32, options, NULL);
		if (count <= 0 || count > 32)
			changes_add(c, code, 0);
		for (utf8proc_ssize_t p = 0; p < count && count <= 32; p++)
			changes_add(c, (uint32_t)parts[p], p > 0);
	}
}

/* Sort items[count], all marks, by class; marks of one class stay in their order.  Each class is
 * picked in turn, since a run of marks may be long but has few classes. */
static void sort_marks(struct changes *c, size_t start, size_t count, struct changes *spare)
{
	bool present[256] = {false};
	bool sorted = true;
	for (size_t i = 0; i < count; i++) {
		present[combining_class(c->items[start + i].code)] = true;
		sorted &= i == 0 || combining_class(c->items[start + i - 1].code) <=
					combining_class(c->items[start + i].code);
	}
	if (sorted)
		return;
	changes_clear(spare);
	for (int class = 0; class < 256; class ++)
		for (size_t i = 0; present[class] && i < count; i++)
			if (combining_class(c->items[start + i].code) == class)
				changes_add(spare, c->items[start + i].code, c->items[start + i].taken);
	c->failed |= spare->failed;
	if (!spare->failed)
		memcpy(c->items + start, spare->items, count * sizeof *c->items);
}

static void reorder(struct changes *c, size_t start)
{
	struct changes spare = {0};
	for (size_t i = start; i < c->count;) {
		size_t end = i;
		while (end < c->count && combining_class(c->items[end].code) != 0)
			end++;
		if (end - i > 1)
			sort_marks(c, i, end - i, &spare);
		i = end + 1;
	}
	changes_release(&spare);
}

/* Compose in place; a composed character takes what its parts took. */
static void compose(struct changes *c, size_t start)
{
	struct change *items = c->items;
	size_t kept = start, starter = SIZE_MAX;
	int last_class = -1; /* of the marks kept after the starter */
	for (size_t i = start; i < c->count; i++) {
		int class = combining_class(items[i].code);
		uint32_t composed = 0;
		if (starter != SIZE_MAX && last_class < class)
			composed = compose_pair(items[starter].code, items[i].code);
		if (composed) {
			items[starter].code = composed;
			items[starter].taken += items[i].taken - 1;
			continue;
		}
		if (class == 0) {
			starter = kept;
			last_class = -1;
		} else {
			last_class = class;
		}
		items[kept++] = items[i];
	}
	c->count = kept;
}

void unicode_normalize(struct changes *c, const char *text, size_t length, bool compatible,
		       bool compose_again)
{
	size_t start = c->count;
	decompose(c, text, length, compatible);
	if (!c->failed)
		reorder(c, start);
	if (compose_again && !c->failed)
		compose(c, start);
}

size_t unicode_cluster(const char *text, size_t length)
{
	utf8proc_int32_t state = 0;
	uint32_t last = 0, code = 0;
	size_t end = utf8_decode(text, length, &last);
	while (end < length) {
		size_t step = utf8_decode(text + end, length - end, &code);
		if (step == 0 ||
		    utf8proc_grapheme_break_stateful((utf8proc_int32_t)last, (utf8proc_int32_t)code, &state))
			break;
		end += step;
		last = code;
	}
	return end;
}
