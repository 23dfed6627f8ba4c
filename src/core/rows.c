#include "core/rows.h"

void rows_info_release(struct rows_info *info)
{
	string_list_release(&info->query_labels);
	string_list_release(&info->key_labels);
	string_list_release(&info->head_names);
	*info = (struct rows_info){0};
}

static bool chosen(const bool *selected, size_t i)
{
	return !selected || selected[i];
}

/* How many selected rows follow `query` (selected itself), up to a block. */
static size_t run_length(const struct rows_info *info, const bool *selected, size_t query)
{
	size_t count = 1;
	while (count < ROWS_BLOCK && query + count < info->queries && chosen(selected, query + count))
		count++;
	return count;
}

static enum attn_status stream_head(struct row_source *source, const struct rows_selection *selection,
				    struct row_block *block, struct row_sink *const *sinks, size_t sink_count,
				    struct attn_error *err)
{
	const struct rows_info *info = source->info;
	enum attn_status status = ATTN_OK;
	for (size_t query = 0; query < info->queries && status == ATTN_OK;) {
		if (!chosen(selection->queries, query)) {
			query++;
			continue;
		}
		block->query = query;
		block->count = run_length(info, selection->queries, query);
		block->keys = info->keys;
		status = source->read(source, block, err);
		for (size_t i = 0; i < sink_count && status == ATTN_OK; i++)
			status = sinks[i]->consume(sinks[i], block, err);
		query += block->count;
	}
	return status;
}

enum attn_status rows_stream(struct row_source *source, const struct rows_selection *selection,
			     struct row_sink *const *sinks, size_t sink_count, struct attn_error *err)
{
	static const struct rows_selection all = {0};
	const struct rows_info *info = source->info;
	if (!selection)
		selection = &all;
	for (size_t layer = 0; layer < info->layers; layer++) {
		for (size_t batch = 0; batch < info->batch; batch++) {
			for (size_t head = 0; head < info->heads; head++) {
				if (!chosen(selection->batch, batch) || !chosen(selection->layers, layer) ||
				    !chosen(selection->heads, head))
					continue;
				struct row_block block = {.batch = batch, .layer = layer, .head = head};
				enum attn_status status =
				    stream_head(source, selection, &block, sinks, sink_count, err);
				if (status != ATTN_OK)
					return status;
			}
		}
	}
	return ATTN_OK;
}
