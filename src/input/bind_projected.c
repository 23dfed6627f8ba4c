/* Attention from embeddings and projections: their shapes. */
#include <stdio.h>
#include <string.h>

#include "attention/latent.h"
#include "attention/matrix.h"
#include "input/bind.h"
#include "input/given.h"

/* Head sizes d and e from the columns H d + G d + G e of a fused projection: by wo,
 * whose rows are H e, or with e = d.  With two maps a head there are twice the H and G of
 * d, and e is 2 d (Ye et al. 2024). */
static enum attn_status fused_sizes(struct problem *p, const struct bundle *b, const struct tensor *t,
				    size_t cols, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *wo = given_tensor(b, ROLE_WO);
	size_t H = a->heads, G = a->kv_heads, maps = a->maps;
	if (wo && wo->rank == 2) {
		bool transposed;
		bind_layout(b, &transposed, NULL); /* good, as 'wqkv' is bound */
		size_t rows = wo->shape[transposed];
		size_t e = rows / H;
		if (rows % H == 0 && e > 0 && cols > G * e && (cols - G * e) % (maps * (H + G)) == 0) {
			a->value_size = e;
			a->head_size = a->key_size = (cols - G * e) / (maps * (H + G));
			return ATTN_OK;
		}
	}
	if (cols % (maps * (H + 2 * G)) != 0)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': num_heads is %zu and num_kv_heads %zu, expected the %zu columns of 'wqkv' to "
		    "be a multiple of %s%zu + 2 x %zu%s",
		    origin_name(t->origin), H, G, cols, maps > 1 ? "2 x (" : "", H, G, maps > 1 ? ")" : "");
	a->head_size = a->key_size = cols / (maps * (H + 2 * G));
	a->value_size = maps * a->head_size;
	return ATTN_OK;
}

