#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "tokens/words.h"
#include "util/minmax.h"

struct word_view {
	struct row_source source; /* first: a source is cast to its view */
	struct row_source *inner; /* owned once the view is open */
	struct rows_info info;
	struct masking masking; /* hides nothing: what is masked is in the blocks */
	struct words queries, keys;
	struct view_workers workers;
};

static void words_free(struct row_source *source)
{
	struct word_view *v = (struct word_view *)source;
	if (v->inner && v->inner->free)
		v->inner->free(v->inner);
	rows_info_release(&v->info);
	words_release(&v->queries);
	words_release(&v->keys);
	view_workers_release(&v->workers);
	free(v);
}

/* Add a row of the inner source to the sums of a word's; whether it sees a key. */
static bool add_row(const struct word_view *v, const float *weights, const unsigned char *visible,
		    double *sums, unsigned char *seen)
{
	bool any = false;
	for (size_t word = 0; word < v->keys.count; word++) {
		for (size_t k = v->keys.first[word]; k < v->keys.first[word + 1]; k++) {
			sums[word] += (double)weights[k];
			seen[word] |= visible[k] != 0;
			any |= visible[k] != 0;
		}
	}
	return any;
}

/* The rows of a word in the making. */
struct mean {
	size_t word, rows; /* which; how many of its queries see a key */
};

/* Add rows to the words that they belong to; a word whose last row this is, is finished. */
static void add_rows(const struct word_view *v, const struct row_block *inner, struct view_worker *w,
		     struct mean *mean, struct row_block *block)
{
	size_t keys = v->info.keys;
	for (size_t r = 0; r < inner->count; r++) {
		float *to = w->weights + (mean->word - block->query) * keys;
		mean->rows += add_row(v, inner->weights + r * inner->keys, inner->visible + r * inner->keys,
				      w->sums, w->visible + (mean->word - block->query) * keys);
		if (inner->query + r + 1 < v->queries.first[mean->word + 1])
			continue;
		for (size_t k = 0; k < keys; k++)
			to[k] = mean->rows ? (float)(w->sums[k] / (double)mean->rows) : 0;
		block->masked += mean->rows == 0;
		memset(w->sums, 0, keys * sizeof *w->sums);
		*mean = (struct mean){mean->word + 1, 0};
	}
}

static enum attn_status words_read(struct row_source *source, size_t worker, struct row_block *block,
				   struct attn_error *err)
{
	struct word_view *v = (struct word_view *)source;
	struct view_worker *w = &v->workers.items[worker];
	size_t last = v->queries.first[block->query + block->count];
	struct mean mean = {block->query, 0};
	block->weights = w->weights;
	block->visible = w->visible;
	block->scores = block->context = NULL;
	block->masked = 0;
	memset(w->sums, 0, v->info.keys * sizeof *w->sums);
	memset(w->visible, 0, block->count * v->info.keys);
	for (size_t query = v->queries.first[block->query], count; query < last; query += count) {
		count = size_min(last - query, ROWS_BLOCK);
		struct row_block inner = {.batch = block->batch,
					  .layer = block->layer,
					  .head = block->head,
					  .query = query,
					  .count = count,
					  .keys = v->inner->info->keys};
		enum attn_status status = v->inner->read(v->inner, worker, &inner, err);
		if (status != ATTN_OK)
			return status;
		add_rows(v, &inner, w, &mean, block);
	}
	return ATTN_OK;
}

/* Whether the first `count` labels are numbers that stand for missing ones. */
static bool unlabelled(const struct string_list *labels, size_t count)
{
	char number[24];
	for (size_t i = 0; i < count; i++) {
		snprintf(number, sizeof number, "%zu", i);
		if (strcmp(labels->items[i], number) != 0)
			return false;
	}
	return true;
}

/* Labels [first, first + count): only read. */
static struct string_list part(const struct string_list *labels, size_t first, size_t count)
{
	return (struct string_list){.items = labels->items + first, .count = count};
}

static bool find_keys(struct word_view *v)
{
	const struct rows_info *from = v->inner->info;
	size_t appended = v->inner->masking->appended_keys, past = v->inner->masking->past_keys;
	size_t alone = unlabelled(&from->key_labels, past) ? past : 0;
	struct string_list first = part(&from->key_labels, 0, alone);
	struct string_list own = part(&from->key_labels, alone, from->keys - alone - appended);
	struct string_list last = part(&from->key_labels, from->keys - appended, appended);
	return words_add_single(&v->keys, &first) && words_add(&v->keys, &own) &&
	       words_add_single(&v->keys, &last);
}

/* How many words begin below token `end`. */
static size_t words_before(const struct words *words, size_t end)
{
	size_t count = 0;
	while (count < words->count && words->first[count] < end)
		count++;
	return count;
}

static bool words_init(struct word_view *v)
{
	const struct rows_info *from = v->inner->info;
	struct rows_info *info = &v->info;
	if (!view_info_init(info, from) || !words_add(&v->queries, &from->query_labels) || !find_keys(v))
		return false;
	info->queries = v->queries.count;
	info->keys = v->keys.count;
	info->query_labels = v->queries.labels;
	info->key_labels = v->keys.labels;
	v->queries.labels = v->keys.labels = (struct string_list){0}; /* they moved */
	v->masking = (struct masking){.batch = info->batch,
				      .heads = info->heads,
				      .queries = info->queries,
				      .appended_keys = v->inner->masking->appended_keys,
				      .past_keys = words_before(&v->keys, v->inner->masking->past_keys)};
	v->masking.plain_keys = info->keys - v->masking.appended_keys;
	v->source.row_cost = (v->inner->row_cost + 4 * from->keys) * (from->queries / info->queries + 1);
	return view_workers_init(&v->workers, info->keys);
}

enum attn_status view_words_open(struct row_source **out, struct row_source *inner, struct attn_error *err)
{
	struct word_view *v = calloc(1, sizeof *v);
	if (!v)
		return attn_fail_memory(err);
	v->source = (struct row_source){&v->info, &v->masking, 0, words_read, words_free};
	v->inner = inner;
	if (!words_init(v)) {
		v->inner = NULL; /* it stays the caller's */
		words_free(&v->source);
		return attn_fail_memory(err);
	}
	*out = &v->source;
	return ATTN_OK;
}
