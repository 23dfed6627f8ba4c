#include "model/layer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_SIZE = 200
};

/* `name` with its {i}, {e}, {g} and {j} filled in, and the ending. */
static void fill_name(const struct finder *f, const char *name, const char *ending, size_t layer,
		      char text[NAME_SIZE])
{
	const struct architecture *a = f->a;
	size_t runs = a->group_runs ? a->group_runs : 1, within = a->group_layers ? a->group_layers : 1;
	size_t used = 0;
	while (*name && used < NAME_SIZE - 24) {
		if (name[0] != '{') {
			text[used++] = *name++;
			continue;
		}
		size_t value = name[1] == 'i'   ? layer
			       : name[1] == 'e' ? f->expert
			       : name[1] == 'g' ? layer / runs
						: layer % within;
		used += (size_t)snprintf(text + used, NAME_SIZE - used, "%zu", value);
		name += 3;
	}
	snprintf(text + used, NAME_SIZE - used, "%s", ending);
}

static enum attn_status fail_shape(const struct finder *f, const struct model_tensor *t, size_t rows,
				   size_t cols)
{
	char found[200], expected[60], any_rows[24];
	tensor_shape_text(t->rank, t->shape, found, sizeof found);
	snprintf(any_rows, sizeof any_rows, rows ? "%zu" : "any", rows);
	if (cols > 0)
		snprintf(expected, sizeof expected, "%s x %zu", any_rows, cols);
	else
		snprintf(expected, sizeof expected, "%s", any_rows);
	return attn_fail(f->err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected %s as config.json says",
			 t->origin, t->name, found, expected);
}

enum attn_status find_tensor(const struct finder *f, const char *name, const char *ending, size_t layer,
			     bool required, size_t rows, size_t cols, const struct model_tensor **out)
{
	char text[NAME_SIZE];
	fill_name(f, name, ending, layer, text);
	TRY(checkpoint_find(f->checkpoint, text, out, f->err));
	if (!*out)
		return required ? attn_fail(f->err, ATTN_BAD_INPUT, "'%s': tensor '%s' is missing",
					    checkpoint_path(f->checkpoint), text)
				: ATTN_OK;
	const struct model_tensor *t = *out;
	bool fits = cols > 0 ? t->rank == 2 && (rows == 0 || t->shape[0] == rows) && t->shape[1] == cols
			     : t->rank == 1 && (rows == 0 || t->shape[0] == rows);
	return fits ? ATTN_OK : fail_shape(f, t, rows, cols);
}

/* The tensor as a matrix: its rows are those of a product x W, or, stored by outputs, its columns. */
static enum attn_status matrix_of(const struct finder *f, const struct model_tensor *t, bool by_output,
				  struct matrix *out)
{
	const struct value_type *type = t->type;
	*out = (struct matrix){.data = t->data,
			       .rows = t->shape[by_output],
			       .cols = t->shape[!by_output],
			       .stride = t->shape[1],
			       .by_column = by_output};
	out->type = type->matrix;
	if (type->matrix || (type->computed && type->dtype == DTYPE_F32))
		return ATTN_OK;
	return attn_fail(f->err, ATTN_BAD_INPUT, "'%s': '%s' is of %s, expected " MODEL_TYPES_EXPECTED,
			 t->origin, t->name, t->type_name);
}

enum attn_status find_vector(const struct finder *f, const char *name, const char *ending, size_t layer,
			     bool required, size_t size, const float **out)
{
	const struct model_tensor *t;
	*out = NULL;
	TRY(find_tensor(f, name, ending, layer, required, size, 0, &t));
	if (!t)
		return ATTN_OK;
	float *to = float_pool_take(f->floats, size);
	if (!to)
		return attn_fail_memory(f->err);
	*out = to;
	return model_tensor_floats(t, 0, size, to, f->err);
}

enum attn_status find_rows(const struct finder *f, const char *name, size_t rows, size_t cols,
			   const float **out)
{
	const struct model_tensor *t;
	TRY(find_tensor(f, name, ".weight", 0, true, rows, cols, &t));
	float *to = float_pool_take(f->floats, t->count);
	if (!to)
		return attn_fail_memory(f->err);
	*out = to;
	return model_tensor_floats(t, 0, t->count, to, f->err);
}

/* Gains that are stored as what they are above 1. */
static enum attn_status add_one(const struct finder *f, size_t width, const float **gain)
{
	float *more = float_pool_take(f->floats, width);
	if (!more)
		return attn_fail_memory(f->err);
	for (size_t i = 0; i < width; i++)
		more[i] = 1 + (*gain)[i];
	*gain = more;
	return ATTN_OK;
}

