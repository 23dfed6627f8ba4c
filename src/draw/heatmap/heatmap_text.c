/* The words of a heatmap: labels, titles, notes, numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/heatmap/heatmap_internal.h"

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
	if (d->figure->value_title)
		return d->figure->value_title;
	return d->tops ? "weight / largest" : "weight";
}

static struct text_box largest(struct text_box a, struct text_box b)
{
	a.width = a.width > b.width ? a.width : b.width;
	a.above = a.above > b.above ? a.above : b.above;
	a.below = a.below > b.below ? a.below : b.below;
	return a;
}

const char *panel_title(const struct drawing *d, size_t panel, char text[TITLE_SIZE])
{
	const char *title = d->figure->row_titles ? NULL : d->figure->panels[panel].title;
	bool named = title && *title;
	if (!d->tops)
		return named ? title : "";
	if (named)
		snprintf(text, TITLE_SIZE, "%.250s, up to %.2g", title, d->tops[panel]);
	else
		snprintf(text, TITLE_SIZE, "to %.2g", d->tops[panel]);
	return text;
}

static size_t outer_count(const struct drawing *d, enum layout_axis axis)
{
	const struct heatmap_figure *f = d->figure;
	size_t across = f->options.panel_columns < f->panel_count ? f->options.panel_columns : f->panel_count;
	return axis == LAYOUT_ROWS ? f->row_titles->count : across;
}

static const char *full_title(const struct drawing *d, enum layout_axis axis, size_t i)
{
	return axis == LAYOUT_ROWS ? d->figure->row_titles->items[i] : d->figure->panels[i].title;
}

/* Without the first word, if there are two. */
static const char *short_title(const char *title)
{
	const char *space = strchr(title, ' ');
	return space ? space + 1 : title;
}

static bool outer_titles_fit(const struct drawing *d, enum layout_axis axis, struct text_style style)
{
	int limit = style.max_width;
	style.max_width = 0;
	for (size_t i = 0; i < outer_count(d, axis); i++)
		if (text_measure(d->text, full_title(d, axis, i), style).width > limit)
			return false;
	return true;
}

const char *outer_title(const struct drawing *d, enum layout_axis axis, size_t i, struct text_style style)
{
	const char *title = full_title(d, axis, i);
	return outer_titles_fit(d, axis, style) ? title : short_title(title);
}

static struct text_box measure_outer_titles(const struct drawing *d, enum layout_axis axis,
					    const struct layout *layout, int limit)
{
	struct text_box all = {0, 0, 0};
	struct text_style style = plain_style(layout->small_size, limit);
	for (size_t i = 0; i < outer_count(d, axis); i++)
		all = largest(all, text_measure(d->text, outer_title(d, axis, i, style), style));
	return all;
}

static struct text_box measure_panel_titles(const struct drawing *d, const struct layout *layout, int limit)
{
	struct text_box all = {0, 0, 0};
	char text[TITLE_SIZE];
	for (size_t i = 0; i < d->figure->panel_count; i++) {
		const char *title = panel_title(d, i, text);
		if (*title)
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
	case LAYOUT_SIDE_TITLE:
		box = measure_outer_titles(d, LAYOUT_ROWS, partial, limit);
		break;
	case LAYOUT_TOP_TITLE:
		box = measure_outer_titles(d, LAYOUT_COLS, partial, limit);
		break;
	case LAYOUT_MASKED:
		box = text_measure(d->text, "masked", plain_style(partial->small_size, 0));
		break;
	}
	return box;
}

const char *ordinal(size_t n)
{
	if (n / 10 % 10 == 1)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

void add_note(struct buffer *out, const char *text)
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
			 g->reduction == GRID_MEAN  ? "mean"
			 : d->figure->signed_values ? "largest magnitude"
						    : "maximum",
			 d->row_factor, d->col_factor);
		add_note(out, text);
	}
	add_scale_notes(out, d);
	if (d->figure->row_titles &&
	    (!outer_titles_fit(d, LAYOUT_ROWS, plain_style(layout->small_size, layout->side_title_limit)) ||
	     !outer_titles_fit(d, LAYOUT_COLS, plain_style(layout->small_size, layout->panel_title_limit))))
		add_note(out, "rows of panels are layers, columns are heads");
	add_label_notes(out, d, layout);
	if (d->figure->query_ends || d->figure->key_ends)
		add_note(out, ends_fit(d, LAYOUT_ROWS) && ends_fit(d, LAYOUT_COLS)
				  ? "lines where sentences end"
				  : "sentences are too short for lines where they end");
	add_note(out, d->figure->note);
	add_note(out, d->figure->order);
}

const bool *drawing_ends(const struct drawing *d, enum layout_axis axis)
{
	bool queries = (axis == LAYOUT_ROWS) != d->figure->options.transpose;
	return queries ? d->figure->query_ends : d->figure->key_ends;
}

bool ends_fit(const struct drawing *d, enum layout_axis axis)
{
	const struct grid *g = d->figure->panels[0].grid;
	const bool *ends = drawing_ends(d, axis);
	bool queries = (axis == LAYOUT_ROWS) != d->figure->options.transpose;
	size_t tokens = queries ? g->queries : g->keys, lines = 0;
	int side = axis == LAYOUT_ROWS ? d->layout.panel_height : d->layout.panel_width;
	for (size_t i = 0; ends && i + 1 < tokens; i++)
		lines += ends[i];
	return lines * 5 * (size_t)d->layout.line <= (size_t)side;
}

/* A magnitude; returns whether it is more than its digits' 0. */
static bool magnitude_text(double v, char text[NUMBER_SIZE])
{
	char digits[64];
	if (v < 0.995) {
		snprintf(digits, sizeof digits, "%.2f", v);
		snprintf(text, NUMBER_SIZE, "%.5s", digits + 1); /* without the 0 before the point */
		return strcmp(text, ".00") != 0;
	}
	snprintf(digits, sizeof digits, v < 9.995 ? "%.2f" : v < 999.5 ? "%.0f" : "%.0e", v);
	snprintf(text, NUMBER_SIZE, "%.7s", digits);
	return true;
}

void number_text(float value, char text[NUMBER_SIZE])
{
	char digits[NUMBER_SIZE];
	bool some = magnitude_text(fabs((double)value), digits);
	snprintf(text, NUMBER_SIZE, "%s%.8s", value < 0 && some ? "\u2212" : "", digits);
}

int number_font(const struct drawing *d, int cell, int *least_cell)
{
	int padding = (int)(6.0 * d->scale + 0.5), need = 0;
	char text[NUMBER_SIZE], negative[NUMBER_SIZE];
	number_text((float)d->highest, text);
	number_text((float)d->lowest, negative);
	for (int points = 11; points >= 9; points--) {
		int size = (int)(points * d->scale + 0.5);
		struct text_box box = largest(text_measure(d->text, ".00", plain_style(size, 0)),
					      text_measure(d->text, text, plain_style(size, 0)));
		box = largest(box, text_measure(d->text, negative, plain_style(size, 0)));
		need = (box.width > box.above + box.below ? box.width : box.above + box.below) + padding;
		if (need <= cell && !least_cell)
			return size;
	}
	if (least_cell)
		*least_cell = need;
	return 0;
}
