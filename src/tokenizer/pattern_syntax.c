/* Oniguruma's patterns for PCRE2: groups, quantifiers and what stands between them. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/pattern.h"
#include "tokenizer/pattern_set.h"
#include "util/utf8.h"

enum {
	MAX_GROUPS = 64, /* within each other */
};

struct translation {
	struct pattern_scan scan;
	struct buffer *out;
	size_t groups[MAX_GROUPS]; /* where those that are open begin in *out */
	size_t depth;
	size_t atom; /* where what a quantifier would repeat begins */
};

/* Options of a group: (?i), (?im-x:; only i and m, which is the s of PCRE2. */
static enum attn_status read_options(struct translation *t)
{
	const char *start = t->scan.at;
	for (; *t->scan.at && strchr("im-", *t->scan.at); t->scan.at++)
		buffer_add_char(t->out, *t->scan.at == 'm' ? 's' : *t->scan.at);
	if (t->scan.at > start && *t->scan.at == ')') {
		/* Until the end of the group that it is in. */
		buffer_add_char(t->out, *t->scan.at++);
		t->atom = SIZE_MAX;
		return ATTN_OK;
	}
	if (*t->scan.at != ':')
		return pattern_unsupported(&t->scan, start - 2, (size_t)(t->scan.at - start) + 3);
	buffer_add_char(t->out, *t->scan.at++);
	t->groups[t->depth++] = t->atom;
	return ATTN_OK;
}

static enum attn_status read_open(struct translation *t)
{
	static const char *const kinds[] = {"?:", "?=", "?!", "?>", "?<=", "?<!"};
	const char *at = t->scan.at + 1;
	if (t->depth == MAX_GROUPS)
		return pattern_unsupported(&t->scan, "(", 1);
	if (strncmp(at, "?#", 2) == 0) {
		t->scan.at = strchr(at, ')');
		if (!t->scan.at)
			return pattern_unsupported(&t->scan, at - 1, 3);
		t->scan.at++;
		return ATTN_OK;
	}
	t->atom = t->out->length;
	if (*at == '*')
		return pattern_unsupported(&t->scan, at - 1, 2);
	size_t length = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strncmp(at, kinds[i], strlen(kinds[i])) == 0)
			length = strlen(kinds[i]);
	buffer_add_char(t->out, '(');
	if (*at == '?' && length == 0) {
		if (strncmp(at, "?<", 2) != 0) {
			buffer_add_char(t->out, '?');
			t->scan.at = at + 1;
			return read_options(t);
		}
		length = strcspn(at, ">") + 1; /* a name, which PCRE2 checks */
		if (length > strlen(at))
			return pattern_unsupported(&t->scan, at - 1, 3);
	}
	buffer_add(t->out, at, length);
	t->groups[t->depth++] = t->atom;
	t->scan.at = at + length;
	return ATTN_OK;
}

static enum attn_status read_close(struct translation *t)
{
	if (t->depth == 0)
		return pattern_unsupported(&t->scan, ")", 1);
	t->atom = t->groups[--t->depth];
	buffer_add_char(t->out, *t->scan.at++);
	return ATTN_OK;
}

/* Put what the last quantifier is part of into a group of its own. */
static enum attn_status group_atom(struct translation *t)
{
	char *atom = strdup(t->out->data + t->atom);
	if (!atom)
		return attn_fail_memory(t->scan.err);
	t->out->length = t->atom;
	buffer_printf(t->out, "(?:%s)", atom);
	free(atom);
	return ATTN_OK;
}

/* {n}, {n,}, {,m} or {n,m}: its length, or 0 for a brace that is none. */
static size_t interval_length(const char *at)
{
	size_t first = strspn(at + 1, "0123456789");
	size_t length = 1 + first;
	if (at[length] == ',') {
		size_t second = strspn(at + length + 1, "0123456789");
		if (first + second == 0)
			return 0;
		length += 1 + second;
	} else if (first == 0) {
		return 0;
	}
	return at[length] == '}' ? length + 1 : 0;
}

/* An interval.  What follows {n,m} is a quantifier of its own where it is '+', as is what follows {n}
 * where it is '?': neither is possessive, or lazy, as for PCRE2. */
