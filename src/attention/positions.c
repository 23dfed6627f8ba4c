#include "attention/positions.h"

#include <math.h>
#include <stdlib.h>

#include "input/bind.h"
#include "input/settings.h"
#include "util/checked.h"

/* Positions are below this, so that a double tells them all apart. */
static const double beyond = 0x1p53;

void positions_release(struct positions *p)
{
	free(p->queries);
	free(p->keys);
	*p = (struct positions){0};
}

/* (tokens) or (batch, tokens) whole numbers of a tensor. */
static enum attn_status read_positions(struct tensor *t, size_t batch, size_t tokens, double **out,
				       size_t *out_batch, struct attn_error *err)
{
	bool fits = (t->rank == 1 || (t->rank == 2 && (t->shape[0] == 1 || t->shape[0] == batch))) &&
		    t->shape[t->rank - 1] == tokens;
	if (!fits)
		return bind_fail_shape(t, err, "%zu, or %zu x %zu", tokens, batch, tokens);
	enum attn_status status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	*out_batch = t->rank == 2 ? t->shape[0] : 1;
	*out = array_alloc(t->count, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = (*out)[i] = tensor_get(t, i);
		char place[300];
		if (!(value >= 0 && value < beyond && value == floor(value)))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %.17g, expected a whole number from 0 and below 2^53",
					 origin_name(t->origin), tensor_index_text(t, i, place, sizeof place),
					 value);
	}
	return ATTN_OK;
}

/* first, first + 1, ... */
static enum attn_status count_positions(size_t first, size_t tokens, double **out, size_t *out_batch,
					struct attn_error *err)
{
	*out_batch = 1;
	*out = array_alloc(tokens, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < tokens; i++)
		(*out)[i] = (double)first + (double)i;
	return ATTN_OK;
}

enum attn_status positions_bind(struct positions *p, const struct bundle *b, size_t batch, size_t queries,
				size_t own_keys, size_t past, bool self, struct attn_error *err)
{
	struct tensor *of_queries = bundle_tensor(b, "positions");
	struct tensor *of_keys = bundle_tensor(b, "source_positions");
	size_t offset = past;
	*p = (struct positions){0};
	if (!of_keys && self)
		of_keys = of_queries;
	enum attn_status status = setting_count(b, "position_offset", 0, &offset, err);
	if (status == ATTN_OK && (double)offset + (double)queries >= beyond)
		status = setting_fail(bundle_setting(b, "position_offset"),
				      "a first position so that all are below 2^53", err);
	if (status == ATTN_OK && of_queries)
		status = read_positions(of_queries, batch, queries, &p->queries, &p->query_batch, err);
	else if (status == ATTN_OK)
		status = count_positions(offset, queries, &p->queries, &p->query_batch, err);
	if (status == ATTN_OK && of_keys)
		status = read_positions(of_keys, batch, own_keys, &p->keys, &p->key_batch, err);
	else if (status == ATTN_OK)
		status = count_positions(self ? offset : past, own_keys, &p->keys, &p->key_batch, err);
	if (status != ATTN_OK)
		positions_release(p);
	return status;
}

/* What is added to a sequence. */
struct addition {
	bool sinusoidal;
	const struct tensor *tensor; /* the learned table (rows, columns of the sequence), and */
	const float *table;          /* its numbers; NULL: none */
	const double *positions;     /* (position_batch, rows of the sequence) */
	size_t position_batch;
};

/* wavelengths[c] = 10000^(2c/cols), (cols + 1) / 2 of them. */
static void fill_wavelengths(double *wavelengths, size_t cols)
{
	for (size_t c = 0; c < (cols + 1) / 2; c++)
		wavelengths[c] = pow(10000, (double)(2 * c) / (double)cols);
}

