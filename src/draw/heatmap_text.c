/* The words of a heatmap: labels, titles, notes, numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/heatmap_internal.h"

const char *drawing_label(const struct drawing *d, enum layout_axis axis, size_t i, char number[24])
{
	const struct string_list *list = axis == LAYOUT_ROWS ? d->row_labels : d->col_labels;
	size_t token = i * (axis == LAYOUT_ROWS ? d->row_factor : d->col_factor);
	if (list && token < list->count)
		return list->items[token];
	snprintf(number, 24, "%zu", token);
	return number;
}

struct text_style plain_style(int size, int limit)
{
	return (struct text_style){.size = size, .max_width = limit};
}

struct text_style label_style(const struct layout_axis_plan *plan)
{
	return plain_style(plan->size, plan->limit);
}

struct text_style title_style(const struct layout *layout, int limit)
{
	return (struct text_style){.size = layout->title_size, .max_width = limit, .wrap = true};
}

struct text_style notes_style(const struct layout *layout, int limit)
{
	return (struct text_style){.size = layout->small_size, .max_width = limit, .wrap = true};
}

struct text_box measure_label(void *context, enum layout_axis axis, size_t i, int size, int limit)
{
	const struct drawing *d = context;
	char number[24];
	return text_measure(d->text, drawing_label(d, axis, i, number), plain_style(size, limit));
}

const char *row_title(const struct drawing *d)
{
	const struct heatmap_figure *f = d->figure;
	if (f->options.transpose)
		return f->key_title ? f->key_title : "key";
	return f->query_title ? f->query_title : "query";
}

const char *col_title(const struct drawing *d)
{
	const struct heatmap_figure *f = d->figure;
	if (f->options.transpose)
		return f->query_title ? f->query_title : "query";
	return f->key_title ? f->key_title : "key";
}

const char *bar_title(const struct drawing *d)
{
	return d->figure->value_title ? d->figure->value_title : "weight";
}

static struct text_box largest(struct text_box a, struct text_box b)
{
	a.width = a.width > b.width ? a.width : b.width;
	a.above = a.above > b.above ? a.above : b.above;
	a.below = a.below > b.below ? a.below : b.below;
	return a;
}

static struct text_box measure_panel_titles(const struct drawing *d, const struct layout *layout, int limit)
{
	struct text_box all = {0, 0, 0};
	for (size_t i = 0; i < d->figure->panel_count; i++) {
		const char *title = d->figure->panels[i].title;
		if (title && *title)
			all = largest(all,
				      text_measure(d->text, title, plain_style(layout->small_size, limit)));
	}
	return all;
}

static struct text_box measure_ticks(const struct drawing *d, const struct layout *layout, int length)
{
	struct text_box all = {0, 0, 0};
	struct tick ticks[TICKS_MAX];
	size_t count = drawing_ticks(d, layout, length, ticks);
	for (size_t i = 0; i < count; i++)
		all = largest(all, text_measure(d->text, ticks[i].text, plain_style(layout->small_size, 0)));
	return all;
}

struct text_box measure_text(void *context, enum layout_text which, const struct layout *partial, int limit)
{
	const struct drawing *d = context;
	struct text_box box = {0, 0, 0};
	struct buffer notes = BUFFER_INIT;
	switch (which) {
	case LAYOUT_TITLE:
		if (d->figure->title && *d->figure->title)
			box = text_measure(d->text, d->figure->title, title_style(partial, limit));
		break;
	case LAYOUT_NOTES:
		add_notes(&notes, d, partial);
		if (notes.length > 0)
			box = text_measure(d->text, notes.data, notes_style(partial, limit));
		buffer_release(&notes);
		break;
	case LAYOUT_ROW_TITLE:
		if (*row_title(d))
			box = text_measure(d->text, row_title(d), plain_style(partial->text_size, limit));
		break;
	case LAYOUT_COL_TITLE:
		if (*col_title(d))
			box = text_measure(d->text, col_title(d), plain_style(partial->text_size, limit));
		break;
	case LAYOUT_BAR_TITLE:
		if (*bar_title(d))
			box = text_measure(d->text, bar_title(d), plain_style(partial->small_size, limit));
		break;
	case LAYOUT_BAR_TICK:
		box = measure_ticks(d, partial, limit);
		break;
	case LAYOUT_PANEL_TITLE:
		box = measure_panel_titles(d, partial, limit);
		break;
	case LAYOUT_MASKED:
		box = text_measure(d->text, "masked", plain_style(partial->small_size, 0));
		break;
	}
	return box;
}

static const char *ordinal(size_t n)
{
	if (n / 10 % 10 == 1)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void add_note(struct buffer *out, const char *text)
{
	if (!text || !*text)
		return;
	if (out->length > 0)
		buffer_add_string(out, "; ");
	buffer_add_string(out, text);
}

/* How many tokens an axis has from one label to the next; 1 where nothing is
 * left out, and for numbers, which say it themselves. */
