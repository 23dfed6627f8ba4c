/* Classes, escapes and properties of Oniguruma's patterns (its doc/RE, the syntax of Ruby), written
 * for PCRE2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tokenizer/pattern_set.h"
#include "util/utf8.h"

enum {
	MAX_NESTING = 16,
};

/* PCRE2's \s also takes U+180E, which Unicode has long called a format character. */
#define WHITE_SPACE                                                                                          \
	"\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"
#define HEXADECIMAL "0-9A-Fa-f"

enum attn_status pattern_unsupported(const struct pattern_scan *s, const char *what, size_t length)
{
	length = strnlen(what, length);
	while ((what[length] & 0xc0) == 0x80) /* whole characters */
		length++;
	return attn_fail(s->err, ATTN_BAD_INPUT, "pattern '%.200s' has '%.*s', which is not supported",
			 s->regex, (int)length, what);
}

/* Long names of categories and of what takes more than one, without '_', '-' and spaces; the rest
 * are scripts, which PCRE2 would take with their extensions. */
static const struct {
	const char *name, *content;
} properties[] = {
    {"letter", "\\p{L}"},
    {"mark", "\\p{M}"},
    {"number", "\\p{N}"},
    {"punctuation", "\\p{P}"},
    {"symbol", "\\p{S}"},
    {"separator", "\\p{Z}"},
    {"other", "\\p{C}"},
    {"uppercaseletter", "\\p{Lu}"},
    {"lowercaseletter", "\\p{Ll}"},
    {"titlecaseletter", "\\p{Lt}"},
    {"modifierletter", "\\p{Lm}"},
    {"otherletter", "\\p{Lo}"},
    {"nonspacingmark", "\\p{Mn}"},
    {"spacingmark", "\\p{Mc}"},
    {"enclosingmark", "\\p{Me}"},
    {"decimalnumber", "\\p{Nd}"},
    {"letternumber", "\\p{Nl}"},
    {"othernumber", "\\p{No}"},
    {"mathsymbol", "\\p{Sm}"},
    {"currencysymbol", "\\p{Sc}"},
    {"modifiersymbol", "\\p{Sk}"},
    {"othersymbol", "\\p{So}"},
    {"control", "\\p{Cc}"},
    {"format", "\\p{Cf}"},
    {"alpha", "\\p{Alphabetic}"},
    {"alphabetic", "\\p{Alphabetic}"},
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"upper", "\\p{Uppercase}"},
    {"uppercase", "\\p{Uppercase}"},
    {"lower", "\\p{Lowercase}"},
    {"lowercase", "\\p{Lowercase}"},
    {"digit", "\\p{Nd}"},
    {"xdigit", HEXADECIMAL},
    {"space", WHITE_SPACE},
    {"whitespace", WHITE_SPACE},
    {"word", PATTERN_WORD},
    {"punct", "\\p{P}$+<=>\\^`|~"},
    {"any", "\\p{Any}"},
    {"ascii", "\\x00-\\x7F"},
    {"blank", "\\t\\p{Zs}"},
    {"cntrl", "\\p{Cc}"},
    {"emoji", "\\p{Emoji}"},
    {"ideographic", "\\p{Ideographic}"},
    {"extendedpictographic", "\\p{Extended_Pictographic}"},
};

/* What name[length] stands for between brackets; false: it is no name. */
static bool find_property(const char *name, size_t length, struct pattern_set *set)
{
	char bare[64];
	size_t used = 0;
	for (size_t i = 0; i < length; i++) {
		char c = name[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (letter && used < sizeof bare - 1)
			bare[used++] = c;
		else if (letter || (c != '_' && c != '-' && c != ' '))
			return false;
	}
	bare[used] = '\0';
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
		if (strcasecmp(bare, properties[i].name) == 0) {
			snprintf(set->content, sizeof set->content, "%s", properties[i].content);
			return true;
		}
	}
	snprintf(set->content, sizeof set->content, used > 2 ? "\\p{sc:%s}" : "\\p{%s}", bare);
	return used > 0;
}

