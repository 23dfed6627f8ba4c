#include "model/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"

static struct finder finder_of(struct model *m, struct attn_error *err)
{
	return (struct finder){.checkpoint = m->checkpoint, .a = &m->a, .floats = &m->floats, .err = err};
}

static enum attn_status find_picture(struct model *m, const struct finder *f)
{
	const struct architecture *a = &m->a;
	const struct tensor_names *names = &a->family->names;
	size_t lead = architecture_lead(a), tokens = lead + architecture_patches(a), size;
	const char *leads[] = {names->class_token, names->second_token};
	TRY(find_patches(f, names->patches, a->channels, a->patch, a->width, &m->patches));
	for (size_t i = 0; i < lead; i++)
		TRY(find_flat(f, leads[i], 0, a->width, &m->lead[i]));
	if (!size_mul(tokens, a->width, &size))
		return attn_fail_memory(f->err);
	TRY(find_flat(f, names->position_table, 0, size, &m->places));
	return find_norm(f, names->embedding_norm, 0, a->width, &m->embedding_norm);
}

static enum attn_status find_embeddings(struct model *m, struct attn_error *err)
{
	const struct architecture *a = &m->a;
	const struct tensor_names *names = &a->family->names;
	const struct finder f = finder_of(m, err);
	size_t width = a->embedding_width;
	if (a->family->pictures)
		return find_picture(m, &f);
	if (names->own_words)
		TRY(find_tensor(&f, names->own_words, ".weight", 0, false, 0, width, &m->words));
	if (!m->words)
		TRY(find_tensor(&f, names->words, ".weight", 0, true, a->vocabulary, width, &m->words));
	if (names->positions)
		TRY(find_tensor(&f, names->positions, ".weight", 0, true, a->positions + a->first_position,
				width, &m->positions));
	if (names->token_types)
		TRY(find_tensor(&f, names->token_types, ".weight", 0, true, a->token_types, width,
				&m->types));
	TRY(find_norm(&f, names->embedding_norm, 0, width, &m->embedding_norm));
	if (names->relative_bias)
		TRY(find_rows(&f, names->relative_bias, a->buckets, a->heads, &m->relative_bias));
	bool projects = names->embedding_projection && (width != a->width || a->group_runs > 0);
	return projects ? find_linear(&f, names->embedding_projection, 0, width, a->width, true,
				      &m->embedding_projection)
			: ATTN_OK;
}

/* Sizes, tables and room for layers of the family, or of the checkpoint's own. */
static enum attn_status open_stack(struct model *m, const struct family *family, struct attn_error *err)
{
	TRY(architecture_init(&m->a, family, checkpoint_config(m->checkpoint), err));
	TRY(find_embeddings(m, err));
	m->layers = array_alloc(m->a.layers, sizeof *m->layers);
	return m->layers ? ATTN_OK : attn_fail_memory(err);
}

/* Another stack of the same checkpoint. */
static enum attn_status open_inner(struct model *m, const struct family *family, struct model **inner,
				   struct attn_error *err)
{
	*inner = calloc(1, sizeof **inner);
	if (!*inner)
		return attn_fail_memory(err);
	(*inner)->checkpoint = m->checkpoint;
	(*inner)->inner = true;
	return open_stack(*inner, family, err);
}

static enum attn_status open_encoder(struct model *m, struct attn_error *err)
{
	TRY(open_inner(m, m->a.family->encoder, &m->encoder, err));
	return m->encoder->a.width == m->a.width
		   ? ATTN_OK
		   : attn_fail(err, ATTN_BAD_INPUT, "'%s': the encoder is %zu wide and the decoder %zu",
			       checkpoint_path(m->checkpoint), m->encoder->a.width, m->a.width);
}

enum attn_status model_open(struct model **out, const char *path, struct attn_error *err)
{
	struct model *m = *out = calloc(1, sizeof *m);
	if (!m)
		return attn_fail_memory(err);
	enum attn_status status = checkpoint_open(&m->checkpoint, path, err);
	if (status == ATTN_OK)
		status = open_stack(m, NULL, err);
	if (status == ATTN_OK && m->a.family->encoder)
		status = open_encoder(m, err);
	if (status == ATTN_OK && m->a.family->vision)
		status = open_inner(m, m->a.family->vision, &m->vision, err);
	if (status != ATTN_OK) {
		model_free(m);
		*out = NULL;
	}
	return status;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	model_free(m->encoder);
	model_free(m->vision);
	for (size_t i = 0; m->layers && i < m->a.layers; i++)
		free(m->layers[i].experts);
	free(m->layers);
	float_pool_release(&m->floats);
	architecture_release(&m->a);
	if (!m->inner)
		checkpoint_free(m->checkpoint);
	free(m);
}