enum attn_status find_norm(const struct finder *f, const char *name, size_t layer, size_t width,
			   struct norm *out)
{
	*out = (struct norm){0};
	if (!name)
		return ATTN_OK;
	TRY(find_vector(f, name, ".weight", layer, true, width, &out->gain));
	if (f->a->family->norm == MODEL_RMS_NORM_1)
		TRY(add_one(f, width, &out->gain));
	return f->a->family->norm == MODEL_LAYER_NORM && !f->a->family->no_norm_bias
		   ? find_vector(f, name, ".bias", layer, true, width, &out->bias)
		   : ATTN_OK;
}

enum attn_status find_linear(const struct finder *f, const char *name, size_t layer, size_t in,
			     size_t outputs, bool bias, struct linear *out)
{
	const struct model_tensor *t;
	bool by_output = f->a->family->layout == BY_OUTPUT || checkpoint_is_gguf(f->checkpoint);
	*out = (struct linear){0};
	TRY(find_tensor(f, name, ".weight", layer, true, by_output ? outputs : in, by_output ? in : outputs,
			&t));
	TRY(matrix_of(f, t, by_output, &out->w));
	return bias ? find_vector(f, name, ".bias", layer, true, outputs, &out->bias) : ATTN_OK;
}

enum attn_status find_matrix(const struct finder *f, const struct model_tensor *t, struct matrix *out)
{
	return matrix_of(f, t, true, out);
}

/* A tensor that there must be, of any shape. */
static enum attn_status find_any(const struct finder *f, const char *name, const char *ending, size_t layer,
				 const struct model_tensor **out)
{
	char text[NAME_SIZE];
	fill_name(f, name, ending, layer, text);
	TRY(checkpoint_find(f->checkpoint, text, out, f->err));
	return *out ? ATTN_OK
		    : attn_fail(f->err, ATTN_BAD_INPUT, "'%s': tensor '%s' is missing",
				checkpoint_path(f->checkpoint), text);
}

enum attn_status find_flat(const struct finder *f, const char *name, size_t layer, size_t size,
			   const float **out)
{
	const struct model_tensor *t;
	TRY(find_any(f, name, "", layer, &t));
	if (t->count != size)
		return attn_fail(f->err, ATTN_BAD_INPUT,
				 "'%s': '%s' has %zu numbers, expected %zu as config.json says", t->origin,
				 t->name, t->count, size);
	float *to = float_pool_take(f->floats, size);
	*out = to;
	return to ? model_tensor_floats(t, 0, size, to, f->err) : attn_fail_memory(f->err);
}

enum attn_status find_patches(const struct finder *f, const char *name, size_t channels, size_t side,
			      size_t outputs, struct linear *out)
{
	char found[200];
	const struct model_tensor *t;
	TRY(find_any(f, name, ".weight", 0, &t));
	if (t->rank != 4 || t->shape[0] != outputs || t->shape[1] != channels || t->shape[2] != side ||
	    t->shape[3] != side)
		return attn_fail(f->err, ATTN_BAD_INPUT,
				 "'%s': '%s' is %s, expected %zu x %zu x %zu x %zu as config.json says",
				 t->origin, t->name,
				 tensor_shape_text(t->rank, t->shape, found, sizeof found), outputs, channels,
				 side, side);
	struct model_tensor flat = *t;
	flat.rank = 2;
	flat.shape[1] = channels * side * side;
	TRY(matrix_of(f, &flat, true, &out->w));
	return find_vector(f, name, ".bias", 0, false, outputs, &out->bias);
}

/* Outputs [first, first + count) of a linear layer. */
static struct linear part_of(const struct linear *whole, size_t first, size_t count)
{
	return (struct linear){matrix_columns(&whole->w, first, count),
			       whole->bias ? whole->bias + first : NULL};
}

static enum attn_status find_projections(const struct finder *f, size_t number, struct layer *out)
{
	const struct architecture *a = f->a;
	const struct tensor_names *names = &a->family->names;
	size_t queries = a->heads * a->head_size, keys = a->kv_heads * a->head_size;
	struct linear all;
	if (names->fused)
		TRY(find_linear(f, names->fused, number, a->width, queries + 2 * keys, a->attention_bias,
				&all));
	if (names->fused && a->family->fused_order == FUSED_BY_HEAD) {
		out->fused = all;
	} else if (names->fused) {
		out->query = part_of(&all, 0, queries);
		out->key = part_of(&all, queries, keys);
		out->value = part_of(&all, queries + keys, keys);
	} else {
		bool key_bias = a->attention_bias && !a->family->no_key_bias;
		TRY(find_linear(f, names->query, number, a->width, queries, a->attention_bias, &out->query));
		TRY(find_linear(f, names->key, number, a->width, keys, key_bias, &out->key));
		TRY(find_linear(f, names->value, number, a->width, keys, a->attention_bias, &out->value));
	}
	return find_linear(f, names->output, number, queries, a->width, a->output_bias, &out->output);
}