static enum attn_status read_interval(struct translation *t, size_t length)
{
	const char *at = t->scan.at;
	bool exact = !memchr(at, ',', length);
	if (t->atom == SIZE_MAX)
		return pattern_unsupported(&t->scan, at, length);
	if (at[1] == ',')
		buffer_printf(t->out, "{0%.*s", (int)length - 1, at + 1);
	else
		buffer_add(t->out, at, length);
	t->scan.at = at + length;
	if (t->out->failed)
		return attn_fail_memory(t->scan.err);
	if (*t->scan.at == '+' || (*t->scan.at == '?' && exact))
		return group_atom(t);
	if (*t->scan.at == '?')
		buffer_add_char(t->out, *t->scan.at++);
	t->atom = SIZE_MAX;
	return ATTN_OK;
}

static enum attn_status read_quantifier(struct translation *t)
{
	if (t->atom == SIZE_MAX)
		return pattern_unsupported(&t->scan, t->scan.at, 1);
	buffer_add_char(t->out, *t->scan.at++);
	if (*t->scan.at == '+' || *t->scan.at == '?')
		buffer_add_char(t->out, *t->scan.at++);
	t->atom = SIZE_MAX;
	return ATTN_OK;
}

static enum attn_status read_escape(struct translation *t)
{
	struct pattern_set set;
	bool found = false;
	t->scan.at++;
	char c = *t->scan.at;
	t->atom = t->out->length;
	TRY(pattern_set_escape(&t->scan, &set, &found));
	if (found) {
		buffer_printf(t->out, "[%s%s]", set.negated ? "^" : "", set.content);
		return ATTN_OK;
	}
	if (c == 'b') {
		buffer_printf(t->out, "(?:(?<=[%s])(?![%s])|(?<![%s])(?=[%s]))", PATTERN_WORD, PATTERN_WORD,
			      PATTERN_WORD, PATTERN_WORD);
	} else if (c == 'B') {
		buffer_printf(t->out, "(?:(?<=[%s])(?=[%s])|(?<![%s])(?![%s]))", PATTERN_WORD, PATTERN_WORD,
			      PATTERN_WORD, PATTERN_WORD);
	} else if (c == 'O') {
		buffer_add_string(t->out, "(?s:.)");
	} else if (c && strchr("AZzGKXRN", c)) {
		buffer_printf(t->out, "\\%c", c);
	} else if (c == 'k' || c == 'g') {
		size_t length = strcspn(t->scan.at, ">") + 1;
		if (t->scan.at[1] != '<' || length > strlen(t->scan.at))
			return pattern_unsupported(&t->scan, t->scan.at - 1, 3);
		buffer_add_char(t->out, '\\');
		buffer_add(t->out, t->scan.at, length);
		t->scan.at += length;
		return ATTN_OK;
	} else {
		return pattern_character_escape(&t->scan, t->out);
	}
	t->scan.at++;
	return ATTN_OK;
}

static enum attn_status read_next(struct translation *t)
{
	const char *at = t->scan.at;
	size_t interval = *at == '{' ? interval_length(at) : 0;
	size_t step = utf8_step(at, strlen(at));
	switch (*at) {
	case '\\':
		return read_escape(t);
	case '[':
		t->atom = t->out->length;
		return pattern_class(&t->scan, t->out);
	case '(':
		return read_open(t);
	case ')':
		return read_close(t);
	case '*':
	case '+':
	case '?':
		return read_quantifier(t);
	case '|':
	case '^':
	case '$':
		t->atom = SIZE_MAX;
		break;
	default:
		if (interval)
			return read_interval(t, interval);
		t->atom = t->out->length;
		if (strchr("{}]#", *at))
			buffer_add_char(t->out, '\\');
	}
	buffer_add(t->out, at, step);
	t->scan.at += step;
	return ATTN_OK;
}

enum attn_status pattern_translate(const char *regex, struct buffer *out, struct attn_error *err)
{
	struct translation t = {
	    .scan = {.regex = regex, .at = regex, .err = err}, .out = out, .atom = SIZE_MAX};
	buffer_add_string(out, "");
	while (*t.scan.at && !out->failed)
		TRY(read_next(&t));
	if (t.depth > 0)
		return pattern_unsupported(&t.scan, "(", 1);
	return out->failed ? attn_fail_memory(err) : ATTN_OK;
}
