/* Positions of tokens, and what is added to their vectors by them. */
#include <math.h>
#include <stdlib.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/checked.h"
#include "util/memory.h"

/* (tokens) or (batch, tokens) whole numbers of a tensor. */
static enum attn_status read_positions(struct tensor *t, size_t batch, size_t tokens, double **out,
				       size_t *out_batch, struct attn_error *err)
{
	bool fits = (t->rank == 1 || (t->rank == 2 && (t->shape[0] == 1 || t->shape[0] == batch))) &&
		    t->shape[t->rank - 1] == tokens;
	if (!fits)
		return bind_fail_shape(t, err, "%zu, or %zu x %zu", tokens, batch, tokens);
	TRY(tensor_load(t, err));
	*out_batch = t->rank == 2 ? t->shape[0] : 1;
	*out = array_alloc(t->count, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = (*out)[i] = tensor_get(t, i);
		char place[300];
		if (!(value >= 0 && value < POSITIONS_END && value == floor(value)))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %.17g, expected a whole number from 0 and below 2^53",
					 origin_name(t->origin), tensor_index_text(t, i, place, sizeof place),
					 value);
	}
	return ATTN_OK;
}

static enum attn_status count_positions(size_t first, size_t tokens, double **out, size_t *out_batch,
					struct attn_error *err)
{
	*out_batch = 1;
	*out = positions_count(first, tokens);
	return *out ? ATTN_OK : attn_fail_memory(err);
}

/* From the tensors positions, (N) or (batch, N), and source_positions, (M) or (batch, M),
 * else by counting: queries from position_offset (the length of the KV cache where that is
 * not given), own keys from the length of the KV cache.  With `self` keys are the queries'
 * own tokens: they have source_positions, else positions, else count from where queries
 * do. */
static enum attn_status find_positions(struct problem *p, const struct bundle *b, bool self,
				       struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct positions *at = &a->positions;
	struct tensor *of_queries = use_tensor(b, ROLE_POSITIONS);
	struct tensor *of_keys = use_tensor(b, ROLE_SOURCE_POSITIONS);
	size_t past = a->keys.past, offset = past;
	if (!of_keys && self)
		of_keys = of_queries;
	TRY(setting_count(b, ROLE_POSITION_OFFSET, 0, &offset, err));
	if ((double)offset + (double)a->queries >= POSITIONS_END)
		return setting_fail(given_setting(b, ROLE_POSITION_OFFSET),
				    "a first position so that all are below 2^53", err);
	if (of_queries)
		TRY(read_positions(of_queries, a->batch, a->queries, &at->queries, &at->query_batch, err));
	else
		TRY(count_positions(offset, a->queries, &at->queries, &at->query_batch, err));
	if (of_keys)
		TRY(read_positions(of_keys, a->batch, a->keys.own, &at->keys, &at->key_batch, err));
	else
		TRY(count_positions(self ? offset : past, a->keys.own, &at->keys, &at->key_batch, err));
	return ATTN_OK;
}

/* What is added to a sequence, and the learned table in it. */
struct addition {
	struct position_encoding encoding;
	const struct tensor *table; /* or NULL */
};

/* Every position must have its row in the table. */
static enum attn_status check_table(const struct addition *add, size_t tokens, struct attn_error *err)
{
	const struct position_encoding *e = &add->encoding;
	for (size_t row = 0; row < tokens && add->table; row++) {
		for (size_t item = 0; item < e->position_batch; item++) {
			double position = e->positions[item * tokens + row];
			if (position >= (double)add->table->shape[0])
				return attn_fail(
				    err, ATTN_BAD_INPUT,
				    "'%s': '%s' has %zu rows, expected at least %.0f, for a token at "
				    "position %.0f",
				    origin_name(add->table->origin), add->table->name, add->table->shape[0],
				    position + 1, position);
		}
	}
	return ATTN_OK;
}