/* {NAME} or {^NAME}, after its p or P. */
static enum attn_status read_property(struct pattern_scan *s, struct pattern_set *set)
{
	const char *start = s->at, *name = start + 2;
	const char *end = strchr(start, '}');
	if (start[1] != '{' || !end)
		return pattern_unsupported(s, start - 1, 3);
	set->negated = *start == 'P';
	if (*name == '^') {
		set->negated = !set->negated;
		name++;
	}
	if (!find_property(name, (size_t)(end - name), set))
		return pattern_unsupported(s, start - 1, (size_t)(end - start) + 2);
	s->at = end + 1;
	return ATTN_OK;
}

enum attn_status pattern_set_escape(struct pattern_scan *s, struct pattern_set *set, bool *found)
{
	const char *content = NULL;
	*found = true;
	switch (*s->at) {
	case 's':
	case 'S':
		content = WHITE_SPACE;
		break;
	case 'w':
	case 'W':
		content = PATTERN_WORD;
		break;
	case 'd':
	case 'D':
		content = "\\p{Nd}";
		break;
	case 'h':
	case 'H':
		content = HEXADECIMAL;
		break;
	case 'p':
	case 'P':
		return read_property(s, set);
	default:
		*found = false;
		return ATTN_OK;
	}
	snprintf(set->content, sizeof set->content, "%s", content);
	set->negated = *s->at >= 'A' && *s->at <= 'Z';
	s->at++;
	return ATTN_OK;
}

/* \xHH, \x{H...} or \uHHHH, at the letter; bytes that are no characters are not taken. */
static enum attn_status read_hexadecimal(struct pattern_scan *s, struct buffer *out)
{
	const char *digits = s->at + 1;
	bool braces = s->at[0] == 'x' && *digits == '{';
	digits += braces;
	size_t length = strspn(digits, "0123456789ABCDEFabcdef");
	size_t most = braces ? 6 : s->at[0] == 'u' ? 4 : 2;
	size_t used = braces || length < most ? length : most;
	char text[8] = "";
	memcpy(text, digits, used < sizeof text ? used : 0);
	unsigned long code = strtoul(text, NULL, 16);
	bool right = used > 0 && used <= most && code <= 0x10ffff && (!braces || digits[used] == '}') &&
		     (s->at[0] != 'u' || used == 4) && (s->at[0] != 'x' || braces || code < 0x80);
	if (!right)
		return pattern_unsupported(s, s->at - 1, used + 2);
	buffer_printf(out, "\\x{%lX}", code);
	s->at = digits + used + braces;
	return ATTN_OK;
}

enum attn_status pattern_character_escape(struct pattern_scan *s, struct buffer *out)
{
	char c = *s->at;
	if (c == 'x' || c == 'u')
		return read_hexadecimal(s, out);
	if (c == '\0' || strchr("cCMoyY", c))
		return pattern_unsupported(s, s->at - 1, 2);
	size_t step = utf8_step(s->at, strlen(s->at));
	if (c == 'v')
		buffer_add_string(out, "\\x0B");
	else if (strchr("tnrfae", c) || (c >= '0' && c <= '9') || (step == 1 && strchr("-#&~ ", c)) ||
		 (step == 1 && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))))
		buffer_printf(out, "\\%c", c);
	else /* a letter that means nothing is itself */
		buffer_add(out, s->at, step);
	s->at += step;
	return ATTN_OK;
}

/* A class that is read: the union of `plain`, which is written between brackets, and of
 * alternatives; and before it, as lookaheads, what && joined to it. */
struct class
{
	struct buffer plain, others, ahead;
	bool negated;
};

static void class_release(struct class *c)
{
	buffer_release(&c->plain);
	buffer_release(&c->others);
	buffer_release(&c->ahead);
}

static void add_set(struct class *c, const struct pattern_set *set)
{
	if (!set->negated)
		buffer_add_string(&c->plain, set->content);
	else
		buffer_printf(&c->others, "%s[^%s]", c->others.length ? "|" : "", set->content);
}

/* Append what matches the union. */
static void write_union(const struct class *c, struct buffer *out)
{
	bool both = c->plain.length && c->others.length;
	buffer_add_string(out, "(?:");
	if (c->plain.length)
		buffer_printf(out, "[%s]", c->plain.data);
	buffer_printf(out, "%s%s", both ? "|" : "", c->others.length ? c->others.data : "");
	buffer_add_string(out, c->plain.length || c->others.length ? ")" : "(?!))");
}

