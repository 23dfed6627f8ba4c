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
		buffer_printf(text, "head %s", head_text(info, grids[0].head, name, sizeof name));
	else if (count == info->shape.heads)
		buffer_printf(text, "%zu heads", count);
	else if (count > LISTED)
		buffer_printf(text, "%zu of %zu heads", count, info->shape.heads);
	else
		for (size_t head = 0, listed = 0; head < info->shape.heads; head++)
			if (has_head(grids, grid_count, head))
				buffer_printf(text, "%s%zu", listed++ ? ", " : "heads ", head);
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
	if (info->has_batch)
		buffer_printf(text, "batch %zu, ", grids[0].batch);
	if (layers > 1) {
		add_layers(text, info, grids, count, layers);
		add_heads(text, info, grids, count, count / layers);
		return;
	}
	if (info->layer_known)
		buffer_printf(text, "layer %zu, ", info->first_layer + grids[0].layer);
	add_heads(text, info, grids, count, count);
}

/* A title of a head, behind "head " or "L1 H". */
static bool add_title(const struct rows_info *info, size_t head, const char *prefix,
		      struct string_list *titles)
{
	char title[200];
	int used = snprintf(title, sizeof title, "%s", prefix);
	head_text(info, head, title + used, sizeof title - (size_t)used);
	return string_list_add(titles, title);
}

bool figure_panel_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles)
{
	bool several = count_layers(info, grids, count) > 1, ok = true;
	for (size_t i = 0; i < count && ok; i++) {
		char prefix[40] = "head ";
		if (several)
			snprintf(prefix, sizeof prefix, "L%zu H", info->first_layer + grids[i].layer);
		ok = add_title(info, grids[i].head, prefix, titles);
	}
	return ok;
}

bool figure_layer_titles(const struct rows_info *info, const struct grid *grids, size_t count,
			 struct string_list *titles, struct string_list *rows)
{
	size_t layers = count_layers(info, grids, count);
	bool ok = true;
	for (size_t i = 0; i < count && ok; i++) {
		char layer[40];
		snprintf(layer, sizeof layer, "layer %zu", info->first_layer + grids[i].layer);
		if (layers > 1 && i % (count / layers) == 0)
			ok = string_list_add(rows, layer);
		ok = ok && add_title(info, grids[i].head, "head ", titles);
	}
	return ok;
}
