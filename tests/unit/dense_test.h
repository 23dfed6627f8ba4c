/* Attention in float64 and plain loops, to compare the engine with.  It knows
 * nothing of masks and file layouts: whoever fills it says, cell by cell, which
 * key a query attends to.  Include after cmocka's headers.
 */
#ifndef ATTN_TESTS_DENSE_TEST_H
#define ATTN_TESTS_DENSE_TEST_H

#include <math.h>
#include <string.h>

struct dense {
	size_t B, H, G, N, K, d, e;
	double *q, *k, *v;      /* (B, H, N, d) (B, G, K, d) (B, G, K, e) */
	double *allowed, *bias; /* (B, H, N, K) */
	double scale, softcap;
	double *product, *raw, *capped, *masked, *weights; /* (B, H, N, K) */
	double *context;                                   /* (B, N, H, e) */
};

/* Memory of one scene, forgotten as a whole. */
static double pool[1 << 20];
static size_t pool_used;

static inline double *take(size_t count)
{
	double *memory = pool + pool_used;
	pool_used += count;
	assert_true(pool_used <= sizeof pool / sizeof *pool);
	memset(memory, 0, count * sizeof *memory);
	return memory;
}

static inline void dense_row(const struct dense *x, size_t b, size_t h, size_t n)
{
	size_t g = h / (x->H / x->G), row = ((b * x->H + h) * x->N + n) * x->K;
	const double *q = x->q + ((b * x->H + h) * x->N + n) * x->d;
	double highest = -INFINITY, sum = 0;
	for (size_t j = 0; j < x->K; j++) {
		double product = 0;
		for (size_t c = 0; c < x->d; c++)
			product += q[c] * x->k[((b * x->G + g) * x->K + j) * x->d + c];
		x->product[row + j] = product;
		double raw = x->raw[row + j] = x->scale * product;
		double capped = x->capped[row + j] =
		    x->softcap > 0 ? x->softcap * tanh(raw / x->softcap) : raw;
		x->masked[row + j] = x->allowed[row + j] != 0 ? capped + x->bias[row + j] : -INFINITY;
		highest = fmax(highest, x->masked[row + j]);
	}
	for (size_t j = 0; j < x->K && highest > -INFINITY; j++)
		sum += exp(x->masked[row + j] - highest);
	for (size_t j = 0; j < x->K; j++) {
		double weight = highest > -INFINITY ? exp(x->masked[row + j] - highest) / sum : 0;
		x->weights[row + j] = weight;
		for (size_t c = 0; c < x->e; c++)
			x->context[((b * x->N + n) * x->H + h) * x->e + c] +=
			    weight * x->v[((b * x->G + g) * x->K + j) * x->e + c];
	}
}

static inline void dense_compute(struct dense *x)
{
	size_t cells = x->B * x->H * x->N * x->K;
	x->product = take(cells);
	x->raw = take(cells);
	x->capped = take(cells);
	x->masked = take(cells);
	x->weights = take(cells);
	x->context = take(x->B * x->N * x->H * x->e);
	for (size_t b = 0; b < x->B; b++)
		for (size_t h = 0; h < x->H; h++)
			for (size_t n = 0; n < x->N; n++)
				dense_row(x, b, h, n);
}

#endif
