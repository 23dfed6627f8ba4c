/* What pictures and their panels are called. */
#include <stdio.h>

#include "cmd/figures.h"
#include "util/buffer.h"
#include "util/minmax.h"

/* How many layers the grids, which come in any order, have. */
static size_t count_layers(const struct rows_info *info, const struct grid *grids, size_t count)
{
	size_t layers = 0;
	for (size_t layer = 0; layer < info->shape.layers; layer++) {
		size_t i = 0;
		while (i < count && grids[i].layer != layer)
			i++;
		layers += i < count;
	}
	return layers;
}

static bool has_head(const struct grid *grids, size_t count, size_t head)
{
	for (size_t i = 0; i < count; i++)
		if (grids[i].head == head)
			return true;
	return false;
}

/* "head 3 (name)", "12 heads", "heads 0, 2", "7 of 12 heads". */
static void add_heads(struct buffer *text, const struct rows_info *info, const struct grid *grids,
		      size_t grid_count, size_t count)
{
	enum {
		LISTED = 4
	};
	char name[200];
	if (count == 1)
		buffer_add_string(text, head_title(info, grids[0].head, name, sizeof name));
	else if (count == info->shape.heads && (!info->head_numbers || count > LISTED))
		buffer_printf(text, "%zu heads", count);
	else if (count > LISTED)
		buffer_printf(text, "%zu of %zu heads", count, info->shape.heads);
	else
		for (size_t head = 0, listed = 0; head < info->shape.heads; head++)
			if (has_head(grids, grid_count, head))
				buffer_printf(text, "%s%zu", listed++ ? ", " : "heads ",
					      head_number(info, head));
}

/* "12 layers, ", "layers 3–5, ", "2 of 12 layers, ". */
static void add_layers(struct buffer *text, const struct rows_info *info, const struct grid *grids,
		       size_t count, size_t layers)
{
	size_t first = grids[0].layer, last = first;
	for (size_t i = 1; i < count; i++) {
		first = size_min(first, grids[i].layer);
		last = size_max(last, grids[i].layer);
	}
	if (layers == info->shape.layers)
		buffer_printf(text, "%zu layers, ", layers);
	else if (last - first + 1 == layers)
		buffer_printf(text, "layers %zu\u2013%zu, ", info->first_layer + first,
			      info->first_layer + last);
	else
		buffer_printf(text, "%zu of %zu layers, ", layers, info->shape.layers);
}

void figure_place(struct buffer *text, const struct rows_info *info, const struct grid *grids, size_t count)
{
	size_t layers = count_layers(info, grids, count);
	char name[200];
	if (info->has_batch)
		buffer_printf(text, "batch %zu, ", grids[0].batch);
	if (layers > 1) {
		add_layers(text, info, grids, count, layers);
		add_heads(text, info, grids, count, count / layers);
		return;
	}
	if (info->layer_known)
		buffer_printf(text, "%s, ", layer_title(info, grids[0].layer, name, sizeof name));
	add_heads(text, info, grids, count, count);
}

bool figure_panel_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles)
{
	bool several = count_layers(info, grids, count) > 1, ok = true;
	for (size_t i = 0; i < count && ok; i++) {
		char title[200];
		int used = snprintf(title, sizeof title, "L%zu %s", layer_number(info, grids[i].layer),
				    info->joined_heads ? "" : "H");
		if (several)
			head_text(info, grids[i].head, title + used, sizeof title - (size_t)used);
		else
			head_title(info, grids[i].head, title, sizeof title);
		ok = string_list_add(titles, title);
	}
	return ok;
}

bool figure_layer_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles, struct string_list *rows)
{
	size_t layers = count_layers(info, grids, count);
	bool ok = true;
	for (size_t i = 0; i < count && ok; i++) {
		char title[200];
		if (layers > 1 && i % (count / layers) == 0)
			ok = string_list_add(rows, layer_title(info, grids[i].layer, title, sizeof title));
		ok = ok && string_list_add(titles, head_title(info, grids[i].head, title, sizeof title));
	}
	return ok;
}
