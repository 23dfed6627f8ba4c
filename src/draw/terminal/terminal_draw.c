/* A figure in lines of text: what fits, and in which order it is written. */
#include "draw/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap/theme.h"
#include "draw/heatmap/wording.h"
#include "draw/terminal/terminal_internal.h"
#include "util/minmax.h"
#include "util/width.h"

enum {
	MOST_LABEL = 20,    /* columns of a row label, and at most a quarter of the line */
	LEAST_LABEL = 6,    /* that a row label keeps where cells are larger */
	LABELLED_ROWS = 64, /* up to which a row has its own line */
	MOST_TITLE = 24,    /* columns that a panel gets for its title, if it is narrower */
	MOST_LINES = 120,   /* of several panels with large cells */
	LEAST_LINES = 32,   /* that one panel may take in any terminal */
	PIPE_LINES = 40,    /* and where there is none */
	SMALL_PANELS = 4    /* so many that must be reduced stand side by side */
};

static size_t most_label(const struct terminal *terminal)
{
	return size_min(MOST_LABEL, terminal->columns / 4);
}

/* Lines that a panel may take. */
static size_t panel_lines(const struct terminal *terminal)
{
	size_t lines = terminal->lines ? terminal->lines : PIPE_LINES;
	return size_max(lines - size_min(lines, 10), LEAST_LINES);
}

void terminal_limits(const struct terminal *terminal, const struct rows_info *info, size_t panels,
		     const struct heatmap_options *options, size_t *max_rows, size_t *max_cols)
{
	bool transpose = options->transpose, plain = terminal->colours == TERMINAL_PLAIN;
	size_t rows = transpose ? info->shape.keys : info->shape.queries;
	size_t cols = transpose ? info->shape.queries : info->shape.keys;
	struct terminal_axis axis = {.labels = transpose ? &info->key_labels : &info->query_labels,
				     .cells = rows,
				     .factor = 1,
				     .step = 1};
	size_t room = terminal->columns - 3 - terminal_label_width(&axis, most_label(terminal));
	size_t limit_rows = plain ? LABELLED_ROWS : size_max(2 * panel_lines(terminal), LABELLED_ROWS);
	size_t limit_cols = room;
	if (panels >= SMALL_PANELS && (cols > room || rows > limit_rows))
		limit_cols = (room - TERMINAL_GAP) / 2;
	if (rows == cols) /* keep what is square so */
		limit_rows = limit_cols = size_min(limit_rows, limit_cols);
	*max_rows = transpose ? limit_cols : limit_rows;
	*max_cols = transpose ? limit_rows : limit_cols;
}

static bool only_numbers(const struct string_list *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (!*list->items[i] || strspn(list->items[i], "0123456789") != strlen(list->items[i]))
			return false;
	return true;
}

static enum attn_status drawing_init(struct terminal_drawing *d, const struct terminal *terminal,
				     const struct heatmap_figure *figure, struct buffer *out,
				     struct attn_error *err)
{
	const struct grid *g = figure->panels[0].grid;
	const struct theme *theme = figure->options.theme ? figure->options.theme : theme_default();
	struct terminal_axis queries = {figure->query_labels, g->rows, g->row_factor, 1, false};
	struct terminal_axis keys = {figure->key_labels, g->cols, g->col_factor, 1, false};
	bool transpose = figure->options.transpose;
	queries.numbers = only_numbers(queries.labels);
	keys.numbers = only_numbers(keys.labels);
	*d = (struct terminal_drawing){
	    .figure = figure,
	    .terminal = terminal,
	    .out = out,
	    .rows = transpose ? keys : queries,
	    .cols = transpose ? queries : keys,
	    .foreground = TERMINAL_NO_COLOUR,
	    .background = TERMINAL_NO_COLOUR,
	};
	if (figure->signed_values)
		colormap_fill_diverging(figure->options.colormap, theme->kind, d->table, TERMINAL_LEVELS);
	else
		colormap_fill(figure->options.colormap, theme->kind, d->table, TERMINAL_LEVELS);
	return heatmap_scale_init(&d->scale, figure, err);
}

/* Columns of a panel's cells and frame. */
static size_t panel_width(const struct terminal_drawing *d)
{
	return d->cols.cells * d->cell + 2 /* the frame */;
}

/* A panel's title: its layer where rows of panels are layers, its head, the top of its own
 * scale. */
static void add_title(const struct terminal_drawing *d, size_t panel, struct buffer *out)
{
	const struct heatmap_figure *f = d->figure;
	const char *title = f->panels[panel].title;
	if (f->row_titles)
		buffer_printf(out, "%s, ", f->row_titles->items[panel / f->options.panel_columns]);
	buffer_add_string(out, title ? title : "");
	if (d->scale.tops)
		buffer_printf(out, "%sup to %.2g", title && *title ? ", " : "", d->scale.tops[panel]);
}