static enum attn_status find_norms(const struct finder *f, size_t number, struct layer *out)
{
	const struct architecture *a = f->a;
	const struct tensor_names *names = &a->family->names;
	size_t heads = a->family->whole_query_norm ? a->heads : 1, kv_heads = heads > 1 ? a->kv_heads : 1;
	if (number > 0 || !a->family->first_without_norm)
		TRY(find_norm(f, names->attention_norm, number, a->width, &out->attention_norm));
	TRY(find_norm(f, names->mlp_norm, number, a->width, &out->mlp_norm));
	TRY(find_norm(f, names->attention_output_norm, number, a->width, &out->attention_output_norm));
	TRY(find_norm(f, names->mlp_output_norm, number, a->width, &out->mlp_output_norm));
	if (names->attention_scale)
		TRY(find_flat(f, names->attention_scale, number, a->width, &out->attention_scale));
	if (names->mlp_scale)
		TRY(find_flat(f, names->mlp_scale, number, a->width, &out->mlp_scale));
	TRY(find_norm(f, names->query_norm, number, heads * a->head_size, &out->query_norm));
	return find_norm(f, names->key_norm, number, kv_heads * a->head_size, &out->key_norm);
}

static enum attn_status find_experts(const struct finder *f, size_t number, struct layer *out)
{
	const struct architecture *a = f->a;
	const struct tensor_names *names = &a->family->names;
	struct finder one = *f;
	TRY(find_linear(f, names->router, number, a->width, a->experts, false, &out->router));
	out->experts = array_alloc(a->experts, sizeof *out->experts);
	if (!out->experts)
		return attn_fail_memory(f->err);
	for (one.expert = 0; one.expert < a->experts; one.expert++) {
		struct expert *e = &out->experts[one.expert];
		TRY(find_linear(&one, names->expert_gate, number, a->width, a->expert_inner, false,
				&e->gate));
		TRY(find_linear(&one, names->expert_up, number, a->width, a->expert_inner, false, &e->up));
		TRY(find_linear(&one, names->expert_down, number, a->expert_inner, a->width, false,
				&e->down));
	}
	return ATTN_OK;
}

static enum attn_status find_mlp(const struct finder *f, size_t number, struct layer *out)
{
	const struct architecture *a = f->a;
	const struct tensor_names *names = &a->family->names;
	struct linear both;
	if (a->experts > 0 && !(a->dense && a->dense[number]))
		return find_experts(f, number, out);
	if (names->gate_up) {
		TRY(find_linear(f, names->gate_up, number, a->width, 2 * a->inner, a->mlp_bias, &both));
		out->gate = part_of(&both, 0, a->inner);
		out->up = part_of(&both, a->inner, a->inner);
	} else {
		if (names->gate && !a->ungated)
			TRY(find_linear(f, names->gate, number, a->width, a->inner, a->mlp_bias, &out->gate));
		TRY(find_linear(f, a->ungated ? names->ungated : names->up, number, a->width, a->inner,
				a->mlp_bias, &out->up));
	}
	return find_linear(f, names->down, number, a->inner, a->width, a->mlp_bias, &out->down);
}

/* Keys and values are made of states as wide as the decoder's. */
static enum attn_status find_crossing(const struct finder *f, size_t number, struct crossing *out)
{
	const struct architecture *a = f->a;
	const struct tensor_names *names = &a->family->names;
	size_t size = a->heads * a->head_size;
	bool key_bias = a->attention_bias && !a->family->no_key_bias;
	if (!names->cross_query)
		return ATTN_OK;
	TRY(find_norm(f, names->cross_norm, number, a->width, &out->norm));
	TRY(find_linear(f, names->cross_query, number, a->width, size, a->attention_bias, &out->query));
	if (names->cross_key_value) {
		struct linear both;
		TRY(find_linear(f, names->cross_key_value, number, a->width, 2 * size, a->attention_bias,
				&both));
		out->key = part_of(&both, 0, size);
		out->value = part_of(&both, size, size);
	} else {
		TRY(find_linear(f, names->cross_key, number, a->width, size, key_bias, &out->key));
		TRY(find_linear(f, names->cross_value, number, a->width, size, a->attention_bias,
				&out->value));
	}
	return find_linear(f, names->cross_output, number, size, a->width, a->output_bias, &out->output);
}

enum attn_status find_layer(const struct finder *f, size_t number, struct layer *out)
{
	*out = (struct layer){0};
	TRY(find_norms(f, number, out));
	TRY(find_projections(f, number, out));
	TRY(find_crossing(f, number, &out->cross));
	return find_mlp(f, number, out);
}
