/* The geometry of a figure: where everything goes around cells of a given size. */
#include <math.h>

#include "draw/heatmap/layout_internal.h"
#include "util/minmax.h"

enum {
	OVERVIEW_PANELS = 40
};

/* What is known while one layout is tried. */
struct attempt {
	const struct layout_request *request;
	const struct layout_measure *measure;
	struct heatmap_layout *out;
	int label_limit;
	int margin;
	int over_left, over_right, over_top, over_bottom; /* of labels beyond the panels */
	int title_over;                                   /* of panel titles, to each side */
	int panels_width, panels_height;
	int top_titles;    /* height of the titles of columns of panels */
	int right, bottom; /* of all that is placed so far */
};

static int height_of(struct text_box box)
{
	return box.above + box.below;
}

static struct text_box ask(const struct attempt *a, enum layout_text which, int limit)
{
	return a->measure->text(a->measure->context, which, a->out, limit);
}

static void reach(struct attempt *a, int right, int bottom)
{
	a->right = int_max(a->right, right);
	a->bottom = int_max(a->bottom, bottom);
}

/* How far labels stick out beyond the first and last cell's edges. */
static void find_overhang(struct attempt *a)
{
	const struct heatmap_layout *l = a->out;
	int half = l->cell / 2;
	a->over_left = a->over_right = a->over_top = a->over_bottom = 0;
	if (l->row.direction != LABELS_NONE) {
		a->over_top = int_max(0, l->row.box.above - l->label_shift - half);
		a->over_bottom = int_max(0, l->row.box.below + l->label_shift - half);
	}
	if (l->col.direction == LABELS_HORIZONTAL)
		a->over_left = a->over_right = int_max(0, (l->col.box.width + 1) / 2 - half);
	if (l->col.direction == LABELS_UPWARDS) {
		a->over_left = int_max(0, l->col.box.above - l->label_shift - half);
		a->over_right = int_max(0, l->col.box.below + l->label_shift - half);
	}
}

/* Titles of columns of panels above what stands over each of these, which takes
 * `block`; titles of rows of panels are placed with the left edge. */
static void place_outer_titles(struct attempt *a, int block)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	struct text_box title = ask(a, LAYOUT_TOP_TITLE, l->panel_title_limit);
	if (height_of(title) == 0)
		return;
	l->top_title_above = int_max(block, l->line) + title.below + scaled(r, 5);
	a->top_titles = height_of(title) + scaled(r, 5);
}

/* Panels' sizes and distances; returns the height of a panel title's block. */
static int place_panels(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	int block = 0;
	l->panel_width = (int)r->cols * l->cell;
	l->panel_height = (int)r->rows * l->cell;
	l->panel_title_limit = r->outer_titles ? l->panel_width + scaled(r, 4)
					       : int_max(l->panel_width + scaled(r, 6), scaled(r, 56));
	struct text_box title =
	    r->panels > 1 ? ask(a, LAYOUT_PANEL_TITLE, l->panel_title_limit) : (struct text_box){0, 0, 0};
	if (height_of(title) > 0) {
		block = height_of(title) + scaled(r, 5) + l->line;
		l->panel_title_above = title.below + scaled(r, 5) + l->line;
	}
	a->title_over = int_max(0, (title.width - l->panel_width + 1) / 2);
	if (r->outer_titles)
		place_outer_titles(a, block);
	int gap_x = int_max(scaled(r, r->outer_titles ? 6 : 14) + 2 * l->line,
			    a->over_left + a->over_right + scaled(r, 8));
	gap_x = int_max(gap_x, title.width + scaled(r, 8) - l->panel_width);
	int gap_y = block + int_max(scaled(r, r->outer_titles ? 6 : 12) + 2 * l->line,
				    a->over_top + a->over_bottom + scaled(r, 4));
	l->pitch_x = l->panel_width + gap_x;
	l->pitch_y = l->panel_height + gap_y;
	a->panels_width = (l->panel_columns - 1) * l->pitch_x + l->panel_width;
	a->panels_height = (l->panel_rows - 1) * l->pitch_y + l->panel_height;
	return block;
}

/* The left edge: row title and row labels. */
static void place_left(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	int x = a->margin;
	l->row_title_limit = int_max(a->panels_height + scaled(r, 60), scaled(r, 160));
	struct text_box title = ask(a, LAYOUT_ROW_TITLE, l->row_title_limit);
	if (height_of(title) > 0) {
		l->row_title = (struct rect){x, 0, height_of(title), title.width};
		x += height_of(title) + scaled(r, 8);
	}
	if (r->outer_titles) {
		l->side_title_limit = l->panel_height + scaled(r, 4);
		title = ask(a, LAYOUT_SIDE_TITLE, l->side_title_limit);
		l->side_title_x = x;
		x += height_of(title) + scaled(r, 6);
	}
	l->first_x = int_max(x, a->margin) + a->title_over;
	if (l->row.direction != LABELS_NONE) {
		l->row_label_right = -(l->line + scaled(r, 5));
		x += l->row.box.width - l->row_label_right;
	} else {
		x += l->line;
	}
	l->first_x = int_max(l->first_x, int_max(x, a->margin + a->over_left));
}