/* Replace *s, of the whole batch or one for all, by its sum with `add`. */
static enum attn_status add_positions(struct problem *p, struct sequence *s, const char *name,
				      const struct addition *add, struct attn_error *err)
{
	const struct position_encoding *e = &add->encoding;
	size_t items = s->batch_stride > 0 || e->position_batch > 1 ? p->attention.batch : 1, count, beyond;
	if (!e->sinusoidal && !e->table)
		return ATTN_OK;
	enum attn_status status = check_table(add, s->rows, err);
	if (status != ATTN_OK)
		return status;
	float *out = size_mul(s->rows * s->cols, items, &count) ? float_pool_take(&p->floats, count) : NULL;
	double *scratch = array_alloc(s->cols + 1, 2 * sizeof *scratch);
	if (!out || !scratch)
		status = attn_fail_memory(err);
	else if (!position_encoding_add(e, s, items, out, scratch, &beyond))
		status =
		    attn_fail(err, ATTN_BAD_INPUT,
			      "'%s' of token %zu with its position added is beyond float32", name, beyond);
	free(scratch);
	if (status != ATTN_OK)
		return status;
	s->data = out;
	s->batch_stride = items > 1 ? s->rows * s->cols : 0;
	return ATTN_OK;
}

/* The learned table of a sequence `cols` wide, if the bundle has it. */
static enum attn_status bind_table(struct problem *p, const struct bundle *b, enum role_id role, size_t cols,
				   struct addition *add, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	if (!t)
		return ATTN_OK;
	if (t->rank != 2 || t->count == 0 || t->shape[1] != cols)
		return bind_fail_shape(t, err, "positions x %zu", cols);
	add->table = t;
	return bind_f32(&p->floats, t, &add->encoding.table, err);
}

/* Add to the vectors of queries, and of keys. */
static enum attn_status bind_additions(struct problem *p, const struct bundle *b, bool sinusoidal,
				       struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct positions *at = &a->positions;
	struct addition to_queries = {.encoding = {.sinusoidal = sinusoidal,
						   .positions = at->queries,
						   .position_batch = at->query_batch}};
	struct addition to_keys = {
	    .encoding = {.sinusoidal = sinusoidal, .positions = at->keys, .position_batch = at->key_batch}};
	const struct tensor *keys = given_tensor(b, ROLE_SOURCE_POSITIONS);
	TRY(bind_table(p, b, ROLE_POSITION_TABLE, a->embeddings.cols, &to_queries, err));
	TRY(bind_table(p, b, ROLE_SOURCE_POSITION_TABLE, a->source.cols, &to_keys, err));
	/* One vector cannot be at two positions. */
	if (keys && !a->cross && (sinusoidal || to_queries.table))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'source_positions' is given, expected only 'positions' where what "
				 "is added to 'embeddings' serves queries and keys",
				 origin_name(keys->origin));
	TRY(add_positions(p, &a->embeddings, "embeddings", &to_queries, err));
	if (a->cross)
		TRY(add_positions(p, &a->source, "source_embeddings", &to_keys, err));
	if (!a->cross)
		a->source = a->embeddings;
	if (!given_tensor(b, ROLE_SOURCE_VALUES))
		a->source_values = a->source;
	return ATTN_OK;
}

/* Whether there is something to add.  Where there are no embeddings, nothing is asked for. */
static enum attn_status bind_added(const struct problem *p, const struct bundle *b, bool *sinusoidal,
				   bool *added, struct attn_error *err)
{
	const struct attention *a = &p->attention;
	*sinusoidal = *added = false;
	if (!a->projected)
		return ATTN_OK;
	if (!a->cross && given_tensor(b, ROLE_SOURCE_POSITION_TABLE))
		return bind_fail_missing(b, err, ROLE_SOURCE_EMBEDDINGS,
					 "'source_position_table' also requires it");
	TRY(setting_bool(b, ROLE_SINUSOIDAL, sinusoidal, err));
	*added = *sinusoidal || given_tensor(b, ROLE_POSITION_TABLE) ||
		 given_tensor(b, ROLE_SOURCE_POSITION_TABLE);
	return ATTN_OK;
}

enum attn_status bind_positions(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	const struct attention *a = &p->attention;
	bool sinusoidal, added;
	bool self = a->projected ? !a->cross : a->queries == a->keys.own;
	enum attn_status status = bind_added(p, b, &sinusoidal, &added, err);
	if (status != ATTN_OK || (!added && a->rotary.dims == 0))
		return status;
	status = find_positions(p, b, self, err);
	return status == ATTN_OK && added ? bind_additions(p, b, sinusoidal, err) : status;
}
