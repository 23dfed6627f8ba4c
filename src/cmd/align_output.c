#include "cmd/align_output.h"

#include "cmd/columns.h"

enum attn_status align_output_begin(struct align_output *o, const char *list, struct attn_error *err)
{
	static const char *const names[] = {"sentence",     "source", "source_token", "target",
					    "target_token", "weight", "confidence"};
	struct table_writer *w = &o->table;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(&w->columns, names[i]);
	TRY(table_choose(&w->columns, list, err));
	if (w->format != TABLE_DEFAULT)
		table_writer_begin(w, "links");
	return ATTN_OK;
}

/* "0-0 1-2:0.8312" */
static void add_pharaoh(struct align_output *o, const struct align_input *input,
			const struct link_list *links)
{
	struct buffer *out = &o->table.out;
	for (size_t i = 0; i < links->count; i++) {
		const struct link *link = &links->items[i];
		size_t source = input->sources[link->source], target = input->targets[link->target];
		buffer_printf(out, "%s%zu-%zu", i ? " " : "", o->reverse ? target : source,
			      o->reverse ? source : target);
		if (o->confidence) {
			char figure[FIGURE_SIZE];
			figure_format(link->confidence, figure);
			buffer_printf(out, ":%s", figure);
		}
	}
	buffer_add_char(out, '\n');
}

static void add_rows(struct align_output *o, const struct align_input *input, size_t sentence,
		     const struct link_list *links)
{
	struct table_writer *w = &o->table;
	const struct inputs *in = &input->in;
	bool people = w->format == TABLE_TEXT;
	const struct string_list *sources = people ? &in->shown_keys : &in->info->key_labels;
	const struct string_list *targets = people ? &in->shown_queries : &in->info->query_labels;
	for (size_t i = 0; i < links->count; i++) {
		const struct link *link = &links->items[i];
		table_writer_count(w, sentence);
		table_writer_count(w, input->sources[link->source]);
		table_writer_text(w, sources->items[link->source]);
		table_writer_count(w, input->targets[link->target]);
		table_writer_text(w, targets->items[link->target]);
		table_writer_figure(w, link->weight);
		table_writer_figure(w, link->confidence);
		table_writer_end_row(w);
	}
}

/* By target, then source, as --reverse has them. */
static void swap(struct link_list *links)
{
	for (size_t i = 0; i < links->count; i++) {
		struct link *link = &links->items[i];
		size_t source = link->source;
		link->source = link->target;
		link->target = source;
	}
}

enum attn_status align_output_add(struct align_output *o, const struct align_input *input, size_t sentence,
				  size_t batch, struct attn_error *err)
{
	struct link_list links = {0};
	enum attn_status status = alignment_links(&input->alignment, batch, 0, 0, &links, err);
	if (status == ATTN_OK && o->reverse) {
		swap(&links);
		link_list_sort(&links);
		swap(&links);
	}
	if (status == ATTN_OK && o->table.format == TABLE_DEFAULT)
		add_pharaoh(o, input, &links);
	else if (status == ATTN_OK)
		add_rows(o, input, sentence, &links);
	link_list_release(&links);
	return status;
}

enum attn_status align_output_write(struct align_output *o, const char *path, const struct command *self,
				    struct attn_error *err)
{
	if (o->table.format != TABLE_DEFAULT)
		table_writer_end(&o->table);
	return write_text(self, path, &o->table.out, err);
}

void align_output_release(struct align_output *o)
{
	table_writer_release(&o->table);
}