static void write_class(const struct class *c, struct buffer *out)
{
	if (!c->others.length && !c->ahead.length && c->plain.length) {
		buffer_printf(out, "[%s%s]", c->negated ? "^" : "", c->plain.data);
		return;
	}
	if (c->negated)
		buffer_add_string(out, "(?:(?!");
	buffer_add_string(out, "(?:");
	if (c->ahead.length)
		buffer_add_string(out, c->ahead.data);
	write_union(c, out);
	buffer_add_string(out, ")");
	if (c->negated)
		buffer_add_string(out, ")(?s:.))");
}

static enum attn_status read_class(struct pattern_scan *s, struct class *c, int depth);

/* [:name:] or [:^name:] at the '['; false in *found if it is none. */
static enum attn_status read_posix(struct pattern_scan *s, struct class *c, bool *found)
{
	const char *name = s->at + 2, *end = strstr(s->at, ":]");
	struct pattern_set set = {.negated = false};
	*found = s->at[1] == ':' && end && end > s->at + 1;
	if (!*found)
		return ATTN_OK;
	if (*name == '^') {
		set.negated = true;
		name++;
	}
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz") != (size_t)(end - name) ||
	    !find_property(name, (size_t)(end - name), &set) || strstr(set.content, "sc:"))
		return pattern_unsupported(s, s->at, (size_t)(end - s->at) + 2);
	add_set(c, &set);
	s->at = end + 2;
	return ATTN_OK;
}

static enum attn_status read_nested(struct pattern_scan *s, struct class *c, int depth)
{
	struct class inner = {.negated = false};
	bool posix;
	TRY(read_posix(s, c, &posix));
	if (posix)
		return ATTN_OK;
	enum attn_status status = read_class(s, &inner, depth + 1);
	if (status == ATTN_OK && !inner.negated && !inner.others.length && !inner.ahead.length) {
		buffer_add(&c->plain, inner.plain.data, inner.plain.length);
	} else if (status == ATTN_OK) {
		buffer_add_string(&c->others, c->others.length ? "|" : "");
		write_class(&inner, &c->others);
	}
	class_release(&inner);
	return status;
}

static enum attn_status read_item(struct pattern_scan *s, struct class *c, int depth)
{
	struct pattern_set set;
	bool found = false;
	if (*s->at == '\0')
		return pattern_unsupported(s, "[", 1);
	if (*s->at == '[')
		return read_nested(s, c, depth);
	if (s->at[0] == '&' && s->at[1] == '&') {
		buffer_add_string(&c->ahead, "(?=");
		write_union(c, &c->ahead);
		buffer_add_string(&c->ahead, ")");
		buffer_clear(&c->plain);
		buffer_clear(&c->others);
		s->at += 2;
		return ATTN_OK;
	}
	if (*s->at != '\\') {
		size_t step = utf8_step(s->at, strlen(s->at));
		if (strchr("^]", *s->at))
			buffer_add_char(&c->plain, '\\');
		buffer_add(&c->plain, s->at, step);
		s->at += step;
		return ATTN_OK;
	}
	s->at++;
	TRY(pattern_set_escape(s, &set, &found));
	if (found)
		add_set(c, &set);
	else if (strchr("bBRXKGAZz", *s->at))
		return pattern_unsupported(s, s->at - 1, 2);
	else
		return pattern_character_escape(s, &c->plain);
	return ATTN_OK;
}

static enum attn_status read_class(struct pattern_scan *s, struct class *c, int depth)
{
	if (depth == MAX_NESTING)
		return pattern_unsupported(s, s->at, 1);
	s->at++;
	if (*s->at == '^') {
		c->negated = true;
		s->at++;
	}
	/* A bracket at the start is one of the characters. */
	do
		TRY(read_item(s, c, depth));
	while (*s->at != ']');
	s->at++;
	return ATTN_OK;
}

enum attn_status pattern_class(struct pattern_scan *s, struct buffer *out)
{
	struct class c = {.negated = false};
	enum attn_status status = read_class(s, &c, 0);
	if (status == ATTN_OK)
		write_class(&c, out);
	out->failed |= c.plain.failed || c.others.failed || c.ahead.failed;
	class_release(&c);
	return status;
}
