#include "files/conllu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

enum {
	ID,
	FORM,
	HEAD = 6,
	DEPREL,
	COLUMNS /* that are read, of ten */
};

struct parser {
	struct conllu *out;
	size_t sentence, line;
	size_t first;     /* word of this sentence */
	size_t range_end; /* the last id of the words that share the form before, or 0 */
};

/* The relations of a treebank are some dozens; a file with very many is none. */
enum {
	MOST_RELATIONS = 1000
};

static enum attn_status find_relation(struct parser *p, const char *name, size_t *out, struct attn_error *err)
{
	struct string_list *list = &p->out->relations;
	for (*out = 0; *out < list->count; (*out)++)
		if (strcmp(list->items[*out], name) == 0)
			return ATTN_OK;
	if (list->count == MOST_RELATIONS)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: more than %d relations", p->line,
				 MOST_RELATIONS);
	return string_list_add(list, name) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status add_word(struct parser *p, char *const columns[COLUMNS], struct attn_error *err)
{
	struct conllu *c = p->out;
	size_t id = c->count - p->first + 1, head = 0;
	struct conllu_word word = {.sentence = p->sentence, .line = p->line, .head = SIZE_MAX};
	if (strcmp(columns[HEAD], "_") != 0 && !parse_count(columns[HEAD], &head))
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: head is '%s', expected a number", p->line,
				 columns[HEAD]);
	if (head > 0)
		word.head = head; /* an id, until the sentence ends */
	TRY(find_relation(p, columns[DEPREL], &word.relation, err));
	if (id > p->range_end && !string_list_add(&c->forms, columns[FORM]))
		return attn_fail_memory(err);
	word.surface = c->forms.count - 1;
	if (c->count == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct conllu_word *words = reallocarray(c->words, room, sizeof *words);
		if (!words)
			return attn_fail_memory(err);
		c->words = words;
		c->room = room;
	}
	c->words[c->count++] = word;
	return ATTN_OK;
}

/* "3-4", whose form stands in the text for those of words 3 and 4. */
static enum attn_status begin_range(struct parser *p, char *id, const char *form, struct attn_error *err)
{
	size_t first, expected = p->out->count - p->first + 1;
	char *dash = strchr(id, '-');
	*dash = '\0';
	if (!parse_count(id, &first) || !parse_count(dash + 1, &p->range_end) || first != expected ||
	    p->range_end <= first)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: id is '%s-%s', expected '%zu-' and more",
				 p->line, id, dash + 1, expected);
	return string_list_add(&p->out->forms, form) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status end_sentence(struct parser *p, struct attn_error *err)
{
	struct conllu *c = p->out;
	size_t count = c->count - p->first;
	for (size_t i = p->first; i < c->count; i++) {
		struct conllu_word *word = &c->words[i];
		if (word->head == SIZE_MAX)
			continue;
		if (word->head > count)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "line %zu: head is %zu, expected 0 to %zu, the words of its sentence", word->line,
			    word->head, count);
		word->head += p->first - 1;
	}
	p->sentence += count > 0;
	p->first = c->count;
	p->range_end = 0;
	return ATTN_OK;
}

static enum attn_status parse_line(struct parser *p, char *line, struct attn_error *err)
{
	char *columns[COLUMNS], *rest = line;
	size_t id, count = 0;
	if (*line == '\0')
		return end_sentence(p, err);
	if (*line == '#')
		return ATTN_OK;
	while (count < COLUMNS && rest)
		columns[count++] = strsep(&rest, "\t");
	if (count < COLUMNS)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: %zu columns, expected ten, by tabs", p->line,
				 count);
	if (strchr(columns[ID], '.')) /* an empty node, which is not in the text */
		return ATTN_OK;
	if (strchr(columns[ID], '-'))
		return begin_range(p, columns[ID], columns[FORM], err);
	if (!parse_count(columns[ID], &id) || id != p->out->count - p->first + 1)
		return attn_fail(err, ATTN_BAD_INPUT, "line %zu: id is '%s', expected %zu", p->line,
				 columns[ID], p->out->count - p->first + 1);
	return add_word(p, columns, err);
}

enum attn_status conllu_parse(struct conllu *out, const char *text, size_t length, struct attn_error *err)
{
	struct parser p = {.out = out};
	enum attn_status status = ATTN_OK;
	*out = (struct conllu){0};
	while (length > 0 && status == ATTN_OK) {
		const char *end = memchr(text, '\n', length);
		size_t size = end ? (size_t)(end - text) : length;
		char *line = strndup(text, size > 0 && text[size - 1] == '\r' ? size - 1 : size);
		p.line++;
		status = line ? parse_line(&p, line, err) : attn_fail_memory(err);
		free(line);
		size += end ? 1 : 0;
		text += size;
		length -= size;
	}
	return status == ATTN_OK ? end_sentence(&p, err) : status;
}

void conllu_release(struct conllu *c)
{
	free(c->words);
	string_list_release(&c->forms);
	string_list_release(&c->relations);
	*c = (struct conllu){0};
}
