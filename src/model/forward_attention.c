/* The attention of a layer as one like any other: from the tensors and the buffers of a pass. */
#include "model/forward_internal.h"

const struct norm *forward_attention_norm(const struct forward *f, size_t layer, bool crossing)
{
	const struct layer *l = &f->model->layers[layer];
	return crossing ? &l->cross.norm : &l->attention_norm;
}

const float *forward_attention_input(const struct forward *f, size_t layer, bool crossing)
{
	bool behind = f->model->a.order == RESIDUAL_POST;
	return behind || !forward_attention_norm(f, layer, crossing)->gain ? f->x : f->normed;
}

static void set_masking(struct attention *a, const struct architecture *arch, size_t layer)
{
	a->masking.causal = arch->family->causal;
	if (!architecture_slides(arch, layer))
		return;
	a->masking.left_bound = true;
	a->masking.left = arch->family->causal ? arch->window - 1 : arch->window;
	a->masking.right_bound = !arch->family->causal;
	a->masking.right = arch->window;
}

static struct vector_norm vector_norm_of(const struct architecture *arch, const struct norm *norm)
{
	bool whole = arch->family->whole_query_norm;
	return (struct vector_norm){.kind = norm->gain ? VECTOR_NORM_RMS : VECTOR_NORM_NONE,
				    .eps = arch->eps,
				    .gain = norm->gain,
				    .gain_stride = whole ? arch->head_size : 0,
				    .whole = whole};
}

/* Queries, keys and values: projected by the engine, or taken from where they were made at once. */
static void set_own_vectors(const struct forward *f, size_t layer, struct attention *a)
{
	const struct architecture *arch = &f->model->a;
	const struct layer *w = &f->model->layers[layer];
	size_t d = arch->head_size, row = 3 * arch->heads * d;
	if (!a->projected) {
		a->q = (struct heads_view){f->fused, 0, 3 * d, row};
		a->k = (struct heads_view){f->fused + d, 0, 3 * d, row};
		a->v = (struct heads_view){f->fused + 2 * d, 0, 3 * d, row};
		return;
	}
	a->embeddings =
	    (struct sequence){forward_attention_input(f, layer, false), f->text.count, arch->width, 0};
	a->source = a->source_values = a->embeddings;
	a->wq = w->query.w;
	a->wk = w->key.w;
	a->wv = w->value.w;
	a->bq = w->query.bias;
	a->bk = w->key.bias;
	a->bv = w->value.bias;
}

/* Keys and values of what the encoder made. */
static void set_crossing_vectors(const struct forward *f, size_t layer, struct attention *a)
{
	const struct crossing *w = &f->model->layers[layer].cross;
	size_t width = f->model->a.width, d = a->head_size;
	a->output.wo = w->output.w;
	a->output.bo = w->output.bias;
	if (f->cache && f->cache->crossed) {
		a->projected = false;
		a->q = (struct heads_view){f->cache->query, 0, d, a->heads * d};
		a->k = kv_cache_crossing(f->cache, f->cache->cross_keys, layer);
		a->v = kv_cache_crossing(f->cache, f->cache->cross_values, layer);
		return;
	}
	a->embeddings = (struct sequence){forward_attention_input(f, layer, true), f->text.count, width, 0};
	a->source = a->source_values = (struct sequence){f->memory, f->memory_count, width, 0};
	a->wq = w->query.w;
	a->wk = w->key.w;
	a->wv = w->value.w;
	a->bq = w->query.bias;
	a->bk = w->key.bias;
	a->bv = w->value.bias;
}

/* Biases by distance. */
static enum attn_status set_relative(const struct forward *f, struct attention *a, struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	const struct relative_rules rules = {.alibi = arch->alibi,
					     .bias = f->model->relative_bias,
					     .buckets = arch->buckets,
					     .bidirectional = !arch->family->causal,
					     .max_distance = arch->bucket_distance};
	return arch->alibi || arch->buckets > 0 ? relative_init(&a->relative, &rules, &a->masking, err)
						: ATTN_OK;
}

static enum attn_status set_rotary(const struct forward *f, size_t layer, struct attention *a,
				   struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	bool local = arch->two_ropes && architecture_slides(arch, layer);
	size_t tokens = f->text.count, first = f->text.first;
	if (arch->family->scheme != POSITIONS_ROTARY || (arch->unrotated && arch->unrotated[layer]))
		return ATTN_OK;
	a->rotary = rope_rotary(local ? &arch->local_rope : &arch->rope, first + tokens);
	a->rotary.table = local ? f->local_rotations : f->rotations;
	if (a->rotary.dims == 0)
		return ATTN_OK;
	a->positions =
	    (struct positions){positions_count(first, tokens), positions_count(first, tokens), 1, 1};
	return a->positions.queries && a->positions.keys ? ATTN_OK : attn_fail_memory(err);
}

/* What depends on where tokens are, and norms of queries and keys: of attention to itself. */
static enum attn_status set_own_rules(const struct forward *f, size_t layer, struct attention *a,
				      struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	const struct layer *w = &f->model->layers[layer];
	a->q_norm = vector_norm_of(arch, &w->query_norm);
	a->k_norm = vector_norm_of(arch, &w->key_norm);
	a->output.wo = w->output.w;
	a->output.bo = w->output.bias;
	set_masking(a, arch, layer);
	TRY(set_relative(f, a, err));
	return set_rotary(f, layer, a, err);
}

enum attn_status forward_attention(const struct forward *f, size_t layer, bool crossing, struct attention *a,
				   struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	size_t tokens = f->text.count;
	*a = (struct attention){
	    .batch = 1,
	    .heads = arch->heads,
	    .kv_heads = crossing ? arch->heads : arch->kv_heads,
	    .queries = tokens,
	    .keys = {.past = crossing ? 0 : f->text.first, .own = crossing ? f->memory_count : tokens},
	    .head_size = arch->head_size,
	    .value_size = arch->head_size,
	    .has_values = true,
	    .cross = crossing,
	    .projected = crossing || f->fused == NULL};
	attention_set_plain(a);
	a->score.scale = architecture_scale(arch, layer);
	a->score.softcap = arch->softcap;
	if (crossing) {
		set_crossing_vectors(f, layer, a);
		return ATTN_OK;
	}
	set_own_vectors(f, layer, a);
	if (f->text.first > 0) {
		a->past_k = kv_cache_past(f->cache, f->cache->keys, layer);
		a->past_v = kv_cache_past(f->cache, f->cache->values, layer);
	}
	return set_own_rules(f, layer, a, err);
}
