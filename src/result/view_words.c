/* A view that joins tokens to words. */
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "tokens/words.h"
#include "util/buffer.h"
#include "util/memory.h"
#include "util/minmax.h"

struct word_view {
	struct view_base base;
	struct words queries, keys;
};

static void words_free(struct row_source *source)
{
	struct word_view *v = (struct word_view *)source;
	view_base_release(&v->base);
	words_release(&v->queries);
	words_release(&v->keys);
	free(v);
}

/* Add a row of the inner source to the sums of a word's; whether it attends to a key. */
static bool add_row(const struct word_view *v, const float *weights, const unsigned char *cells, double *sums,
		    unsigned char *word_cells)
{
	bool any = false;
	for (size_t word = 0; word < v->keys.count; word++) {
		for (size_t k = v->keys.first[word]; k < v->keys.first[word + 1]; k++) {
			sums[word] += (double)weights[k];
			word_cells[word] |= cell_has_weight(cells[k]);
			any |= cell_has_weight(cells[k]);
		}
	}
	return any;
}

/* The rows of a word in the making. */
struct mean {
	size_t word, rows; /* which; how many of its queries attend to a key */
};

/* Add rows to the words that they belong to; a word whose last row this is, is finished. */
static void add_rows(const struct word_view *v, const struct row_block *inner, struct view_worker *w,
		     struct mean *mean, struct row_block *block)
{
	size_t keys = v->base.source.shape.keys;
	for (size_t r = 0; r < inner->count; r++) {
		float *to = w->weights + (mean->word - block->query) * keys;
		mean->rows += add_row(v, inner->weights + r * inner->keys, inner->cells + r * inner->keys,
				      w->sums, w->cells + (mean->word - block->query) * keys);
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
	struct view_worker *w = &v->base.workers[worker];
	size_t last = v->queries.first[block->query + block->count];
	struct mean mean = {block->query, 0};
	block->weights = w->weights;
	block->cells = w->cells;
	block->masked = 0;
	memset(w->sums, 0, v->base.source.shape.keys * sizeof *w->sums);
	memset(w->cells, 0, block->count * v->base.source.shape.keys);
	for (size_t query = v->queries.first[block->query], count; query < last; query += count) {
		count = size_min(last - query, ROWS_BLOCK);
		struct row_block inner = {.batch = block->batch,
					  .layer = block->layer,
					  .head = block->head,
					  .query = query,
					  .count = count,
					  .keys = v->base.inner->shape.keys};
		TRY(v->base.inner->read(v->base.inner, worker, &inner, err));
		add_rows(v, &inner, w, &mean, block);
	}
	return ATTN_OK;
}

/* Labels [first, first + count): only read. */
static struct string_list part(const struct string_list *labels, size_t first, size_t count)
{
	return (struct string_list){.items = labels->items + first, .count = count};
}

static bool find_keys(struct word_view *v, const struct rows_info *from)
{
	size_t appended = from->shape.appended_keys, past = from->shape.past_keys;
	size_t alone = labels_missing(&from->key_labels, past) ? past : 0;
	struct string_list first = part(&from->key_labels, 0, alone);
	struct string_list own = part(&from->key_labels, alone, from->shape.keys - alone - appended);
	struct string_list last = part(&from->key_labels, from->shape.keys - appended, appended);
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

/* Shapes and labels of the view, once its words are known. */
static bool words_finish(struct word_view *v, struct rows_info *info, const struct rows_info *from)
{
	struct rows_shape *shape = &info->shape;
	shape->queries = v->queries.count;
	shape->keys = v->keys.count;
	shape->past_keys = words_before(&v->keys, from->shape.past_keys);
	info->query_labels = v->queries.labels;
	info->key_labels = v->keys.labels;
	v->queries.labels = v->keys.labels = (struct string_list){0}; /* they moved */
	v->base.source.shape = *shape;
	v->base.source.row_cost =
	    (v->base.inner->row_cost + 4 * from->shape.keys) * (from->shape.queries / shape->queries + 1);
	return view_base_workers(&v->base);
}

static bool words_init(struct word_view *v, struct rows_info *info, const struct rows_info *from)
{
	return view_info_init(info, from) && words_add(&v->queries, &from->query_labels) &&
	       find_keys(v, from) && words_finish(v, info, from);
}

/* --- phrases ------------------------------------------------------------------------------ */

/* Each token a word of its own but those of a phrase, whose label has them with spaces between and
 * whose number is the first one's. */
static bool join_phrases(struct words *words, size_t **out, const struct string_list *labels,
			 const size_t *numbers, const struct span_list *phrases)
{
	struct buffer label = BUFFER_INIT;
	size_t next = 0;
	words->first = array_alloc(labels->count + 1, sizeof *words->first);
	*out = array_alloc(labels->count, sizeof **out);
	bool ok = words->first && *out;
	for (size_t i = 0, end; i < labels->count && ok; i = end) {
		bool joined = next < phrases->count && phrases->items[next].first == i;
		end = joined ? phrases->items[next].end : i + 1;
		next += joined;
		while (next < phrases->count && phrases->items[next].first < end) /* overlaps */
			next++;
		buffer_clear(&label);
		for (size_t k = i; k < end; k++) {
			buffer_add_string(&label, k > i ? " " : "");
			buffer_add_string(&label, labels->items[k]);
		}
		(*out)[words->count] = numbers ? numbers[i] : i;
		words->first[words->count++] = i;
		words->first[words->count] = end;
		ok = !label.failed && string_list_add(&words->labels, label.data);
	}
	buffer_release(&label);
	return ok;
}

static bool phrases_init(struct word_view *v, struct rows_info *info, const struct rows_info *from,
			 const struct span_list *phrases, bool keys)
{
	static const struct span_list none = {0};
	const struct rows_shape *shape = &from->shape;
	if (!view_info_init(info, from) ||
	    !join_phrases(&v->queries, &info->query_numbers, &from->query_labels, from->query_numbers,
			  keys ? &none : phrases) ||
	    !join_phrases(&v->keys, &info->key_numbers, &from->key_labels, from->key_numbers,
			  keys ? phrases : &none))
		return false;
	if (!info->positioned)
		info->positioned = shape->keys - shape->appended_keys;
	return words_finish(v, info, from);
}

static enum attn_status open_view(struct named_rows *view, const struct named_rows *inner,
				  const struct span_list *phrases, bool keys, struct attn_error *err)
{
	struct word_view *v = calloc(1, sizeof *v);
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->base.source = (struct row_source){.start = view_base_start,
					     .begin_layer = view_base_begin_layer,
					     .read = words_read,
					     .free = words_free};
	v->base.inner = inner->source;
	bool ready = phrases ? phrases_init(v, &view->info, &inner->info, phrases, keys)
			     : words_init(v, &view->info, &inner->info);
	return view_base_finish(&v->base, ready, view, err);
}

enum attn_status view_words_open(struct named_rows *view, const struct named_rows *inner,
				 struct attn_error *err)
{
	return open_view(view, inner, NULL, false, err);
}

enum attn_status view_phrases_open(struct named_rows *view, const struct named_rows *inner,
				   const struct span_list *phrases, bool keys, struct attn_error *err)
{
	return open_view(view, inner, phrases, keys, err);
}