/* sum[cols] = what a token at `position` is given. */
static enum attn_status fill_sum(const struct addition *add, const double *wavelengths, double position,
				 size_t cols, double *sum, struct attn_error *err)
{
	for (size_t c = 0; c < cols; c++) {
		double angle = add->sinusoidal ? position / wavelengths[c / 2] : 0;
		sum[c] = !add->sinusoidal ? 0 : c % 2 == 0 ? sin(angle) : cos(angle);
	}
	if (!add->table)
		return ATTN_OK;
	size_t rows = add->tensor->shape[0];
	if (position >= (double)rows)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': '%s' has %zu rows, expected at least %.0f, for a token at position %.0f",
		    origin_name(add->tensor->origin), add->tensor->name, rows, position + 1, position);
	for (size_t c = 0; c < cols; c++)
		sum[c] += add->table[(size_t)position * cols + c];
	return ATTN_OK;
}

/* to[cols] = from[cols] + sum[cols], in double and rounded once. */
static bool add_row(const float *from, const double *sum, size_t cols, float *to)
{
	bool finite = true;
	for (size_t c = 0; c < cols; c++) {
		to[c] = (float)(from[c] + sum[c]);
		finite &= isfinite(to[c]) != 0;
	}
	return finite;
}

/* Add to *s, row by row, what stands for its tokens' positions.  out (items, rows,
 * cols); scratch[2 cols + 1]. */
static enum attn_status add_rows(const struct sequence *s, const char *name, const struct addition *add,
				 size_t items, float *out, double *scratch, struct attn_error *err)
{
	size_t size = s->rows * s->cols;
	double *wavelengths = scratch + s->cols;
	fill_wavelengths(wavelengths, s->cols);
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t item = 0; item < items; item++) {
			/* Batch items of the same positions are given the same. */
			if (item == 0 || add->position_batch > 1) {
				double position = add->positions[item * s->rows + row];
				enum attn_status status =
				    fill_sum(add, wavelengths, position, s->cols, scratch, err);
				if (status != ATTN_OK)
					return status;
			}
			size_t at = row * s->cols;
			if (!add_row(s->data + item * s->batch_stride + at, scratch, s->cols,
				     out + item * size + at))
				return attn_fail(
				    err, ATTN_BAD_INPUT,
				    "'%s' of token %zu with its position added is beyond float32", name, row);
		}
	}
	return ATTN_OK;
}

/* Replace *s, of `batch` items or one for all, by its sum with `add`. */
static enum attn_status add_positions(struct problem *p, struct sequence *s, const char *name,
				      const struct addition *add, struct attn_error *err)
{
	size_t items = s->batch_stride > 0 || add->position_batch > 1 ? p->batch : 1, count;
	if (!add->sinusoidal && !add->table)
		return ATTN_OK;
	float **owned = reallocarray(p->owned, p->owned_count + 1, sizeof *owned);
	if (!owned)
		return attn_fail_memory(err);
	p->owned = owned;
	float *out = size_mul(s->rows * s->cols, items, &count) ? array_alloc(count, sizeof *out) : NULL;
	if (!out)
		return attn_fail_memory(err);
	p->owned[p->owned_count++] = out;
	double *scratch = array_alloc(s->cols + 1, 2 * sizeof *scratch);
	if (!scratch)
		return attn_fail_memory(err);
	enum attn_status status = add_rows(s, name, add, items, out, scratch, err);
	free(scratch);
	if (status != ATTN_OK)
		return status;
	s->data = out;
	s->batch_stride = items > 1 ? s->rows * s->cols : 0;
	return ATTN_OK;
}

/* The learned table of a sequence `cols` wide, if the bundle has it. */
static enum attn_status bind_table(struct problem *p, const struct bundle *b, const char *name, size_t cols,
				   struct addition *add, struct attn_error *err)
{
	struct tensor *t = bundle_tensor(b, name);
	if (!t)
		return ATTN_OK;
	if (t->rank != 2 || t->count == 0 || t->shape[1] != cols)
		return bind_fail_shape(t, err, "positions x %zu", cols);
	add->tensor = t;
	return bind_f32(p, t, &add->table, err);
}

