#include "cmd/pairs_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/conllu.h"
#include "files/input.h"
#include "tokens/token.h"
#include "util/memory.h"

enum {
	MOST_PAIRS = 1 << 20
};

struct pair_search {
	struct pairs_list *out;
	const struct pairs_request *request;
	const struct inputs *in;
	struct spelling queries, keys;
	const char *file; /* in messages; NULL for the operand */
	size_t line;
};

static enum attn_status add(struct pairs_list *list, struct span query, struct span key, size_t group,
			    struct attn_error *err)
{
	if (list->count == MOST_PAIRS)
		return attn_fail(err, ATTN_USAGE, "more than %d pairs: give indices such as '#8'",
				 MOST_PAIRS);
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct pair *items = reallocarray(list->items, room, sizeof *items);
		if (!items)
			return attn_fail_memory(err);
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = (struct pair){query, key, group};
	return ATTN_OK;
}

/* --- sides of a pair -------------------------------------------------------------------- */

/* The token of a number; the count when there is none.  Numbers ascend. */
static size_t find_number(const size_t *numbers, size_t count, size_t number)
{
	size_t i = number < count ? number : count;
	if (numbers)
		for (i = 0; i < count && numbers[i] != number; i++)
			continue;
	return i;
}

static enum attn_status find_side(const struct pair_search *f, const char *text, bool key,
				  struct span_list *out, struct attn_error *err)
{
	const struct spelling *s = key ? &f->keys : &f->queries;
	const size_t *numbers = key ? f->in->info->key_numbers : f->in->info->query_numbers;
	size_t first, last, count = s->raw->count;
	const char *among = key ? "keys" : "queries";
	char where[300] = "";
	if (f->file)
		snprintf(where, sizeof where, "'%.200s': line %zu: ", f->file, f->line);
	if (span_indices(text, &first, &last)) {
		size_t from = find_number(numbers, count, first), to = find_number(numbers, count, last);
		if (to == count || from > to)
			return attn_fail(err, ATTN_NO_MATCH, "%s'%s' is not among the %zu %s", where, text,
					 count, among);
		return span_list_add(out, (struct span){from, to + 1}) ? ATTN_OK : attn_fail_memory(err);
	}
	if (!spelling_find(s, text, out))
		return attn_fail_memory(err);
	if (out->count > 0)
		return ATTN_OK;
	size_t near = token_nearest(text, s->shown);
	if (near < s->shown->count)
		return attn_fail(err, ATTN_NO_MATCH, "%s'%s' is not among the %zu %s, did you mean '%s'",
				 where, text, count, among, s->shown->items[near]);
	return attn_fail(err, ATTN_NO_MATCH, "%s'%s' is not among the %zu %s", where, text, count, among);
}

/* Each place of the one text with each of the other. */
static enum attn_status add_texts(const struct pair_search *f, const char *query, const char *key,
				  size_t group, struct attn_error *err)
{
	struct span_list queries = {0}, keys = {0};
	enum attn_status status = find_side(f, f->request->reverse ? key : query, false, &queries, err);
	if (status == ATTN_OK)
		status = find_side(f, f->request->reverse ? query : key, true, &keys, err);
	for (size_t i = 0; i < queries.count && status == ATTN_OK; i++)
		for (size_t j = 0; j < keys.count && status == ATTN_OK; j++)
			status = add(f->out, queries.items[i], keys.items[j], group, err);
	span_list_release(&queries);
	span_list_release(&keys);
	return status;
}

/* --- the operand: it:animal,it:street -------------------------------------------------- */

/* Cut *rest at the next `mark` without a backslash before it. */
static char *next_part(char **rest, char mark)
{
	char *part = *rest, *at = part;
	while (*at && *at != mark)
		at += *at == '\\' && at[1] ? 2 : 1;
	*rest = *at ? at + 1 : NULL;
	*at = '\0';
	return part;
}

static void drop_backslashes(char *text)
{
	char *out = text;
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		*out++ = *text;
	}
	*out = '\0';
}

