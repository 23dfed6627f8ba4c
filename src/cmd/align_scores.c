#include "cmd/align_scores.h"

#include <math.h>
#include <stdlib.h>

#include "files/input.h"
#include "util/memory.h"

/* --- the gold standard ------------------------------------------------------------------------ */

static enum attn_status read_gold(struct align_scores *s, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open_text(&bytes, s->path, err));
	enum attn_status status =
	    gold_parse(&s->gold, (const char *)bytes.data, bytes.length, s->first, s->reversed, err);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, s->path);
	file_bytes_release(&bytes);
	return status;
}

enum attn_status align_scores_gold(const struct align_scores *s, const struct align_input *input,
				   size_t sentence, const struct link_list **out, struct attn_error *err)
{
	static const struct link_list none = {0};
	*out = &none;
	if (sentence >= s->gold.count && s->gold.naacl)
		return ATTN_OK;
	if (sentence >= s->gold.count)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' has %zu sentences, and the inputs have more: expected a line for each",
				 s->path, s->gold.count);
	const struct gold_sentence *gold = &s->gold.sentences[sentence];
	*out = &gold->links;
	for (size_t i = 0; i < gold->links.count; i++) {
		const struct link *link = &gold->links.items[i];
		if (link->source < input->source_count && link->target < input->target_count)
			continue;
		size_t from = s->gold.naacl ? 1 : s->first;
		return attn_fail(err, ATTN_BAD_INPUT,
				 "%s: line %zu: source word %zu and target word %zu are linked, and sentence "
				 "%zu has %zu and %zu, counted from %zu",
				 s->path, gold->line, link->source + from, link->target + from,
				 s->gold.naacl ? sentence + 1 : sentence, input->source_count,
				 input->target_count, from);
	}
	return ATTN_OK;
}

/* --- counting --------------------------------------------------------------------------------- */

enum attn_status align_scores_begin(struct align_scores *s, const char *list, struct attn_error *err)
{
	static const char *const names[] = {"links",     "sure",   "possible", "found_sure", "found_possible",
					    "precision", "recall", "f1",       "aer"};
	struct table_columns *columns = &s->table.columns;
	TRY(read_gold(s, err));
	if (s->by_head) {
		table_add_column(columns, "layer");
		table_add_column(columns, "head");
	} else if (s->each) {
		table_add_column(columns, "sentence");
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(columns, names[i]);
	return table_choose(columns, list, err);
}

static struct score_line *add_line(struct align_scores *s)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct score_line *lines = reallocarray(s->lines, room, sizeof *lines);
		if (!lines)
			return NULL;
		s->lines = lines;
		s->room = room;
	}
	s->lines[s->count] = (struct score_line){0};
	return &s->lines[s->count++];
}

static bool is_chosen(const struct align_input *input, size_t layer, size_t head)
{
	return rows_chosen(input->selected.layers, layer) && rows_chosen(input->selected.heads, head);
}

/* The lines that the first input makes: of its heads, or of all sentences. */
static enum attn_status first_lines(struct align_scores *s, const struct align_input *input,
				    struct attn_error *err)
{
	const struct rows_info *info = input->in.info;
	s->shape = info->shape;
	if (!s->by_head) {
		struct score_line *line = add_line(s);
		if (!line)
			return attn_fail_memory(err);
		line->total = true;
		return ATTN_OK;
	}
	for (size_t l = 0; l < s->shape.layers; l++) {
		for (size_t h = 0; h < s->shape.heads; h++) {
			struct score_line *line = is_chosen(input, l, h) ? add_line(s) : NULL;
			if (!line && is_chosen(input, l, h))
				return attn_fail_memory(err);
			if (line)
				*line = (struct score_line){.layer = layer_number(info, l),
							    .head = head_number(info, h)};
		}
	}
	return ATTN_OK;
}

static enum attn_status count_links(const struct align_input *input, size_t batch, size_t layer, size_t head,
				    const struct link_list *gold, struct link_counts *counts,
				    struct attn_error *err)
{
	struct link_list links = {0};
	enum attn_status status = align_input_links(input, batch, layer, head, &links, err);
	if (status == ATTN_OK)
		link_counts_add(counts, &links, gold);
	link_list_release(&links);
	return status;
}

enum attn_status align_scores_add(struct align_scores *s, const struct align_input *input, size_t sentence,
				  size_t batch, struct attn_error *err)
{
	const struct rows_shape *shape = &input->in.info->shape;
	const struct link_list *gold;
	TRY(align_scores_gold(s, input, sentence, &gold, err));
	if (s->count == 0)
		TRY(first_lines(s, input, err));
	if (!s->by_head) {
		struct link_counts counts = {0};
		TRY(count_links(input, batch, 0, 0, gold, &counts, err));
		link_counts_join(&s->lines[0].counts, &counts);
		struct score_line *line = s->each ? add_line(s) : NULL;
		if (s->each && !line)
			return attn_fail_memory(err);
		if (line)
			*line = (struct score_line){.sentence = sentence, .counts = counts};
		return ATTN_OK;
	}
	if (shape->heads != s->shape.heads || shape->layers != s->shape.layers)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "sentence %zu has %zu layers of %zu heads, and those before have %zu of %zu: "
		    "expected the same for '--by-head'",
		    sentence, shape->layers, shape->heads, s->shape.layers, s->shape.heads);
	size_t at = 0;
	for (size_t l = 0; l < shape->layers; l++)
		for (size_t h = 0; h < shape->heads; h++)
			if (is_chosen(input, l, h))
				TRY(count_links(input, batch, l, h, gold, &s->lines[at++].counts, err));
	return ATTN_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

/* The lowest error rate first, and none last; all sentences below each. */
static int compare_lines(const void *a, const void *b)
{
	const struct score_line *x = a, *y = b;
	double p = link_error_rate(&x->counts), q = link_error_rate(&y->counts);
	if (isnan(p) != isnan(q))
		return isnan(p) ? 1 : -1;
	if (!isnan(p) && p != q)
		return p < q ? -1 : 1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->head < y->head ? -1 : x->head > y->head;
}

static void add_line_cells(struct align_scores *s, const struct score_line *line)
{
	const struct link_counts *c = &line->counts;
	struct table_writer *w = &s->table;
	if (s->by_head) {
		table_writer_count(w, line->layer);
		table_writer_count(w, line->head);
	} else if (s->each) {
		table_writer_name(w, line->sentence, line->total ? "all" : NULL);
	}
	const size_t counts[] = {c->found, c->sure, c->possible, c->found_sure, c->found_possible};
	const double figures[] = {link_precision(c), link_recall(c), link_f1(c), link_error_rate(c)};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		table_writer_count(w, counts[i]);
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		table_writer_figure(w, figures[i]);
	table_writer_end_row(w);
}

enum attn_status align_scores_write(struct align_scores *s, size_t sentences, const struct command *self,
				    struct attn_error *err)
{
	if (s->gold.count > sentences)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' has %zu sentences, and the inputs have %zu: expected a line for each",
				 s->path, s->gold.count, sentences);
	if (s->by_head)
		qsort(s->lines, s->count, sizeof *s->lines, compare_lines);
	table_writer_begin(&s->table, "scores");
	for (size_t i = s->by_head ? 0 : 1; i < s->count; i++)
		add_line_cells(s, &s->lines[i]);
	if (!s->by_head)
		add_line_cells(s, &s->lines[0]);
	table_writer_end(&s->table);
	return write_text(self, "-", &s->table.out, err);
}

void align_scores_release(struct align_scores *s)
{
	gold_release(&s->gold);
	free(s->lines);
	table_writer_release(&s->table);
}