/* Columns from one panel to the next without the gap: titles take some, too. */
static size_t panel_pitch(const struct terminal_drawing *d)
{
	size_t widest = panel_width(d);
	struct buffer title = BUFFER_INIT;
	for (size_t i = 0; i < d->figure->panel_count && d->figure->panel_count > 1; i++) {
		buffer_clear(&title);
		add_title(d, i, &title);
		widest = size_max(widest, size_min(title.data ? text_width(title.data) : 0, MOST_TITLE));
	}
	d->out->failed |= title.failed;
	buffer_release(&title);
	return widest;
}

static size_t cell_lines(const struct terminal_drawing *d)
{
	return d->halves ? (d->rows.cells + 1) / 2 : d->rows.cells;
}

enum cell_height {
	FULL_LINE,
	HALF_LINE
};

/* Try cells of `cell` columns: false when they are too large for the terminal. */
static bool try_cells(struct terminal_drawing *d, size_t cell, enum cell_height height)
{
	size_t columns = d->terminal->columns, panels = d->figure->panel_count;
	d->cell = cell;
	d->halves = height == HALF_LINE;
	d->rows.step = d->halves && !d->rows.numbers ? 2 : 1;
	size_t label = terminal_label_width(&d->rows, most_label(d->terminal));
	size_t used = panel_width(d) + 1;
	if (used + size_min(label, LEAST_LABEL) > columns)
		return false;
	d->label_width = size_min(label, columns - used);
	d->pitch = size_min(panel_pitch(d), columns - d->label_width - 1);
	d->across = (columns - d->label_width - 1 + TERMINAL_GAP) / (d->pitch + TERMINAL_GAP);
	d->across = size_min(size_max(d->across, 1), panels);
	return true;
}

static size_t all_lines(const struct terminal_drawing *d)
{
	return (d->figure->panel_count + d->across - 1) / d->across * (cell_lines(d) + d->column_lines + 2);
}

/* Columns that the widest number in a cell takes, with a space before it. */
static size_t number_columns(const struct terminal_drawing *d)
{
	size_t widest = 3;
	for (size_t i = 0; i < d->figure->panel_count; i++) {
		const struct grid *g = d->figure->panels[i].grid;
		char text[CELL_NUMBER_SIZE];
		for (size_t k = 0; k < g->rows * g->cols; k++) {
			cell_number(g->values[k], text);
			widest = size_max(widest, text_width(text));
		}
	}
	return widest + 1;
}

/* Choose how large cells are, and with that what else fits. */
static enum attn_status choose_cells(struct terminal_drawing *d, struct attn_error *err)
{
	bool plain = d->terminal->colours == TERMINAL_PLAIN;
	d->numbers = d->figure->options.numbers == HEATMAP_NUMBERS_ON;
	if (d->numbers && !try_cells(d, number_columns(d), FULL_LINE))
		return attn_fail(
		    err, ATTN_USAGE,
		    "numbers in %zu cells a row do not fit into %zu columns: leave out --numbers "
		    "or draw a file",
		    d->cols.cells, d->terminal->columns);
	if (d->numbers) {
		terminal_choose_column_labels(d);
		return ATTN_OK;
	}
	if (d->rows.cells <= LABELLED_ROWS && try_cells(d, 2, FULL_LINE)) {
		terminal_choose_column_labels(d);
		if (plain || d->figure->panel_count == 1 || all_lines(d) <= MOST_LINES)
			return ATTN_OK;
	}
	if (!try_cells(d, 1, plain ? FULL_LINE : HALF_LINE)) { /* a figure whose limits were not asked for */
		d->label_width = most_label(d->terminal);
		d->pitch = panel_width(d);
		d->across = 1;
	}
	terminal_choose_column_labels(d);
	return ATTN_OK;
}

/* Titles over the panels [first, last). */
static void add_panel_titles(struct terminal_drawing *d, size_t first, size_t last)
{
	if (d->figure->panel_count == 1)
		return;
	terminal_add_spaces(d->out, d->label_width + 1);
	for (size_t i = first; i < last; i++) {
		size_t room = d->across > 1 ? d->pitch : d->terminal->columns - d->label_width - 1;
		struct buffer title = BUFFER_INIT;
		add_title(d, i, &title);
		if (title.length > 0)
			terminal_add_text(d->out, title.data, room, TERMINAL_LEFT);
		else
			terminal_add_spaces(d->out, room);
		d->out->failed |= title.failed;
		buffer_release(&title);
		terminal_add_spaces(d->out, TERMINAL_GAP);
	}
	terminal_end_line(d->out);
}