static enum attn_status parse_list(const struct pair_search *f, struct attn_error *err)
{
	char *copy = strdup(f->request->list), *rest = copy;
	enum attn_status status = copy ? ATTN_OK : attn_fail_memory(err);
	while (rest && status == ATTN_OK) {
		char *pair = next_part(&rest, ','), *query = next_part(&pair, ':');
		if (!pair || !*query || !*pair) {
			status = attn_fail(err, ATTN_USAGE,
					   "'%s' is not a list of pairs such as 'it:animal,#8:#3'",
					   f->request->list);
			break;
		}
		drop_backslashes(query);
		drop_backslashes(pair);
		status = add_texts(f, query, pair, 0, err);
	}
	free(copy);
	return status;
}

/* --- a table ------------------------------------------------------------------------------ */

/* Whether a relation is the one asked for, or a kind of it: "nsubj" takes "nsubj:pass". */
static bool is_wanted(const struct pair_search *f, const char *relation)
{
	const char *wanted = f->request->relation;
	size_t length = wanted ? strlen(wanted) : 0;
	return !wanted || (strncmp(relation, wanted, length) == 0 &&
			   (relation[length] == '\0' || relation[length] == ':'));
}

static enum attn_status find_group(const struct pair_search *f, const char *relation, size_t *group,
				   struct attn_error *err)
{
	struct string_list *names = &f->out->relations;
	for (*group = 0; *group < names->count; (*group)++)
		if (strcmp(names->items[*group], relation) == 0)
			return ATTN_OK;
	if (names->count == 1000)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': line %zu: more than 1000 relations", f->file,
				 f->line);
	return string_list_add(names, relation) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status parse_table_line(const struct pair_search *f, char *line, struct attn_error *err)
{
	char *rest = line, *query = strsep(&rest, "\t"), *key = rest ? strsep(&rest, "\t") : NULL;
	const char *relation = rest ? strsep(&rest, "\t") : "";
	size_t group = 0;
	if (*line == '\0' && !key)
		return ATTN_OK;
	if (!key || !*query || !*key || rest)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': line %zu: expected a query, a tab and a key, and maybe a relation",
				 f->file, f->line);
	if (!is_wanted(f, relation))
		return ATTN_OK;
	TRY(find_group(f, relation, &group, err));
	return add_texts(f, query, key, group, err);
}

static enum attn_status parse_table(struct pair_search *f, const char *text, size_t length,
				    struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	while (length > 0 && status == ATTN_OK) {
		const char *end = memchr(text, '\n', length);
		size_t size = end ? (size_t)(end - text) : length;
		char *line = strndup(text, size > 0 && text[size - 1] == '\r' ? size - 1 : size);
		f->line++;
		status = line ? parse_table_line(f, line, err) : attn_fail_memory(err);
		free(line);
		size += end ? 1 : 0;
		text += size;
		length -= size;
	}
	return status;
}

/* --- dependency trees -------------------------------------------------------------------- */

static void fold(struct buffer *text)
{
	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] >= 'A' && text->data[i] <= 'Z')
			text->data[i] = (char)(text->data[i] - 'A' + 'a');
}

/* The tokens of each form, for forms [first, end) of a sentence, which stands behind *from in what
 * the tokens spell. */
static enum attn_status match_sentence(const struct pair_search *f, const struct conllu *c,
				       struct spelling *s, size_t first, size_t end, size_t *from,
				       struct span *spans, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	enum attn_status status = ATTN_OK;
	for (size_t i = first; i < end; i++)
		spelling_add(&text, c->forms.items[i]);
	if (text.failed)
		status = attn_fail_memory(err);
	fold(&text);
	const char *at = text.length > 0 && s->text.length > *from
			     ? memmem(s->text.data + *from, s->text.length - *from, text.data, text.length)
			     : NULL;
	if (status == ATTN_OK && !at)
		status = attn_fail(err, ATTN_NO_MATCH,
				   "'%s': the tokens do not spell its sentence '%.40s...', which begins with "
				   "word '%s'",
				   f->file, text.length ? text.data : "", c->forms.items[first]);
	size_t place = at ? (size_t)(at - s->text.data) : 0;
	for (size_t i = first; i < end && status == ATTN_OK; i++) {
		buffer_clear(&text);
		spelling_add(&text, c->forms.items[i]);
		if (text.length == 0)
			status = attn_fail(err, ATTN_BAD_INPUT, "'%s': a word has no form", f->file);
		else
			spans[i] = spelling_span(s, place, place + text.length);
		place += text.length;
	}
	*from = place;
	buffer_release(&text);
	return status;
}