static enum attn_status bind_fused(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	static const enum role_id separate[] = {ROLE_WQ, ROLE_WK, ROLE_WV, ROLE_BQ, ROLE_BK, ROLE_BV};
	struct matrix fused = {0};
	const float *bias;
	const struct tensor *t = given_tensor(b, ROLE_WQKV);
	for (size_t i = 0; i < sizeof separate / sizeof *separate; i++)
		if (given_tensor(b, separate[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'wqkv' and '%s' are both given, expected one of them",
					 roles[separate[i]].name);
	size_t width = a->embeddings.cols;
	if (a->source.cols != width || a->source_values.cols != width)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'wqkv' needs embeddings of one width, found queries of %zu, keys of %zu "
				 "and values of %zu: "
				 "give wq, wk and wv",
				 width, a->source.cols, a->source_values.cols);
	TRY(bind_weight(&p->floats, b, ROLE_WQKV, width, 0, &fused, err));
	TRY(fused_sizes(p, b, t, fused.cols, err));
	TRY(bind_vector(&p->floats, b, ROLE_BQKV, fused.cols, &bias, err));
	size_t q = a->maps * a->heads * a->head_size, k = a->maps * a->kv_heads * a->head_size;
	a->wq = matrix_columns(&fused, 0, q);
	a->wk = matrix_columns(&fused, q, k);
	a->wv = matrix_columns(&fused, q + k, fused.cols - q - k);
	if (bias) {
		a->bq = bias;
		a->bk = bias + q;
		a->bv = bias + q + k;
	}
	return ATTN_OK;
}

/* The columns of wv, or of wk where its head size is its own: any multiple of its heads. */
static enum attn_status split_columns(const struct bundle *b, enum role_id role, size_t cols, size_t heads,
				      size_t *size, struct attn_error *err)
{
	if (cols % heads != 0)
		return bind_fail_divisor(b, given_tensor(b, role), ROLE_NUM_KV_HEADS, heads, cols, err);
	*size = cols / heads;
	return ATTN_OK;
}

/* wk's columns, checked against kv heads; the message says what would fit. */
static enum attn_status check_key_columns(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *t = given_tensor(b, ROLE_WK);
	size_t d = a->head_size, maps = a->maps, cols = a->wk.cols, expected = maps * a->kv_heads * d;
	a->key_size = d;
	if (!score_needs_one_size(b))
		return split_columns(b, ROLE_WK, cols, maps * a->kv_heads, &a->key_size, err);
	if (cols == expected)
		return ATTN_OK;
	if (cols % (maps * d) == 0 && a->heads % (cols / (maps * d)) == 0 &&
	    !given_setting(b, ROLE_NUM_KV_HEADS))
		return bind_fail_shape(
		    t, err,
		    "%zu outputs (%zu heads of %zu): give --num-kv-heads %zu if query heads share kv heads",
		    expected, a->kv_heads, maps * d, cols / (maps * d));
	return bind_fail_shape(t, err, "%zu outputs (%zu kv heads of %zu)", expected, a->kv_heads, maps * d);
}

static enum attn_status bind_biases(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	TRY(bind_vector(&p->floats, b, ROLE_BQ, a->wq.cols, &a->bq, err));
	TRY(bind_vector(&p->floats, b, ROLE_BK, a->wk.cols, &a->bk, err));
	if (a->wv.data)
		TRY(bind_vector(&p->floats, b, ROLE_BV, a->wv.cols, &a->bv, err));
	return ATTN_OK;
}

/* bqkv beside separate matrices, as PyTorch stores it where these have widths of their own. */
static enum attn_status bind_fused_bias(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	static const enum role_id separate[] = {ROLE_BQ, ROLE_BK, ROLE_BV};
	const float *bias;
	for (size_t i = 0; i < 3; i++)
		if (given_tensor(b, separate[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'bqkv' and '%s' are both given, expected one of them",
					 roles[separate[i]].name);
	TRY(bind_vector(&p->floats, b, ROLE_BQKV, a->wq.cols + a->wk.cols + a->wv.cols, &bias, err));
	a->bq = bias;
	a->bk = bias + a->wq.cols;
	a->bv = a->wv.data ? bias + a->wq.cols + a->wk.cols : NULL;
	return ATTN_OK;
}

static enum attn_status bind_separate(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	TRY(bind_weight(&p->floats, b, ROLE_WQ, a->embeddings.cols, 0, &a->wq, err));
	if (a->wq.cols % (a->heads * a->maps) != 0)
		return a->maps > 1 && a->wq.cols % a->heads == 0
			   ? bind_fail_shape(given_tensor(b, ROLE_WQ), err,
					     "an even number of outputs a head: 'lambda' asks for two maps")
			   : bind_fail_divisor(b, given_tensor(b, ROLE_WQ), ROLE_NUM_HEADS, a->heads,
					       a->wq.cols, err);
	a->head_size = a->wq.cols / (a->heads * a->maps);
	TRY(bind_weight(&p->floats, b, ROLE_WK, a->source.cols, 0, &a->wk, err));
	TRY(check_key_columns(p, b, err));
	TRY(bind_weight(&p->floats, b, ROLE_WV, a->source_values.cols, 0, &a->wv, err));
	if (a->wv.data)
		TRY(split_columns(b, ROLE_WV, a->wv.cols, a->kv_heads, &a->value_size, err));
	return given_tensor(b, ROLE_BQKV) ? bind_fused_bias(p, b, err) : bind_biases(p, b, err);
}

/* What cannot be done without, before anything large is inflated. */
static enum attn_status check_present(const struct bundle *b, struct attn_error *err)
{
	bool fused = given_tensor(b, ROLE_WQKV);
	const struct tensor *latent = given_about(b, ABOUT_LATENT);
	if (!given_tensor(b, ROLE_EMBEDDINGS))
		return bind_fail_missing(b, err, ROLE_EMBEDDINGS,
					 "projections also require it (or precomputed 'q', 'k', 'v')");
	if (latent)
		return given_tensor(b, ROLE_WDKV)
			   ? ATTN_OK
			   : bind_fail_missing(b, err, ROLE_WDKV, "'%s' also requires it", latent->name);
	if (!fused && !given_tensor(b, ROLE_WQ))
		return bind_fail_missing(
		    b, err, ROLE_WQ,
		    "'embeddings' also requires it (or 'wqkv', or precomputed 'q', 'k', 'v')");
	if (!fused && !given_tensor(b, ROLE_WK))
		return bind_fail_missing(b, err, ROLE_WK, "'wq' also requires it");
	return ATTN_OK;
}

static bool has_values(const struct bundle *b)
{
	return given_tensor(b, ROLE_WV) || given_tensor(b, ROLE_WQKV) || given_about(b, ABOUT_LATENT);
}

static enum attn_status bind_sequences(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	TRY(bind_sequence(p, b, ROLE_EMBEDDINGS, &a->embeddings, err));
	TRY(bind_sequence(p, b, ROLE_SOURCE_EMBEDDINGS, &a->source, err));
	TRY(has_values(b) ? bind_sequence(p, b, ROLE_SOURCE_VALUES, &a->source_values, err) : ATTN_OK);
	a->cross = a->source.data != NULL;
	if (!a->source.data)
		a->source = a->embeddings;
	if (!a->source_values.data)
		a->source_values = a->source;
	if (a->source_values.rows != a->source.rows)
		return bind_fail_shape(given_tensor(b, ROLE_SOURCE_VALUES), err, "%zu rows, one for each key",
				       a->source.rows);
	a->queries = a->embeddings.rows;
	a->keys.own = a->source.rows;
	return ATTN_OK;
}

/* A square matrix does not say how it is stored, and PyTorch's Linear has it the other way. */
static enum attn_status note_square(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static const enum role_id matrices[] = {ROLE_WQKV, ROLE_WQ, ROLE_WK, ROLE_WV, ROLE_WO};
	const struct tensor *first = NULL;
	char note[200];
	if (given_setting(b, ROLE_LAYOUT) || b->head_list)
		return ATTN_OK;
	for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
		const struct tensor *t = given_tensor(b, matrices[i]);
		if (t && (t->rank != 2 || t->shape[0] != t->shape[1]))
			return ATTN_OK; /* its shape fits one layout */
		first = first ? first : t;
	}
	if (!first)
		return ATTN_OK;
	snprintf(note, sizeof note,
		 "'%s' is square and layout is not given: taken as in,out, x W (PyTorch's Linear is out,in)",
		 first->name);
	return string_list_add(&p->notes, note) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status bind_projected(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	a->projected = true;
	enum attn_status status = check_present(b, err);
	if (status == ATTN_OK)
		status = bind_sequences(p, b, err);
	if (status == ATTN_OK)
		status = bind_head_counts(b, &a->heads, &a->kv_heads, err);
	if (status == ATTN_OK && a->heads % a->kv_heads != 0)
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "num_heads is %zu, expected a multiple of num_kv_heads, %zu", a->heads,
				   a->kv_heads);
	if (status != ATTN_OK)
		return status;
	if (given_about(b, ABOUT_LATENT))
		status = bind_latent(p, b, err);
	else
		status = given_tensor(b, ROLE_WQKV) ? bind_fused(p, b, err) : bind_separate(p, b, err);
	a->has_values = a->wv.data || a->latent.up_v.w.data;
	if (status == ATTN_OK && !given_about(b, ABOUT_LATENT))
		status = note_square(p, b, err);
	if (status == ATTN_OK && !given_setting(b, ROLE_NUM_HEADS) &&
	    !string_list_add(&p->notes, "num_heads is not given: taken as 1"))
		return attn_fail_memory(err);
	return status;
}
