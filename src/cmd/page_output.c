/* Web pages: what a page knows of its rows, and the rows as they come. */
#include "cmd/page_output.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/input_names.h"
#include "draw/heatmap/colormap.h"
#include "draw/page/document.h"
#include "util/checked.h"

static void add_strings(struct buffer *json, const char *name, const struct string_list *list)
{
	buffer_printf(json, ",\n\"%s\": [", name);
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			buffer_add_char(json, ',');
		page_add_json_string(json, list->items[i]);
	}
	buffer_add_char(json, ']');
}

/* Labels as they are shown, and raw where those differ; the keys' where they are not the
 * queries'. */
static void add_tokens(struct buffer *json, const struct inputs *in)
{
	const struct rows_info *info = in->info;
	add_strings(json, "queryTokens", &in->shown_queries);
	if (!string_list_same(&in->shown_queries, &info->query_labels))
		add_strings(json, "queryRaw", &info->query_labels);
	if (string_list_same(&info->query_labels, &info->key_labels) && !info->shape.cross)
		return;
	add_strings(json, "keyTokens", &in->shown_keys);
	if (!string_list_same(&in->shown_keys, &info->key_labels))
		add_strings(json, "keyRaw", &info->key_labels);
}

/* An axis that is joined to one: [[0, name]]. */
static void add_joined(struct buffer *json, const char *name, const char *joined)
{
	buffer_printf(json, ",\n\"%s\": [[0,", name);
	page_add_json_string(json, joined);
	buffer_add_string(json, "]]");
}

/* Items of an axis that are chosen: [[index, number or name], ...]; alone: [index, ...]. */
static void add_axis(struct buffer *json, const char *name, const bool *chosen, size_t count, size_t first,
		     const struct string_list *names, bool alone)
{
	const char *between = "";
	buffer_printf(json, ",\n\"%s\": [", name);
	for (size_t i = 0; i < count; i++) {
		if (!rows_chosen(chosen, i))
			continue;
		buffer_printf(json, alone ? "%s%zu" : "%s[%zu,", between, i);
		if (names && i < names->count)
			page_add_json_string(json, names->items[i]);
		else if (!alone)
			buffer_printf(json, names ? "\"%zu\"" : "%zu", first + i);
		if (!alone)
			buffer_add_char(json, ']');
		between = ",";
	}
	buffer_add_char(json, ']');
}

/* The colour maps, in steps fine enough to be interpolated. */
static void add_maps(struct buffer *json)
{
	enum {
		STEPS = 33
	};
	struct rgb colours[STEPS];
	buffer_add_string(json, ",\n\"maps\": {");
	for (size_t i = 0; i < colormap_count(); i++) {
		colormap_fill(colormap_find(colormap_name(i)), BACKGROUND_LIGHT, colours, STEPS);
		buffer_printf(json, "%s\"%s\": [", i ? "," : "", colormap_name(i));
		for (size_t c = 0; c < STEPS; c++)
			buffer_printf(json, "%s\"#%02x%02x%02x\"", c ? "," : "", colours[c].r, colours[c].g,
				      colours[c].b);
		buffer_add_char(json, ']');
	}
	buffer_add_char(json, '}');
}

static const char *flag(bool value)
{
	return value ? "true" : "false";
}