static enum attn_status match_sentences(const struct pair_search *f, const struct conllu *c,
					struct spelling *s, struct span *spans, struct attn_error *err)
{
	size_t from = 0;
	fold(&s->text);
	for (size_t w = 0; w < c->count;) {
		size_t first = w;
		while (w < c->count && c->words[w].sentence == c->words[first].sentence)
			w++;
		TRY(match_sentence(f, c, s, c->words[first].surface, c->words[w - 1].surface + 1, &from,
				   spans, err));
	}
	return ATTN_OK;
}

static enum attn_status add_trees(struct pair_search *f, const struct conllu *c, struct span *queries,
				  struct span *keys, struct attn_error *err)
{
	TRY(match_sentences(f, c, &f->queries, queries, err));
	TRY(match_sentences(f, c, &f->keys, keys, err));
	for (size_t i = 0; i < c->count; i++) {
		const struct conllu_word *word = &c->words[i];
		const char *relation = c->relations.items[word->relation];
		size_t group;
		if (word->head == SIZE_MAX || !is_wanted(f, relation))
			continue;
		size_t head = c->words[word->head].surface;
		f->line = word->line;
		TRY(find_group(f, relation, &group, err));
		if (f->request->reverse)
			TRY(add(f->out, queries[head], keys[word->surface], group, err));
		else
			TRY(add(f->out, queries[word->surface], keys[head], group, err));
	}
	return ATTN_OK;
}

static enum attn_status parse_trees(struct pair_search *f, const char *text, size_t length,
				    struct attn_error *err)
{
	struct conllu c;
	struct span *queries = NULL, *keys = NULL;
	enum attn_status status = conllu_parse(&c, text, length, err);
	if (status == ATTN_BAD_INPUT && err)
		attn_error_prefix(err, f->file);
	if (status == ATTN_OK) {
		queries = array_alloc(c.forms.count, sizeof *queries);
		keys = array_alloc(c.forms.count, sizeof *keys);
		status = queries && keys ? add_trees(f, &c, queries, keys, err) : attn_fail_memory(err);
	}
	free(queries);
	free(keys);
	conllu_release(&c);
	return status;
}

/* --- all of them --------------------------------------------------------------------------- */

static enum attn_status parse_file(struct pair_search *f, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open_text(&bytes, f->file, err));
	enum attn_status status = f->request->conllu
				      ? parse_trees(f, (const char *)bytes.data, bytes.length, err)
				      : parse_table(f, (const char *)bytes.data, bytes.length, err);
	file_bytes_release(&bytes);
	if (status == ATTN_OK && f->out->count == 0)
		return f->request->relation
			   ? attn_fail(err, ATTN_NO_MATCH, "'%s' has no pair of relation '%s'", f->file,
				       f->request->relation)
			   : attn_fail(err, ATTN_BAD_INPUT, "'%s' has no pairs", f->file);
	return status;
}

enum attn_status pairs_list_open(struct pairs_list *list, const struct pairs_request *request,
				 const struct inputs *in, struct attn_error *err)
{
	struct pair_search f = {.out = list,
				.request = request,
				.in = in,
				.file = request->conllu ? request->conllu : request->file};
	enum attn_status status = ATTN_OK;
	*list = (struct pairs_list){0};
	if (!spelling_init(&f.queries, &in->info->query_labels, &in->shown_queries) ||
	    !spelling_init(&f.keys, &in->info->key_labels, &in->shown_keys))
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = f.file ? parse_file(&f, err) : parse_list(&f, err);
	/* A table without relations has one group without a name. */
	if (list->relations.count == 1 && *list->relations.items[0] == '\0')
		string_list_release(&list->relations);
	spelling_release(&f.queries);
	spelling_release(&f.keys);
	return status;
}

void pairs_list_release(struct pairs_list *list)
{
	free(list->items);
	string_list_release(&list->relations);
	*list = (struct pairs_list){0};
}