static size_t label_stride(const struct layout_axis_plan *plan, size_t factor, bool numbers)
{
	return numbers ? 1 : plan->step * factor;
}

static void add_label_notes(struct buffer *out, const struct drawing *d, const struct layout *layout)
{
	bool transposed = d->figure->options.transpose;
	if (layout->row.labels == LAYOUT_NONE) {
		if (!d->row_numbers || !d->col_numbers)
			add_note(out, "labels do not fit at this size");
		return;
	}
	size_t row = label_stride(&layout->row, d->row_factor, d->row_numbers);
	size_t col = label_stride(&layout->col, d->col_factor, d->col_numbers);
	char text[160];
	if (row > 1 && (col == row || d->col_numbers)) {
		snprintf(text, sizeof text, "every %zu%s label shown", row, ordinal(row));
		add_note(out, text);
		return;
	}
	if (row > 1) {
		snprintf(text, sizeof text, "every %zu%s %s labelled", row, ordinal(row),
			 transposed ? "key" : "query");
		add_note(out, text);
	}
	if (col > 1) {
		snprintf(text, sizeof text, "every %zu%s %s labelled", col, ordinal(col),
			 transposed ? "query" : "key");
		add_note(out, text);
	}
}

void add_notes(struct buffer *out, const struct drawing *d, const struct layout *layout)
{
	const struct grid *g = d->figure->panels[0].grid;
	char text[160];
	if (d->row_factor > 1 || d->col_factor > 1) {
		snprintf(text, sizeof text, "each cell is the %s of %zu \u00d7 %zu weights",
			 g->reduction == GRID_MEAN ? "mean" : "maximum", d->row_factor, d->col_factor);
		add_note(out, text);
	}
	if (d->highest > d->top) {
		snprintf(text, sizeof text, "weights above %.3g (up to %.3g) have the colour of %.3g", d->top,
			 d->highest, d->top);
		add_note(out, text);
	}
	add_label_notes(out, d, layout);
	add_note(out, d->figure->note);
}

size_t drawing_ticks(const struct drawing *d, const struct layout *layout, int length, struct tick *ticks)
{
	return ticks_make(d->top, length,
			  layout->bar_upright ? layout->small_size * 9 / 5 : layout->small_size * 7 / 2,
			  ticks);
}

void number_text(float value, char text[NUMBER_SIZE])
{
	double v = (double)value;
	char digits[64];
	if (v >= 0 && v < 0.995) {
		snprintf(digits, sizeof digits, "%.2f", v);
		snprintf(text, NUMBER_SIZE, "%.5s", digits + 1); /* without the 0 before the point */
		return;
	}
	snprintf(digits, sizeof digits, fabs(v) < 9.995 ? "%.2f" : fabs(v) < 999.5 ? "%.0f" : "%.0e", v);
	snprintf(text, NUMBER_SIZE, "%.7s", digits);
}

int number_font(const struct drawing *d, int cell, int *least_cell)
{
	int padding = (int)(6.0 * d->scale + 0.5), need = 0;
	char text[NUMBER_SIZE];
	number_text((float)d->highest, text);
	for (int points = 11; points >= 9; points--) {
		int size = (int)(points * d->scale + 0.5);
		struct text_box box = largest(text_measure(d->text, ".00", plain_style(size, 0)),
					      text_measure(d->text, text, plain_style(size, 0)));
		need = (box.width > box.above + box.below ? box.width : box.above + box.below) + padding;
		if (need <= cell && !least_cell)
			return size;
	}
	if (least_cell)
		*least_cell = need;
	return 0;
}
