/* How much room the words of a heatmap take: what its layout asks for. */
#include <math.h>

#include "draw/heatmap/heatmap_internal.h"

struct text_box measure_label(void *context, enum layout_axis axis, size_t i, int size, int limit)
{
	const struct drawing *d = context;
	char number[24];
	return text_measure(d->text, drawing_label(d, axis, i, number), plain_style(size, limit));
}

static struct text_box measure_outer_titles(const struct drawing *d, enum layout_axis axis,
					    const struct heatmap_layout *layout, int limit)
{
	struct text_box all = {0, 0, 0};
	struct text_style style = plain_style(layout->small_size, limit);
	for (size_t i = 0; i < outer_title_count(d, axis); i++)
		all = text_box_max(all, text_measure(d->text, outer_title(d, axis, i, style), style));
	return all;
}

static struct text_box measure_panel_titles(const struct drawing *d, const struct heatmap_layout *layout,
					    int limit)
{
	struct text_box all = {0, 0, 0};
	char text[PANEL_TITLE_SIZE];
	for (size_t i = 0; i < d->figure->panel_count; i++) {
		const char *title = panel_title(d, i, text);
		if (*title)
			all = text_box_max(
			    all, text_measure(d->text, title, plain_style(layout->small_size, limit)));
	}
	return all;
}

static struct text_box measure_ticks(const struct drawing *d, const struct heatmap_layout *layout, int length)
{
	struct text_box all = {0, 0, 0};
	struct tick ticks[TICKS_MAX];
	size_t count = drawing_ticks(d, layout, length, ticks);
	for (size_t i = 0; i < count; i++)
		all = text_box_max(all,
				   text_measure(d->text, ticks[i].text, plain_style(layout->small_size, 0)));
	return all;
}

struct text_box measure_text(void *context, enum layout_text which, const struct heatmap_layout *partial,
			     int limit)
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
		heatmap_notes(&notes, d, partial);
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
		box = text_measure(d->text, hatched_name(d->figure), plain_style(partial->small_size, 0));
		break;
	}
	return box;
}

int number_font(const struct drawing *d, int cell, int *least_cell)
{
	int padding = (int)(6.0 * d->text_scale + 0.5), need = 0;
	/* Numbers below 10 have decimals: they may be wider than those at the ends. */
	const double ends[] = {d->scale.highest, d->scale.lowest, fmin(d->scale.highest, 9.99),
			       fmax(d->scale.lowest, -9.99)};
	for (int points = 11; points >= 9; points--) {
		int size = (int)(points * d->text_scale + 0.5);
		struct text_box box = text_measure(d->text, ".00", plain_style(size, 0));
		for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
			char text[CELL_NUMBER_SIZE];
			cell_number((float)ends[i], text);
			box = text_box_max(box, text_measure(d->text, text, plain_style(size, 0)));
		}
		need = (box.width > box.above + box.below ? box.width : box.above + box.below) + padding;
		if (need <= cell && !least_cell)
			return size;
	}
	if (least_cell)
		*least_cell = need;
	return 0;
}
