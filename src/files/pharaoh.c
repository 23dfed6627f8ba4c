#include "files/pharaoh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

struct parser {
	struct gold *out;
	size_t line, first;
	bool reversed;
};

static enum attn_status reserve_sentences(struct gold *gold, size_t count, struct attn_error *err)
{
	while (gold->count < count) {
		if (gold->count == gold->room) {
			size_t room = gold->room ? 2 * gold->room : 64;
			struct gold_sentence *sentences =
			    reallocarray(gold->sentences, room, sizeof *sentences);
			if (!sentences)
				return attn_fail_memory(err);
			gold->sentences = sentences;
			gold->room = room;
		}
		gold->sentences[gold->count++] = (struct gold_sentence){0};
	}
	return ATTN_OK;
}

/* The next field of *rest, ended by a NUL in place; NULL: there is none. */
static char *next_field(char **rest)
{
	char *field = *rest + strspn(*rest, " \t\r");
	size_t length = strcspn(field, " \t\r");
	*rest = field + length + (field[length] != '\0');
	field[length] = '\0';
	return length ? field : NULL;
}

static enum attn_status add_link(const struct parser *p, struct gold_sentence *sentence, size_t a, size_t b,
				 bool possible, struct attn_error *err)
{
	struct link link = {
	    .source = p->reversed ? b : a, .target = p->reversed ? a : b, .possible = possible};
	return link_list_add(&sentence->links, link) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status parse_pharaoh_link(const struct parser *p, struct gold_sentence *sentence,
					   char *field, struct attn_error *err)
{
	size_t a, b, at = strspn(field, "0123456789");
	char sign = field[at];
	if (sign == '\0' || !strchr("-p?", sign))
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "line %zu: '%s' is no link, expected such as '0-1', or '0p1' for a possible one", p->line,
		    field);
	field[at] = '\0';
	bool numbers = parse_count(field, &a) && parse_count(field + at + 1, &b);
	field[at] = sign;
	if (!numbers)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "line %zu: '%s' is no link, expected such as '0-1', or '0p1' for a possible one", p->line,
		    field);
	if (a < p->first || b < p->first)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: '%s' has word 0, and words count from 1",
				 p->line, field);
	return add_link(p, sentence, a - p->first, b - p->first, sign != '-', err);
}

/* "12\t0-0 1-1" */
static void skip_number(char **line)
{
	size_t digits = strspn(*line, "0123456789");
	if (digits > 0 && (*line)[digits] == '\t')
		*line += digits + 1;
}

static enum attn_status parse_pharaoh_line(struct parser *p, char *line, struct attn_error *err)
{
	struct gold *gold = p->out;
	char *field;
	if (gold->count == GOLD_SENTENCES)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: more than %d sentences", p->line,
				 GOLD_SENTENCES);
	TRY(reserve_sentences(gold, gold->count + 1, err));
	struct gold_sentence *sentence = &gold->sentences[gold->count - 1];
	sentence->line = p->line;
	skip_number(&line);
	while ((field = next_field(&line)))
		TRY(parse_pharaoh_link(p, sentence, field, err));
	return ATTN_OK;
}

/* "1 1 2 S 0.9" */
static enum attn_status parse_naacl_line(struct parser *p, char *line, struct attn_error *err)
{
	char *fields[6] = {NULL};
	size_t count = 0, numbers[3];
	double confidence;
	while (count < 6 && (fields[count] = next_field(&line)))
		count++;
	if (count == 0)
		return ATTN_OK;
	bool valid = count >= 3 && count <= 5;
	for (size_t i = 0; i < 3 && valid; i++)
		valid = parse_count(fields[i], &numbers[i]);
	bool possible = valid && count > 3 && strcmp(fields[3], "P") == 0;
	valid = valid && (count < 4 || possible || strcmp(fields[3], "S") == 0) &&
		(count < 5 || parse_number(fields[4], &confidence));
	if (!valid)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "line %zu: expected the numbers of a sentence, a source word and a target "
				 "word, and S or P",
				 p->line);
	if (numbers[0] == 0 || numbers[0] > GOLD_SENTENCES)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: sentence '%s', expected one from 1 to %d",
				 p->line, fields[0], GOLD_SENTENCES);
	TRY(reserve_sentences(p->out, numbers[0], err));
	struct gold_sentence *sentence = &p->out->sentences[numbers[0] - 1];
	if (sentence->line == 0)
		sentence->line = p->line;
	if (numbers[1] == 0 || numbers[2] == 0)
		return ATTN_OK;
	return add_link(p, sentence, numbers[1] - 1, numbers[2] - 1, possible, err);
}

/* Whether the first line with anything in it has numbers alone, and no link of the other format. */
static bool is_naacl(const char *text)
{
	text += strspn(text, " \t\r\n");
	size_t length = strcspn(text, "\n"), first = strcspn(text, " \t\r\n");
	const char *next = text + first;
	while (next < text + length && strchr(" \t\r", *next))
		next++;
	size_t digits = strspn(text, "0123456789"), more = strspn(next, "0123456789");
	return digits > 0 && digits == first && more > 0 && strchr(" \t\r\n", next[more]) != NULL;
}

static enum attn_status parse_lines(struct parser *p, char *text, struct attn_error *err)
{
	char *rest = text, *line;
	p->out->naacl = is_naacl(text);
	while ((line = strsep(&rest, "\n"))) {
		p->line++;
		if (!rest && *line == '\0')
			break; /* behind the last line end */
		TRY(p->out->naacl ? parse_naacl_line(p, line, err) : parse_pharaoh_line(p, line, err));
	}
	return ATTN_OK;
}

enum attn_status gold_parse(struct gold *out, const char *text, size_t length, size_t first, bool reversed,
			    struct attn_error *err)
{
	struct parser p = {.out = out, .first = first, .reversed = reversed};
	*out = (struct gold){0};
	if (length > 0 && memchr(text, '\0', length))
		return attn_fail(err, ATTN_BAD_INPUT, "a byte 0, expected a text");
	char *copy = strndup(length ? text : "", length);
	enum attn_status status = copy ? parse_lines(&p, copy, err) : attn_fail_memory(err);
	for (size_t i = 0; i < out->count && status == ATTN_OK; i++)
		link_list_sort(&out->sentences[i].links);
	free(copy);
	return status;
}

void gold_release(struct gold *gold)
{
	for (size_t i = 0; i < gold->count; i++)
		link_list_release(&gold->sentences[i].links);
	free(gold->sentences);
	*gold = (struct gold){0};
}