/* Encodings and tables where there is nothing to add them to. */
static enum attn_status refuse_additions(const struct problem *p, const struct bundle *b, bool sinusoidal,
					 struct attn_error *err)
{
	static const char *const tables[] = {"position_table", "source_position_table"};
	if (!p->projected && sinusoidal)
		return setting_fail(bundle_setting(b, "sinusoidal"),
				    "false beside ready-made 'q', 'k', 'v': it is added to embeddings", err);
	for (size_t i = 0; i < 2 && !p->projected; i++)
		if (bundle_tensor(b, tables[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is given beside ready-made 'q', 'k', 'v', expected "
					 "'embeddings' to add it to",
					 origin_name(bundle_tensor(b, tables[i])->origin), tables[i]);
	if (p->projected && !p->info.cross && bundle_tensor(b, tables[1]))
		return bind_fail_missing(b, err, "source_embeddings", "beside 'source_position_table'");
	return ATTN_OK;
}

/* Positions are better refused than silently left unused. */
static enum attn_status refuse_unused(const struct bundle *b, struct attn_error *err)
{
	static const char *const names[] = {"positions", "source_positions"};
	const struct setting *offset = bundle_setting(b, "position_offset");
	if (offset)
		return setting_fail(offset, "'rope', 'sinusoidal' or 'position_table' beside it", err);
	for (size_t i = 0; i < 2; i++)
		if (bundle_tensor(b, names[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is given, expected 'rope', 'sinusoidal' or "
					 "'position_table' beside it",
					 origin_name(bundle_tensor(b, names[i])->origin), names[i]);
	return ATTN_OK;
}

/* Add to the vectors of queries, and of keys. */
static enum attn_status bind_additions(struct problem *p, const struct bundle *b, bool sinusoidal,
				       const struct positions *at, struct attn_error *err)
{
	struct addition to_queries = {
	    .sinusoidal = sinusoidal, .positions = at->queries, .position_batch = at->query_batch};
	struct addition to_keys = {
	    .sinusoidal = sinusoidal, .positions = at->keys, .position_batch = at->key_batch};
	const struct tensor *keys = bundle_tensor(b, "source_positions");
	enum attn_status status = bind_table(p, b, "position_table", p->embeddings.cols, &to_queries, err);
	if (status == ATTN_OK)
		status = bind_table(p, b, "source_position_table", p->source.cols, &to_keys, err);
	/* One vector cannot be at two positions. */
	if (status == ATTN_OK && keys && !p->info.cross && (sinusoidal || to_queries.table))
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%s': 'source_positions' is given, expected only 'positions' where what "
				   "is added to 'embeddings' serves queries and keys",
				   origin_name(keys->origin));
	if (status == ATTN_OK)
		status = add_positions(p, &p->embeddings, "embeddings", &to_queries, err);
	if (status == ATTN_OK && p->info.cross)
		status = add_positions(p, &p->source, "source_embeddings", &to_keys, err);
	if (status != ATTN_OK)
		return status;
	if (!p->info.cross)
		p->source = p->embeddings;
	if (!bundle_tensor(b, "source_values"))
		p->source_values = p->source;
	return ATTN_OK;
}

enum attn_status bind_positions(struct problem *p, const struct bundle *b, bool rotary,
				struct positions *positions, struct attn_error *err)
{
	bool sinusoidal = false;
	bool self = p->projected ? !p->info.cross : p->queries == p->keys.own;
	*positions = (struct positions){0};
	enum attn_status status = setting_bool(b, "sinusoidal", &sinusoidal, err);
	if (status == ATTN_OK)
		status = refuse_additions(p, b, sinusoidal, err);
	if (status != ATTN_OK)
		return status;
	bool added =
	    sinusoidal || bundle_tensor(b, "position_table") || bundle_tensor(b, "source_position_table");
	if (!rotary && !added)
		return refuse_unused(b, err);
	status = positions_bind(positions, b, p->batch, p->queries, p->keys.own, p->keys.past, self, err);
	if (status == ATTN_OK && added)
		status = bind_additions(p, b, sinusoidal, positions, err);
	if (status != ATTN_OK)
		positions_release(positions);
	return status;
}
