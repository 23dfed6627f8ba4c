/* The notes under a heatmap: what the picture does not say by itself. */
#include <math.h>
#include <stdio.h>

#include "draw/heatmap/heatmap_internal.h"

/* How many tokens an axis has from one label to the next; 1 where nothing is
 * left out, and for numbers, which say it themselves. */
static size_t label_stride(const struct layout_axis_labels *plan, size_t factor, bool numbers)
{
	return numbers ? 1 : plan->step * factor;
}

static void add_label_notes(struct buffer *notes, const struct drawing *d,
			    const struct heatmap_layout *layout)
{
	bool transposed = d->figure->options.transpose;
	if (layout->row.direction == LABELS_NONE) {
		if (!d->row_numbers || !d->col_numbers)
			note_add(notes, "labels do not fit at this size");
		return;
	}
	size_t row = label_stride(&layout->row, d->row_factor, d->row_numbers);
	size_t col = label_stride(&layout->col, d->col_factor, d->col_numbers);
	char text[160];
	if (row > 1 && (col == row || d->col_numbers)) {
		snprintf(text, sizeof text, "every %zu%s label shown", row, ordinal_ending(row));
		note_add(notes, text);
		return;
	}
	if (row > 1) {
		snprintf(text, sizeof text, "every %zu%s %s labelled", row, ordinal_ending(row),
			 transposed ? "key" : "query");
		note_add(notes, text);
	}
	if (col > 1) {
		snprintf(text, sizeof text, "every %zu%s %s labelled", col, ordinal_ending(col),
			 transposed ? "query" : "key");
		note_add(notes, text);
	}
}

void heatmap_notes(struct buffer *notes, const struct drawing *d, const struct heatmap_layout *layout)
{
	const struct grid *g = d->figure->panels[0].grid;
	char text[160];
	if (d->figure->options.no_notes)
		return;
	if (d->row_factor > 1 || d->col_factor > 1) {
		snprintf(text, sizeof text, "each cell is the %s of %zu \u00d7 %zu %s",
			 g->reduction == GRID_MEAN  ? "mean"
			 : d->figure->signed_values ? "largest magnitude"
						    : "maximum",
			 d->row_factor, d->col_factor, value_names(d->figure));
		note_add(notes, text);
	}
	heatmap_scale_notes(notes, &d->scale, d->figure);
	if (d->figure->row_titles &&
	    (!outer_titles_fit(d, LAYOUT_ROWS, plain_style(layout->small_size, layout->side_title_limit)) ||
	     !outer_titles_fit(d, LAYOUT_COLS, plain_style(layout->small_size, layout->panel_title_limit))))
		note_add(notes, "rows of panels are layers, columns are heads");
	add_label_notes(notes, d, layout);
	if (d->figure->query_ends || d->figure->key_ends)
		note_add(notes, ends_fit(d, LAYOUT_ROWS) && ends_fit(d, LAYOUT_COLS)
				    ? "lines where sentences end"
				    : "sentences are too short for lines where they end");
	if (d->figure->mark_count > 0)
		note_add(notes, marks_fit(layout) ? d->figure->mark_note : "cells are too small for marks");
	if (d->figure->options.no_bar && d->scale.any_masked)
		note_add(notes,
			 d->figure->statistic ? "hatched cells have none" : "hatched cells are masked");
	note_add(notes, d->figure->note);
	note_add(notes, d->figure->order);
}
