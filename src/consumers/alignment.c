#include "consumers/alignment.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/monotone.h"
#include "util/checked.h"
#include "util/memory.h"

/* The most of a row or column so far. */
struct choice {
	size_t at; /* SIZE_MAX: nothing above 0 */
	float weight;
};

/* What is kept of one head, or of a batch item. */
struct alignment_slot {
	struct choice *forward;  /* (queries) */
	struct choice *backward; /* (keys) */
	double *sums;            /* (keys): the magnitudes of what queries that may be linked give */
	struct link_list found;  /* ALIGN_THRESHOLD */
	double *weights;         /* ALIGN_MONOTONE, (queries, keys): the mean over heads */
	double *path;            /* and what the path goes through; the same array where nothing differs */
};

static bool is_pooled(const struct alignment_options *o)
{
	return o->method == ALIGN_MONOTONE && o->heads > 0;
}

static bool changes_heads(const struct alignment_options *o)
{
	return o->standardise || o->median > 1;
}

/* --- a row --------------------------------------------------------------------------------- */

static void choose(struct choice *choice, size_t at, float weight)
{
	if (weight > choice->weight) {
		choice->at = at;
		choice->weight = weight;
	}
}

static void take_row(const struct alignment *a, struct alignment_slot *slot, size_t query,
		     const float *weights, const unsigned char *cells)
{
	const struct alignment_options *o = a->options;
	for (size_t k = 0; k < a->keys; k++) {
		bool null = o->nulls && o->nulls[k];
		if (!cell_has_weight(cells[k]) || !(o->keys[k] || null))
			continue;
		choose(&slot->forward[query], k, weights[k]);
		if (null)
			continue;
		choose(&slot->backward[k], query, weights[k]);
		slot->sums[k] += fabs((double)weights[k]);
	}
}

/* Of the keys that may be linked, those with enough weight. */
static bool take_heavy(const struct alignment *a, struct alignment_slot *slot, size_t query,
		       const float *weights, const unsigned char *cells)
{
	const struct alignment_options *o = a->options;
	bool ok = true;
	for (size_t k = 0; k < a->keys && ok; k++) {
		double weight = (double)weights[k];
		if (cell_has_weight(cells[k]) && o->keys[k] && weight > 0 && weight >= o->threshold)
			ok = link_list_add(&slot->found, (struct link){.source = k,
								       .target = query,
								       .weight = weight,
								       .confidence = weight});
	}
	return ok;
}

/* --- a head, for a path ------------------------------------------------------------------------ */

/* Add the head that has been read to the means of its batch item. */
static bool add_head(struct alignment *a, struct alignment_slot *slot)
{
	const struct alignment_options *o = a->options;
	size_t cells = a->queries * a->keys;
	double heads = o->heads ? (double)o->heads : 1;
	for (size_t i = 0; i < cells; i++)
		slot->weights[i] += (double)a->current[i] / heads;
	if (!changes_heads(o))
		return true;
	if (o->standardise)
		columns_standardise(a->current, a->queries, a->keys);
	if (!rows_median(a->current, a->queries, a->keys, o->median))
		return false;
	for (size_t i = 0; i < cells; i++)
		slot->path[i] += (double)a->current[i] / heads;
	return true;
}

