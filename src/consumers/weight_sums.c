#include "consumers/weight_sums.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	LANES = 4,
	STEP_BITS = 7, /* LOG_STEPS is 2 to that power */
	MANTISSA_BITS = 52,
	BIAS = 1023
};

/* Written out as vectors, since a compiler may not change the order of sums.  Of any processor's
 * width: four lanes are as many registers as they need. */
typedef double numbers __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t integers __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef float singles __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t signs __attribute__((vector_size(LANES * sizeof(int32_t))));
#define INLINE static inline __attribute__((always_inline))

void log_table_init(struct log_table *t)
{
	for (int i = 0; i < LOG_STEPS; i++) {
		t->inverse[i] = 1 / (1 + (i + 0.5) / LOG_STEPS);
		t->logs[i] = -log2(t->inverse[i]);
	}
}

/* *x becomes its log2; of numbers above 0 that were float32, which are all normal in float64, and
 * anything finite of 0.  x = 2^e m with m in [1, 2), r = m inverse - 1 with |r| <= 1/256, and
 * log2(1 + r) = (r - r^2/2 + r^3/3 - r^4/4) / ln 2 within 3e-13. */
INLINE void take_log2(const struct log_table *t, numbers *x)
{
	const uint64_t one = (uint64_t)BIAS << MANTISSA_BITS, mantissa = ((uint64_t)1 << MANTISSA_BITS) - 1;
	const uint64_t magic_bits = (uint64_t)0x433 << MANTISSA_BITS; /* 2^52, to which an integer is added */
	const double magic = 0x1p52 + BIAS;
	integers bits = (integers)*x;
	integers step = bits >> (MANTISSA_BITS - STEP_BITS) & (LOG_STEPS - 1);
	numbers exponent = (numbers)(bits >> MANTISSA_BITS | magic_bits) - magic;
	numbers inverse = {t->inverse[step[0]], t->inverse[step[1]], t->inverse[step[2]],
			   t->inverse[step[3]]};
	numbers log = {t->logs[step[0]], t->logs[step[1]], t->logs[step[2]], t->logs[step[3]]};
	numbers r = (numbers)((bits & mantissa) | one) * inverse - 1;
	numbers p = r * (-0.25 / 0.693147180559945309) + 1 / (3 * 0.693147180559945309);
	p = p * r - 0.5 / 0.693147180559945309;
	p = p * r + 1 / 0.693147180559945309;
	*x = exponent + log + p * r;
}

struct lanes {
	numbers total, logs, distance, squares;
	singles largest;
};

INLINE void add_four(struct lanes *s, const struct log_table *t, const float *weights, const double *at,
		     double from)
{
	singles w;
	memcpy(&w, weights, sizeof w);
	w = (singles)((signs)w & INT32_MAX);
	signs more = w > s->largest;
	s->largest = (singles)(((signs)w & more) | ((signs)s->largest & ~more));
	numbers x = __builtin_convertvector(w, numbers);
	s->total += x;
	numbers log = x;
	take_log2(t, &log);
	s->logs += x * log;
	if (!at)
		return;
	numbers d;
	memcpy(&d, at, sizeof d);
	d = (numbers)((integers)(d - from) & INT64_MAX);
	x *= d;
	s->distance += x;
	s->squares += x * d;
}

static double sum_of(const numbers *x)
{
	return ((*x)[0] + (*x)[1]) + ((*x)[2] + (*x)[3]);
}

void weight_sums_add(struct weight_sums *s, const struct log_table *t, const float *weights, const double *at,
		     double from, size_t count)
{
	struct lanes lanes = {.largest = {0}};
	float last[LANES] = {0};
	double last_at[LANES] = {from, from, from, from};
	size_t i = 0, rest = count % LANES;
	for (; i < count - rest; i += LANES)
		add_four(&lanes, t, weights + i, at ? at + i : NULL, from);
	if (rest > 0) {
		memcpy(last, weights + i, rest * sizeof *last);
		if (at)
			memcpy(last_at, at + i, rest * sizeof *last_at);
		add_four(&lanes, t, last, at ? last_at : NULL, from);
	}
	s->total += sum_of(&lanes.total);
	s->logs += sum_of(&lanes.logs);
	s->distance += sum_of(&lanes.distance);
	s->squares += sum_of(&lanes.squares);
	for (i = 0; i < LANES; i++)
		s->largest = fmaxf(s->largest, lanes.largest[i]);
}

INLINE void add_pairs(numbers *sum, const struct log_table *t, const float *a, const float *b)
{
	singles x, y;
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	numbers both = __builtin_convertvector(x, numbers) + __builtin_convertvector(y, numbers), log = both;
	take_log2(t, &log);
	*sum += both * log;
}

double pair_logs(const struct log_table *t, const float *a, const float *b, size_t count)
{
	numbers sum = {0};
	float last[2][LANES] = {{0}};
	size_t i = 0, rest = count % LANES;
	for (; i < count - rest; i += LANES)
		add_pairs(&sum, t, a + i, b + i);
	memcpy(last[0], a + i, rest * sizeof *a);
	memcpy(last[1], b + i, rest * sizeof *b);
	add_pairs(&sum, t, last[0], last[1]);
	return sum_of(&sum);
}
