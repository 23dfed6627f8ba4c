#include "attention/score.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "attention/vector_norm.h"
#include "kernels/kernels.h"
#include "kernels/reference.h"

const struct score_function *const score_function_table[] = {
    &score_scaled_dot, &score_dot, &score_general, &score_additive, &score_cosine, NULL,
};

const struct score_function *score_function_named(const char *name)
{
	size_t i = 0;
	while (score_function_table[i] && strcmp(score_function_table[i]->name, name) != 0)
		i++;
	return score_function_table[i];
}

double score_default_scale(const struct score_function *function, size_t head_size)
{
	return function->root_scale ? 1 / sqrt((double)head_size) : 1;
}

double score_scale(const struct score *score, size_t head)
{
	return score->temperature ? score->scale / (double)score->temperature[head] : score->scale;
}

/* --- products of Q and K ------------------------------------------------------------- */

static void product_row(const struct score *s, const struct score_pairs *p, double *scores)
{
	reference_scores(scores, p->queries, p->keys, p->key_stride, s->inner, p->count, p->scale);
}

static void product_step(const struct score *s, const struct kernels *kernels, const struct score_pairs *p,
			 float *scores)
{
	const struct gemm product = {
	    .c = scores,
	    .c_stride = TILE,
	    .a = p->keys,
	    .a_row = p->key_stride,
	    .a_col = 1,
	    .b = p->queries,
	    .b_stride = TILE,
	    .rows = p->count,
	    .inner = s->inner,
	    .cols = p->cols,
	};
	kernels->gemm(&product);
}

static bool product_fits(const struct score_bounds *b)
{
	double q = b->q * b->scale, sum = q * b->k * (double)b->inner;
	return q < (double)FLT_MAX / 2 && sum < (double)FLT_MAX / 2;
}

const struct score_function score_scaled_dot = {
    .name = "scaled-dot",
    .root_scale = true,
    .one_size = true,
    .term = "q.k",
    .row = product_row,
    .step = product_step,
    .scales_queries = true,
    .fits = product_fits,
};

const struct score_function score_dot = {
    .name = "dot",
    .one_size = true,
    .term = "q.k",
    .row = product_row,
    .step = product_step,
    .scales_queries = true,
    .fits = product_fits,
};

const struct score_function score_general = {
    .name = "general",
    .needed = SCORE_W,
    .term = "score",
    .formula = "score    q W.k",
    .row = product_row,
    .step = product_step,
    .scales_queries = true,
    .fits = product_fits,
};

static void to_unit_length(float *x, size_t vectors, size_t size)
{
	const struct vector_norm unit = {.kind = VECTOR_NORM_L2, .eps = 1e-8};
	for (size_t i = 0; i < vectors; i++, x += size)
		vector_normalize(&unit, NULL, x, size); /* no longer than 1: finite */
}

const struct score_function score_cosine = {
    .name = "cosine",
    .one_size = true,
    .term = "score",
    .formula = "score    q.k / (|q| |k|)",
    .prepare = to_unit_length,
    .row = product_row,
    .step = product_step,
    .scales_queries = true,
    .fits = product_fits,
};

/* --- additive -------------------------------------------------------------------------- */

static const float *additive_vector(const struct score *s, const struct score_pairs *p)
{
	return s->v.data + p->query_head * s->v.head_stride;
}

static void additive_row(const struct score *s, const struct score_pairs *p, double *scores)
{
	reference_additive(scores, p->queries, p->keys, p->key_stride, additive_vector(s, p), s->inner,
			   p->count, p->scale);
}

static void additive_step(const struct score *s, const struct kernels *kernels, const struct score_pairs *p,
			  float *scores)
{
	kernels->additive(scores, p->keys, p->key_stride, p->queries, additive_vector(s, p), p->count,
			  s->inner, p->cols, (float)p->scale);
}

/* Sums of the numbers of v, each times at most 1. */
static bool additive_fits(const struct score_bounds *b)
{
	double sum = b->v * b->scale * (double)b->inner;
	return b->q + b->k < (double)FLT_MAX / 2 && sum < (double)FLT_MAX / 2;
}

const struct score_function score_additive = {
    .name = "additive",
    .needed = SCORE_W | SCORE_U | SCORE_V,
    .optional = SCORE_B,
    .term = "score",
    .formula = "score    v.tanh(q W + k U + b)",
    .row = additive_row,
    .step = additive_step,
    .fits = additive_fits,
};