static struct alignment_slot *slot_of(const struct alignment *a, size_t batch, size_t layer, size_t head)
{
	if (is_pooled(a->options))
		return &a->slots[batch];
	return &a->slots[(layer * a->batch + batch) * a->heads + head];
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct alignment *a = (struct alignment *)consumer;
	const struct alignment_options *o = a->options;
	struct alignment_slot *slot = slot_of(a, block->batch, block->layer, block->head);
	bool ok = true;
	for (size_t r = 0; r < block->count && ok; r++) {
		const float *weights = block->weights + r * a->keys;
		const unsigned char *cells = block->cells + r * a->keys;
		size_t query = block->query + r;
		if (o->method == ALIGN_MONOTONE)
			memcpy(a->current + query * a->keys, weights, a->keys * sizeof *weights);
		else if (o->queries[query] && o->method == ALIGN_THRESHOLD)
			ok = take_heavy(a, slot, query, weights, cells);
		else if (o->queries[query])
			take_row(a, slot, query, weights, cells);
	}
	if (ok && o->method == ALIGN_MONOTONE && block->query + block->count == a->queries)
		ok = add_head(a, slot);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* --- memory ------------------------------------------------------------------------------------ */

static bool slot_init(struct alignment *a, struct alignment_slot *slot)
{
	const struct alignment_options *o = a->options;
	if (o->method == ALIGN_THRESHOLD)
		return true;
	if (o->method == ALIGN_MONOTONE) {
		size_t cells = a->queries * a->keys;
		slot->weights = array_alloc(cells, sizeof *slot->weights);
		slot->path = changes_heads(o) ? array_alloc(cells, sizeof *slot->path) : slot->weights;
		return slot->weights && slot->path;
	}
	slot->forward = array_alloc(a->queries, sizeof *slot->forward);
	slot->backward = array_alloc(a->keys, sizeof *slot->backward);
	slot->sums = array_alloc(a->keys, sizeof *slot->sums);
	if (!slot->forward || !slot->backward || !slot->sums)
		return false;
	for (size_t i = 0; i < a->queries; i++)
		slot->forward[i].at = SIZE_MAX;
	for (size_t i = 0; i < a->keys; i++)
		slot->backward[i].at = SIZE_MAX;
	return true;
}

static enum attn_status check_cells(const struct rows_shape *shape, size_t slots, struct attn_error *err)
{
	size_t cells;
	if (size_mul(shape->queries, shape->keys, &cells) && size_mul(cells, slots, &cells) &&
	    cells <= MONOTONE_CELLS)
		return ATTN_OK;
	return attn_fail(
	    err, ATTN_USAGE,
	    "a monotone path needs whole matrices, here %zu of %zu queries by %zu keys, expected at "
	    "most %d weights: choose with --query, --key, --batch and --head",
	    slots, shape->queries, shape->keys, MONOTONE_CELLS);
}

enum attn_status alignment_init(struct alignment *a, const struct rows_shape *shape,
				const struct alignment_options *options, struct attn_error *err)
{
	bool path = options->method == ALIGN_MONOTONE;
	*a = (struct alignment){.consumer = {.consume = consume, .no_context = true},
				.options = options,
				.batch = shape->batch,
				.heads = shape->heads,
				.queries = shape->queries,
				.keys = shape->keys};
	size_t slots = shape->batch;
	if (!is_pooled(options) &&
	    (!size_mul(slots, shape->heads, &slots) || !size_mul(slots, shape->layers, &slots)))
		return attn_fail_memory(err);
	if (path)
		TRY(check_cells(shape, slots, err));
	a->slots = array_alloc(slots, sizeof *a->slots);
	bool ok = a->slots != NULL;
	if (ok && path) {
		a->current = array_alloc(shape->queries * shape->keys, sizeof *a->current);
		ok = a->current != NULL;
	}
	for (; a->slot_count < slots && ok; a->slot_count++)
		ok = slot_init(a, &a->slots[a->slot_count]);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

void alignment_release(struct alignment *a)
{
	for (size_t i = 0; i < a->slot_count; i++) {
		struct alignment_slot *slot = &a->slots[i];
		free(slot->forward);
		free(slot->backward);
		free(slot->sums);
		link_list_release(&slot->found);
		if (slot->path != slot->weights)
			free(slot->path);
		free(slot->weights);
	}
	free(a->slots);
	free(a->current);
	*a = (struct alignment){0};
}

/* --- links ------------------------------------------------------------------------------------- */

/* A chosen pair, as the method is sure of it. */
static struct link chosen(const struct alignment *a, const struct alignment_slot *slot, size_t key,
			  size_t query, double weight)
{
	enum alignment_method method = a->options->method;
	double share = slot->sums[key] > 0 ? weight / slot->sums[key] : 0;
	return (struct link){.source = key,
			     .target = query,
			     .weight = weight,
			     .confidence = method == ALIGN_ARGMAX    ? weight
					   : method == ALIGN_REVERSE ? share
								     : sqrt(weight * share)};
}

static bool add_forward(const struct alignment *a, const struct alignment_slot *slot, struct link_list *out)
{
	const bool *nulls = a->options->nulls;
	bool ok = true;
	for (size_t q = 0; q < a->queries && ok; q++) {
		const struct choice *c = &slot->forward[q];
		if (c->at != SIZE_MAX && !(nulls && nulls[c->at]))
			ok = link_list_add(out, chosen(a, slot, c->at, q, (double)c->weight));
	}
	link_list_sort(out);
	return ok;
}

static bool add_backward(const struct alignment *a, const struct alignment_slot *slot, struct link_list *out)
{
	bool ok = true;
	for (size_t k = 0; k < a->keys && ok; k++)
		if (slot->backward[k].at != SIZE_MAX)
			ok = link_list_add(
			    out, chosen(a, slot, k, slot->backward[k].at, (double)slot->backward[k].weight));
	link_list_sort(out);
	return ok;
}

static bool add_both(const struct alignment *a, const struct alignment_slot *slot, struct link_list *out)
{
	struct link_list forward = {0}, backward = {0};
	bool ok = add_forward(a, slot, &forward) && add_backward(a, slot, &backward);
	if (ok && a->options->method == ALIGN_GROW)
		ok = links_grow(&forward, &backward, out);
	else if (ok)
		ok = a->options->method == ALIGN_UNION ? links_union(&forward, &backward, out)
						       : links_intersect(&forward, &backward, out);
	link_list_release(&forward);
	link_list_release(&backward);
	return ok;
}

/* The numbers of those that may be linked, or NULL without memory. */
static size_t *list_allowed(const bool *allowed, size_t count, size_t *found)
{
	size_t *list = array_alloc(count, sizeof *list);
	*found = 0;
	for (size_t i = 0; i < count && list; i++)
		if (allowed[i])
			list[(*found)++] = i;
	return list;
}

static bool add_path(const struct alignment *a, const struct alignment_slot *slot, struct link_list *out)
{
	size_t rows, cols;
	size_t *queries = list_allowed(a->options->queries, a->queries, &rows);
	size_t *keys = list_allowed(a->options->keys, a->keys, &cols);
	double *x = array_alloc(rows, cols * sizeof *x); /* fits: a part of what there is */
	struct path_step *steps = array_alloc(rows + cols, sizeof *steps);
	bool ok = queries && keys && x && steps;
	size_t count = 0;
	for (size_t i = 0; i < rows * cols && ok; i++)
		x[i] = slot->path[queries[i / cols] * a->keys + keys[i % cols]];
	if (ok && rows > 0 && cols > 0) {
		count = monotone_path(x, rows, cols, steps);
		ok = count > 0;
	}
	for (size_t i = 0; i < count && ok; i++) {
		size_t query = queries[steps[i].row], key = keys[steps[i].col];
		double weight = slot->weights[query * a->keys + key];
		ok = link_list_add(
		    out,
		    (struct link){.source = key, .target = query, .weight = weight, .confidence = weight});
	}
	link_list_sort(out);
	free(queries);
	free(keys);
	free(x);
	free(steps);
	return ok;
}

enum attn_status alignment_links(const struct alignment *a, size_t batch, size_t layer, size_t head,
				 struct link_list *out, struct attn_error *err)
{
	const struct alignment_slot *slot = slot_of(a, batch, layer, head);
	enum alignment_method method = a->options->method;
	bool ok = true;
	if (method == ALIGN_MONOTONE)
		ok = add_path(a, slot, out);
	else if (method == ALIGN_ARGMAX)
		ok = add_forward(a, slot, out);
	else if (method == ALIGN_REVERSE)
		ok = add_backward(a, slot, out);
	else if (method != ALIGN_THRESHOLD)
		ok = add_both(a, slot, out);
	for (size_t i = 0; i < slot->found.count && ok; i++)
		ok = link_list_add(out, slot->found.items[i]);
	link_list_sort(out);
	return ok ? ATTN_OK : attn_fail_memory(err);
}
