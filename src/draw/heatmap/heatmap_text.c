/* The words of a heatmap: labels and titles, and their styles. */
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

struct text_style label_style(const struct layout_axis_labels *plan)
{
	return plain_style(plan->size, plan->limit);
}

struct text_style title_style(const struct heatmap_layout *layout, int limit)
{
	return (struct text_style){.size = layout->title_size, .max_width = limit, .wrap = true};
}

struct text_style notes_style(const struct heatmap_layout *layout, int limit)
{
	return (struct text_style){.size = layout->small_size, .max_width = limit, .wrap = true};
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
	if (d->scale.tops)
		return d->figure->difference ? "A \u2212 B / largest"
		       : d->figure->scores   ? "score / largest"
					     : "weight / largest";
	return value_name(d->figure);
}

const char *panel_title(const struct drawing *d, size_t panel, char text[PANEL_TITLE_SIZE])
{
	const char *title = d->figure->row_titles ? NULL : d->figure->panels[panel].title;
	bool named = title && *title;
	if (!d->scale.tops)
		return named ? title : "";
	if (named)
		snprintf(text, PANEL_TITLE_SIZE, "%.250s, up to %.2g", title, d->scale.tops[panel]);
	else
		snprintf(text, PANEL_TITLE_SIZE, "to %.2g", d->scale.tops[panel]);
	return text;
}

size_t outer_title_count(const struct drawing *d, enum layout_axis axis)
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

bool outer_titles_fit(const struct drawing *d, enum layout_axis axis, struct text_style style)
{
	int limit = style.max_width;
	style.max_width = 0;
	for (size_t i = 0; i < outer_title_count(d, axis); i++)
		if (text_measure(d->text, full_title(d, axis, i), style).width > limit)
			return false;
	return true;
}

const char *outer_title(const struct drawing *d, enum layout_axis axis, size_t i, struct text_style style)
{
	const char *title = full_title(d, axis, i);
	return outer_titles_fit(d, axis, style) ? title : short_title(title);
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

size_t drawing_ticks(const struct drawing *d, const struct heatmap_layout *layout, int length,
		     struct tick *ticks)
{
	bool upright = layout->bar_vertical, wide = d->scale.tops || d->scale.colours.transform == SCALE_LOG;
	int least =
	    upright ? layout->small_size * 9 / 5 : layout->small_size * (wide ? 5 : 7) / (wide ? 1 : 2);
	size_t count = ticks_make(&d->scale.colours, length, least, ticks);
	/* Of panels with a scale each: shares of their tops. */
	for (size_t i = 0; i < count && d->scale.tops; i++) {
		double value = fabs(ticks[i].value);
		const char *sign = ticks[i].value < 0 ? "\u2212" : "";
		if (value == d->scale.colours.high)
			snprintf(ticks[i].text, sizeof ticks[i].text, "%s%s", sign,
				 d->scale.clipped ? "top" : "largest");
		else if (value > 0)
			snprintf(ticks[i].text, sizeof ticks[i].text, "%s%.3g %%", sign, value * 100);
	}
	return count;
}