/* What the page knows before its weights. */
static void add_meta(struct buffer *json, const struct page_request *r, const struct page_coding *coding,
		     const char *title, const struct string_list *names)
{
	const struct rows_info *info = r->in->info;
	buffer_add_string(json, "{\"title\": ");
	page_add_json_string(json, title);
	buffer_printf(json, ",\n\"program\": \"attn %s\"", ATTN_VERSION);
	add_strings(json, "inputs", names);
	buffer_printf(json, ",\n\"queries\": %zu, \"keys\": %zu, \"cross\": %s, \"signed\": %s",
		      info->shape.queries, info->shape.keys, flag(info->shape.cross),
		      flag(info->shape.signed_weights));
	buffer_printf(json, ", \"hasTokens\": %s, \"hasBatch\": %s, \"layerKnown\": %s",
		      flag(info->has_tokens), flag(info->has_batch),
		      flag(info->layer_known || info->joined_layers));
	if (info->joined_heads)
		buffer_add_string(json, ", \"joinedHeads\": true");
	if (r->difference)
		buffer_add_string(json, ", \"difference\": true");
	buffer_printf(json, ",\n\"bits\": %zu, \"levels\": %zu, \"top\": %zu, \"error\": %.8f", coding->bits,
		      page_levels(coding), coding->top, page_error(coding));
	if (info->joined_layers)
		add_joined(json, "layers", info->joined_layers);
	else
		add_axis(json, "layers", r->selected->layers, info->shape.layers, info->first_layer, NULL,
			 false);
	add_axis(json, "batches", r->selected->batch, info->shape.batch, 0, NULL, true);
	if (info->joined_heads)
		add_joined(json, "heads", info->joined_heads);
	else
		add_axis(json, "heads", r->selected->heads, info->shape.heads, 0, &info->head_names, false);
	add_tokens(json, r->in);
	add_maps(json);
	buffer_add_string(json, "}");
}

static bool take_names(const struct page_request *r, struct string_list *names)
{
	return r->names ? string_list_copy(names, r->names) : input_names(r->in, names);
}

/* The page up to its weights. */
static enum attn_status begin(const struct page_request *r, const struct page_coding *coding,
			      struct buffer *page, struct attn_error *err)
{
	struct string_list names = {0};
	struct buffer title = BUFFER_INIT, meta = BUFFER_INIT;
	bool ok = take_names(r, &names);
	if (r->title)
		buffer_add_string(&title, r->title);
	for (size_t i = 0; i < names.count && !r->title; i++)
		buffer_printf(&title, "%s%s", i ? ", " : "", names.items[i]);
	if (!r->title && r->in->model_options.text)
		input_text_start(&title, r->in->model_options.text);
	buffer_add(&title, "", 0);
	if (ok && !title.failed)
		add_meta(&meta, r, coding, title.data, &names);
	enum attn_status status = ok && !title.failed && !meta.failed
				      ? page_begin(page, title.data, meta.data, err)
				      : attn_fail_memory(err);
	string_list_release(&names);
	buffer_release(&title);
	buffer_release(&meta);
	return status;
}

static enum attn_status choose_coding(struct page_output *p, const struct page_request *r,
				      const struct command *self, struct attn_error *err)
{
	const struct rows_info *info = r->in->info;
	size_t heads = selection_count(r->selected->heads, info->shape.heads);
	if (!size_mul(heads, selection_count(r->selected->layers, info->shape.layers), &heads) ||
	    !size_mul(heads, selection_count(r->selected->batch, info->shape.batch), &heads))
		return attn_fail_memory(err);
	TRY(page_coding_choose(&p->coding, &info->shape, heads, err));
	if (p->coding.top > 0)
		report_note(
		    self,
		    "%zu head%s of %zu x %zu weights: of each query the page keeps the %zu keys with the "
		    "largest",
		    heads, heads == 1 ? "" : "s", info->shape.queries, info->shape.keys, p->coding.top);
	return ATTN_OK;
}

enum attn_status page_output_open(struct page_output *p, const struct page_request *r,
				  const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	TRY(choose_coding(p, r, self, err));
	TRY(output_open(&p->out, r->path, true, err));
	enum attn_status status = begin(r, &p->coding, &text, err);
	if (status == ATTN_OK)
		status = output_write(&p->out, text.data, text.length, err);
	p->before = text.length;
	buffer_release(&text);
	if (status == ATTN_OK)
		page_rows_init(&p->rows, &p->coding, &r->in->info->shape, p->out.stream);
	return status;
}

enum attn_status page_output_commit(struct page_output *p, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	enum attn_status status = page_end(&text, p->before + p->rows.written, err);
	if (status == ATTN_OK)
		status = output_write(&p->out, text.data, text.length, err);
	buffer_release(&text);
	return status == ATTN_OK ? output_commit(&p->out, err) : status;
}

void page_output_release(struct page_output *p)
{
	output_abort(&p->out);
	page_rows_release(&p->rows);
}