/* The upper edge: title and panel titles.  `width` is what the rest takes. */
static void place_top(struct attempt *a, int block, int width)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	int y = a->margin, limit = int_max(width, scaled(r, 260));
	int row_title_over = int_max(0, (l->row_title.height - a->panels_height + 1) / 2);
	if (width_limit(r))
		limit = int_min(limit, width_limit(r) - 2 * a->margin);
	l->title_limit = int_max(limit, 1);
	struct text_box title = ask(a, LAYOUT_TITLE, l->title_limit);
	if (height_of(title) > 0) {
		l->title = (struct rect){0, y, title.width, height_of(title)};
		y += height_of(title) + scaled(r, r->panels > 1 ? 12 : 10);
	}
	l->first_y = y + int_max(block + a->top_titles + l->line, int_max(a->over_top, row_title_over));
	l->row_title.y = l->first_y + (a->panels_height - l->row_title.height) / 2;
}

/* The lower edge: column labels and column title. */
static void place_bottom(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	int bottom = l->first_y + a->panels_height;
	l->col_title_limit = int_max(a->panels_width + scaled(r, 60), scaled(r, 160));
	struct text_box title = ask(a, LAYOUT_COL_TITLE, l->col_title_limit);

	reach(a, l->first_x + a->panels_width + int_max(a->over_right, a->title_over) + l->line,
	      bottom + a->over_bottom + l->line);
	reach(a, 0, l->row_title.y + l->row_title.height);
	l->col_label_top = l->line + scaled(r, 5);
	if (l->col.direction != LABELS_NONE)
		reach(a, 0,
		      bottom + l->col_label_top +
			  (l->col.direction == LABELS_HORIZONTAL ? height_of(l->col.box) : l->col.box.width));
	if (height_of(title) > 0) {
		int x = l->first_x + (a->panels_width - title.width) / 2;
		l->col_title = (struct rect){int_max(x, a->margin), a->bottom + scaled(r, 8), title.width,
					     height_of(title)};
		reach(a, l->col_title.x + title.width, l->col_title.y + height_of(title));
	}
}

/* A vertical bar is as long as the panels are high, except beside a tall column
 * of them. */
static int bar_length(const struct attempt *a)
{
	int height = a->panels_height, most = scaled(a->request, 900);
	if (height <= most || 2 * height <= 3 * a->panels_width)
		return height;
	return most;
}

/* The colour bar right of the panels, the masked legend under it. */
static void place_vertical_bar(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	struct text_box title = ask(a, LAYOUT_BAR_TITLE, l->bar_title_limit);
	int length = bar_length(a), legend = scaled(r, 14) + scaled(r, 12);
	int x =
	    l->first_x + a->panels_width + int_max(a->over_right, a->title_over) + l->line + scaled(r, 18);
	if (r->masked && length + legend > a->panels_height)
		length = a->panels_height - legend;
	struct text_box tick = ask(a, LAYOUT_BAR_TICK, length);
	l->bar = (struct rect){x, l->first_y, scaled(r, 14), length};
	x += l->bar.width + l->line + scaled(r, 4) + scaled(r, 4) + tick.width;
	reach(a, x, 0);
	if (height_of(title) > 0) {
		l->bar_title = (struct rect){x + scaled(r, 8), l->first_y + (length - title.width) / 2,
					     height_of(title), title.width};
		reach(a, l->bar_title.x + l->bar_title.width, 0);
	}
	if (r->masked) {
		struct text_box text = ask(a, LAYOUT_MASKED, 0);
		struct rect *swatch = &l->masked_swatch;
		*swatch = (struct rect){l->bar.x, l->first_y + length + scaled(r, 12), scaled(r, 14),
					scaled(r, 14)};
		l->masked_text = (struct rect){swatch->x + swatch->width + l->line + scaled(r, 6),
					       swatch->y + (swatch->height - height_of(text)) / 2, text.width,
					       height_of(text)};
		reach(a, l->masked_text.x + text.width, 0);
	}
}