enum attn_status model_find_layers(struct model *m, size_t count, struct attn_error *err)
{
	const struct finder f = finder_of(m, err);
	for (; m->layers_found < count; m->layers_found++)
		TRY(find_layer(&f, m->layers_found, &m->layers[m->layers_found]));
	return ATTN_OK;
}

static enum attn_status check_matrix(const struct model_tensor *t, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	float *row = t->rank == 2 ? floats_alloc(t->shape[1]) : NULL;
	if (!row)
		return t->rank == 2 ? attn_fail_memory(err) : ATTN_OK;
	for (size_t i = 0; i < t->shape[0] && status == ATTN_OK; i++)
		status = model_tensor_floats(t, i * t->shape[1], t->shape[1], row, err);
	free(row);
	return status;
}

/* Whether a matrix is, or is a part of, the tensor. */
static bool is_of(const struct linear *l, const struct model_tensor *t)
{
	uintptr_t at = (uintptr_t)l->w.data, first = (uintptr_t)t->data;
	return l->w.data && t->data && at >= first && at - first < t->bytes;
}

enum attn_status model_check_weights(const struct model *m, size_t layer, struct attn_error *err)
{
	const struct layer *l = &m->layers[layer];
	const struct linear *const all[] = {&l->query,     &l->key,         &l->value,       &l->output,
					    &l->gate,      &l->up,          &l->down,        &l->cross.query,
					    &l->cross.key, &l->cross.value, &l->cross.output};
	for (size_t i = 0; i < checkpoint_tensors(m->checkpoint); i++) {
		const struct model_tensor *t = checkpoint_tensor(m->checkpoint, i);
		bool used = false;
		for (size_t j = 0; j < sizeof all / sizeof *all; j++)
			used |= is_of(all[j], t);
		if (used)
			TRY(check_matrix(t, err));
	}
	return ATTN_OK;
}

/* The last matrix: the embeddings', or one of its own. */
static enum attn_status find_head_matrix(struct model *m, const struct finder *f, size_t width)
{
	const struct architecture *a = &m->a;
	const char *name = a->family->names.head;
	const struct model_tensor *t = NULL;
	if (!a->tied || a->head_outputs > 0)
		TRY(find_tensor(f, name, ".weight", 0, false, a->head_outputs, width, &t));
	else
		t = m->words;
	return t ? find_matrix(f, t, &m->head.out.w) : ATTN_OK;
}

static enum attn_status find_shift(const struct finder *f, const char *name, size_t outputs,
				   const float **out)
{
	const struct model_tensor *t;
	TRY(find_tensor(f, name, "", 0, false, 1, outputs, &t));
	float *to = t ? float_pool_take(f->floats, outputs) : NULL;
	*out = to;
	return !t ? ATTN_OK : to ? model_tensor_floats(t, 0, outputs, to, f->err) : attn_fail_memory(f->err);
}

static enum attn_status find_head(struct model *m, const struct finder *f)
{
	const struct tensor_names *names = &m->a.family->names;
	size_t width = m->a.width, narrow = m->a.tied ? m->a.embedding_width : width;
	const struct model_tensor *dense = NULL;
	if (m->a.head_outputs > 0)
		narrow = width;
	if (names->head_dense) {
		TRY(find_tensor(f, names->head_dense, ".weight", 0, false, narrow, width, &dense));
		if (!dense) /* saved without a head */
			return ATTN_OK;
		TRY(find_linear(f, names->head_dense, 0, width, narrow, !m->a.family->no_norm_bias,
				&m->head.dense));
		TRY(find_norm(f, names->head_norm, 0, narrow, &m->head.norm));
	}
	TRY(find_head_matrix(m, f, narrow));
	if (m->head.out.w.data && names->head_shift)
		TRY(find_shift(f, names->head_shift, m->head.out.w.cols, &m->head.shift));
	if (!m->head.out.w.data || (!names->head_dense && !names->head_bias))
		return ATTN_OK;
	return find_vector(f, names->head_bias ? names->head_bias : names->head,
			   names->head_bias ? "" : ".bias", 0, true, m->head.out.w.cols, &m->head.out.bias);
}

enum attn_status model_find_end(struct model *m, bool logits, struct attn_error *err)
{
	const struct finder f = finder_of(m, err);
	TRY(find_norm(&f, m->a.family->names.final_norm, 0, m->a.width, &m->final_norm));
	if (!logits)
		return ATTN_OK;
	TRY(find_head(m, &f));
	if (m->head.out.w.data)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s': tensor '%s.weight' is missing: the model has no head that makes logits",
			 checkpoint_path(m->checkpoint),
			 m->a.family->names.head_dense ? m->a.family->names.head_dense
						       : m->a.family->names.head);
}

size_t model_outputs(const struct model *m)
{
	return m->head.out.w.cols;
}
