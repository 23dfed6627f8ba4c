#include "cmd/compare_picture.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/input_names.h"
#include "cmd/picture_format.h"
#include "util/memory.h"

enum attn_status compare_picture_check(struct compare_picture *p, struct attn_error *err)
{
	const char *ending = p->path ? path_ending(p->path) : NULL;
	if (!p->path && p->option)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a picture: it also requires -o FILE",
				 p->option);
	if (!p->path)
		return ATTN_OK;
	if (strcmp(p->path, "-") == 0)
		return attn_fail(err, ATTN_USAGE,
				 "'-o' is '-', expected a file: the table is on standard output");
	p->page = ending && ending_is_page(ending);
	if (p->page && p->option && strcmp(p->option, "title") != 0 && strcmp(p->option, "markers") != 0)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a picture, and '%s' is a page", p->option,
				 p->path);
	if (p->page || picture_format_check(p->path, NULL, &p->figure.heatmap.format, NULL) == ATTN_OK)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE, "'%s' ends in '.%s', expected .png, .svg, .pdf or .html", p->path,
			 ending);
}

/* --- what A and B are called -------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_name(const struct string_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], name) == 0)
			return true;
	return false;
}

static void add_part(struct buffer *text, size_t start, const char *word, const char *value)
{
	buffer_printf(text, "%s%s%s", text->length > start ? ", " : "", word, value);
}

/* "A: tired.npz", "B: layer 4": what a side has that the other has not, or, where that is nothing, its
 * files. */
static void add_side(struct buffer *text, const struct side *side, const struct side *other,
		     const struct string_list *names, const struct string_list *others)
{
	const char *layers = side->options.layers, *heads = side->options.heads;
	const char *words = side->in.model_options.text;
	buffer_printf(text, "%s: ", side->name);
	size_t start = text->length;
	for (size_t i = 0; i < names->count; i++)
		if (!has_name(others, names->items[i]))
			add_part(text, start, "", names->items[i]);
	if (words && !same_text(words, other->in.model_options.text)) {
		if (text->length == start)
			buffer_add_string(text, "text");
		input_text_start(text, words);
	}
	if (!same_text(layers, other->options.layers))
		add_part(text, start, "layer ", layers ? layers : "all");
	if (!same_text(heads, other->options.heads))
		add_part(text, start, "head ", heads ? heads : "all");
	for (size_t i = 0; text->length == start && i < names->count; i++)
		buffer_printf(text, "%s%s", i ? ", " : "", names->items[i]);
}

static enum attn_status name_sides(struct compare_picture *p, const struct sides *s, struct attn_error *err)
{
	const struct side *const sides[] = {&s->a, &s->b};
	struct string_list names[2] = {{0}, {0}};
	struct buffer text = BUFFER_INIT;
	bool ok = input_names(&s->a.in, &names[0]) && input_names(&s->b.in, &names[1]);
	for (size_t i = 0; i < 2 && ok; i++) {
		buffer_clear(&text);
		add_side(&text, sides[i], sides[1 - i], &names[i], &names[1 - i]);
		ok = !text.failed && string_list_add(&p->names, text.data);
	}
	buffer_release(&text);
	string_list_release(&names[0]);
	string_list_release(&names[1]);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* --- layout ------------------------------------------------------------------------------------------- */

/* A picture is of one batch item: the first, unless chosen. */
static enum attn_status choose_batch(struct compare_picture *p, const struct sides *s, struct attn_error *err)
{
	size_t count = s->in.info->shape.batch, found = 0, first = count;
	for (size_t i = count; i-- > 0;)
		if (rows_chosen(s->rows.batch, i)) {
			first = i;
			found++;
		}
	p->selected.batch = array_alloc(count, sizeof *p->selected.batch);
	if (!p->selected.batch)
		return attn_fail_memory(err);
	p->selected.batch[first] = true;
	if (found > 1)
		report_note(s->self, "drawing the first of %zu batch items: choose with --batch", found);
	return ATTN_OK;
}

static enum attn_status add_caption(struct compare_picture *p, struct sides *s, struct attn_error *err)
{
	struct inputs *in = &s->in;
	struct buffer note = BUFFER_INIT;
	buffer_printf(&note, "%s; %s", p->names.items[0], p->names.items[1]);
	if (in->note)
		buffer_printf(&note, "; %s", in->note);
	free(in->note);
	in->note = buffer_detach(&note);
	return in->note ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status open_heatmap(struct compare_picture *p, struct sides *s, struct attn_error *err)
{
	static const char *const scores[SCORE_STAGES] = {"unscaled scores", "scores", "scores after softcap",
							 "scores with masks and biases"};
	const struct rows_shape *shape = &s->in.info->shape;
	TRY(choose_batch(p, s, err));
	TRY(add_caption(p, s, err));
	p->figure.difference = true;
	p->figure.scores = s->kinds & HAS_WEIGHTS ? NULL : scores[s->stage];
	if (shape->layers > 1)
		p->figure.heatmap.panel_columns = shape->heads;
	TRY(figure_grids(&p->grids, &p->figure, s->in.info, &p->selected, shape->layers * shape->heads, err));
	return figures_init(&p->figures, s->self, &s->in, &p->figure, err);
}

static enum attn_status open_page(struct compare_picture *p, struct sides *s, struct attn_error *err)
{
	struct page_request request = {.in = &s->in,
				       .selected = &p->selected,
				       .path = p->path,
				       .title = p->figure.title,
				       .names = &p->names,
				       .difference = true};
	if (!(s->kinds & HAS_WEIGHTS))
		return attn_fail(err, ATTN_USAGE, "'%s' is a page of weights, and A or B has none", p->path);
	buffer_printf(&p->title, "A \u2212 B: %s; %s", p->names.items[0], p->names.items[1]);
	if (p->title.failed)
		return attn_fail_memory(err);
	if (!request.title)
		request.title = p->title.data;
	p->selected.batch = s->a.selected.batch;
	enum attn_status status = page_output_open(&p->file, &request, s->self, err);
	p->selected.batch = NULL;
	return status;
}

enum attn_status compare_picture_open(struct compare_picture *p, struct sides *s,
				      struct row_consumer **consumer, struct attn_error *err)
{
	if (!(s->kinds & (HAS_WEIGHTS | HAS_SCORES)))
		return attn_fail(err, ATTN_USAGE, "'-o' shows weights or scores, and neither is compared");
	TRY(inputs_spare(&s->a.in, p->path, err));
	TRY(inputs_spare(&s->b.in, p->path, err));
	TRY(name_sides(p, s, err));
	TRY(p->page ? open_page(p, s, err) : open_heatmap(p, s, err));
	*consumer = p->page ? &p->file.rows.consumer : &p->grids.consumer;
	return ATTN_OK;
}

enum attn_status compare_picture_commit(struct compare_picture *p, const struct sides *s,
					struct attn_error *err)
{
	if (!p->path)
		return ATTN_OK;
	if (!p->page) {
		TRY(figures_draw(&p->figures, p->grids.grids, p->grids.grid_count, p->path, err));
		return figures_commit(&p->figures, err);
	}
	TRY(page_output_commit(&p->file, err));
	report_written(s->self, p->path);
	return ATTN_OK;
}

void compare_picture_release(struct compare_picture *p)
{
	page_output_release(&p->file);
	figures_release(&p->figures);
	grid_consumer_release(&p->grids);
	selection_release(&p->selected);
	string_list_release(&p->names);
	buffer_release(&p->title);
}