static void add_panels(struct terminal_drawing *d, size_t first, size_t last)
{
	add_panel_titles(d, first, last);
	for (size_t line = 0; line < cell_lines(d); line++) {
		size_t row = d->halves ? 2 * line : line;
		terminal_add_label(d->out, &d->rows, row, d->label_width);
		buffer_add_char(d->out, ' ');
		for (size_t i = first; i < last; i++) {
			terminal_add_cells(d, d->figure->panels[i].grid, line);
			terminal_add_spaces(d->out, d->pitch - panel_width(d) + TERMINAL_GAP);
		}
		terminal_end_line(d->out);
	}
	for (size_t line = 0; line < d->column_lines; line++) {
		terminal_add_spaces(d->out, d->label_width + 1);
		for (size_t i = first; i < last; i++) {
			terminal_add_spaces(d->out, 1);
			terminal_add_column_labels(d, line);
			terminal_add_spaces(d->out, 1 + d->pitch - panel_width(d) + TERMINAL_GAP);
		}
		terminal_end_line(d->out);
	}
	buffer_add_char(d->out, '\n');
}

/* A text that may be the user's, or come from a file, as a paragraph. */
static void add_paragraph(struct terminal_drawing *d, const char *text)
{
	struct buffer clean = BUFFER_INIT;
	if (text && *text)
		terminal_add_text(&clean, text, 0, TERMINAL_ANY);
	terminal_add_paragraph(d->out, clean.data ? clean.data : "", d->terminal->columns);
	d->out->failed |= clean.failed;
	buffer_release(&clean);
}

static void add_heading(struct terminal_drawing *d)
{
	const struct heatmap_figure *f = d->figure;
	const char *queries = f->query_title ? f->query_title : "query";
	const char *keys = f->key_title ? f->key_title : "key";
	bool transpose = f->options.transpose;
	struct buffer axes = BUFFER_INIT;
	add_paragraph(d, f->title);
	const char *rows = transpose ? keys : queries, *columns = transpose ? queries : keys;
	if (*rows)
		buffer_printf(&axes, "rows: %s", rows);
	if (*columns)
		buffer_printf(&axes, "%scolumns: %s", *rows ? ", " : "", columns);
	if (axes.length > 0)
		add_paragraph(d, axes.data);
	buffer_add_char(d->out, '\n');
	d->out->failed |= axes.failed;
	buffer_release(&axes);
}

static void add_label_note(struct terminal_drawing *d, const struct terminal_axis *axis, const char *things)
{
	size_t n = axis->step * axis->factor;
	char text[80];
	if (n == 1 || axis->numbers ||
	    (axis == &d->cols && d->column_labels == TERMINAL_KEYED && axis->factor == 1))
		return;
	snprintf(text, sizeof text, "every %zu%s of the %s is labelled", n, ordinal_ending(n), things);
	add_paragraph(d, text);
}

static void add_all_notes(struct terminal_drawing *d)
{
	char text[160];
	if (d->rows.factor > 1 || d->cols.factor > 1) {
		snprintf(text, sizeof text, "each cell is the %s of %zu \u00d7 %zu %s",
			 d->figure->panels[0].grid->reduction == GRID_MEAN ? "mean" : "maximum",
			 d->rows.factor, d->cols.factor, value_names(d->figure));
		add_paragraph(d, text);
	}
	struct buffer notes = BUFFER_INIT;
	heatmap_scale_notes(&notes, &d->scale, d->figure);
	if (notes.length > 0)
		add_paragraph(d, notes.data);
	d->out->failed |= notes.failed;
	buffer_release(&notes);
	if (d->figure->signed_values && d->terminal->colours == TERMINAL_PLAIN)
		add_paragraph(d, d->cell > 1
				     ? "digits are tenths of the end of the scale"
				     : "digits are tenths of the end of the scale, letters those below 0");
	add_label_note(d, &d->rows, "rows");
	add_label_note(d, &d->cols, "columns");
	add_paragraph(d, d->figure->note);
	add_paragraph(d, d->figure->order);
}

enum attn_status terminal_draw(const struct terminal *terminal, const struct heatmap_figure *figure,
			       struct buffer *out, struct attn_error *err)
{
	struct terminal_drawing d;
	enum attn_status status = drawing_init(&d, terminal, figure, out, err);
	if (status == ATTN_OK)
		status = choose_cells(&d, err);
	if (status != ATTN_OK) {
		heatmap_scale_release(&d.scale);
		return status;
	}
	add_heading(&d);
	for (size_t i = 0; i < figure->panel_count; i += d.across)
		add_panels(&d, i, size_min(i + d.across, figure->panel_count));
	terminal_add_key(&d);
	if (!figure->options.no_bar)
		terminal_add_legend(&d);
	if (!figure->options.no_notes)
		add_all_notes(&d);
	heatmap_scale_release(&d.scale);
	return out->failed ? attn_fail_memory(err) : ATTN_OK;
}