/* The colour bar in a row under the column title: title, bar, legend. */
static void place_horizontal_bar(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	struct text_box title = ask(a, LAYOUT_BAR_TITLE, l->bar_title_limit), text = {0, 0, 0};
	int length = int_min(int_max(a->panels_width, scaled(r, 150)), scaled(r, 320));
	int y = a->bottom + scaled(r, 16), height = scaled(r, 12);
	if (width_limit(r))
		length = int_min(length, int_max(width_limit(r) / 2, 1));
	struct text_box tick = ask(a, LAYOUT_BAR_TICK, length);
	if (r->masked)
		text = ask(a, LAYOUT_MASKED, 0);
	int total = title.width + scaled(r, 8) + tick.width / 2 + length;
	total += int_max((tick.width + 1) / 2, r->masked ? scaled(r, 34) + height + l->line + text.width : 0);
	int x = int_max(a->margin, l->first_x + (a->panels_width - total) / 2);
	l->bar_title = (struct rect){x, int_max(a->bottom, y + (height - height_of(title)) / 2), title.width,
				     height_of(title)};
	x += title.width + scaled(r, 8) + tick.width / 2;
	l->bar = (struct rect){x, y, length, height};
	reach(a, x + length + (tick.width + 1) / 2,
	      y + height + l->line + scaled(r, 4) + scaled(r, 3) + height_of(tick));
	if (r->masked) {
		x += length + int_max(scaled(r, 20), (tick.width + 1) / 2 + scaled(r, 6));
		l->masked_swatch = (struct rect){x, y, height, height};
		x += height + l->line + scaled(r, 6);
		l->masked_text = (struct rect){x, int_max(a->bottom, y + (height - height_of(text)) / 2),
					       text.width, height_of(text)};
		reach(a, x + text.width, l->masked_text.y + height_of(text));
	}
	reach(a, 0, l->bar_title.y + l->bar_title.height);
}

void layout_move(struct heatmap_layout *l, int dx, int dy)
{
	struct rect *rects[] = {&l->bar,       &l->bar_title, &l->masked_swatch, &l->masked_text,
				&l->row_title, &l->col_title, &l->title};
	l->first_x += dx;
	l->side_title_x += dx;
	l->first_y += dy;
	for (size_t i = 0; i < sizeof rects / sizeof *rects; i++) {
		rects[i]->x += dx;
		rects[i]->y += dy;
	}
}

/* Title and notes, whose lines break where the picture ends, then the edges.
 * Notes begin under the panels' left edge where there is room. */
static void place_ends(struct attempt *a)
{
	const struct layout_request *r = a->request;
	struct heatmap_layout *l = a->out;
	int left = l->first_x - l->line, limit = int_max(a->right - left, scaled(r, 300));
	if (width_limit(r))
		limit = int_min(limit, width_limit(r) - 2 * a->margin);
	l->notes_limit = int_max(limit, 1);
	struct text_box notes = ask(a, LAYOUT_NOTES, l->notes_limit);
	if (height_of(notes) > 0) {
		int x = int_max(a->margin, int_min(left, a->right - notes.width));
		l->notes = (struct rect){x, a->bottom + scaled(r, 12), notes.width, height_of(notes)};
		a->bottom = l->notes.y + l->notes.height;
	}
	/* What is narrower than the title or the notes stands in the middle. */
	int shift = int_max(int_max(l->notes.width, l->title.width) - (a->right - a->margin), 0) / 2;
	if (l->notes.width <= a->right - a->margin)
		l->notes.x += shift;
	l->title.x = int_max(a->margin, l->first_x + shift + (a->panels_width - l->title.width) / 2) - shift;
	layout_move(l, shift, 0);
	a->right =
	    int_max(a->right + shift, int_max(l->title.x + l->title.width, l->notes.x + l->notes.width));
	l->width = a->right + a->margin;
	l->height = a->bottom + a->margin;
}

/* Thumbnails whose size was asked for, or in an overview of many, go without labels that
 * would have to be thinned. */
static bool too_small_for_labels(const struct layout_request *r, const struct heatmap_layout *l)
{
	bool overview = r->panels > OVERVIEW_PANELS;
	if (r->panels == 1 || (!width_limit(r) && !r->cell && !overview))
		return false;
	int width = scaled(r, overview ? 160 : 72), height = scaled(r, overview ? 160 : 40);
	return (l->col.step > 1 && (int)r->cols * l->cell < width) ||
	       (l->row.step > 1 && (int)r->rows * l->cell < height);
}

void layout_place(const struct layout_request *request, const struct layout_measure *measure, int columns,
		  int cell, int label_limit, struct heatmap_layout *out)
{
	struct attempt a = {.request = request, .measure = measure, .out = out, .label_limit = label_limit};
	a.margin = scaled(request, 14);
	*out = (struct heatmap_layout){
	    .cell = cell,
	    .scale = request->scale,
	    .line = int_max((int)lround(request->line), 1),
	    .text_size = scaled(request, 12),
	    .small_size = scaled(request, 11),
	    .title_size = scaled(request, 14),
	    .bar_title_limit = scaled(request, 160),
	    .panel_columns = columns,
	    .panel_rows = (int)((request->panels + (size_t)columns - 1) / (size_t)columns),
	};
	layout_choose_labels(request, measure, cell, label_limit, out);
	if (too_small_for_labels(request, out))
		layout_choose_labels(request, measure, cell, 0, out);
	find_overhang(&a);
	int block = place_panels(&a);
	out->bar_vertical =
	    !request->horizontal_bar && a.panels_height >= scaled(request, request->masked ? 130 : 110);
	place_left(&a);
	place_top(&a, block, out->first_x + a.panels_width - a.margin);
	place_bottom(&a);
	if (request->no_bar)
		out->bar_vertical = false;
	else if (out->bar_vertical)
		place_vertical_bar(&a);
	else
		place_horizontal_bar(&a);
	place_ends(&a);
}
