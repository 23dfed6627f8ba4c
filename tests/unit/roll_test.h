/* Dice for random cases of the variants of attention, and what they roll into a bundle.
 * Include after cmocka's headers. */
#ifndef ATTN_TESTS_ROLL_TEST_H
#define ATTN_TESTS_ROLL_TEST_H

#include <stdio.h>

#include "bundle_test.h"
#include "oracle_case_test.h"

/* How often, of 100 cases that allow it, a case has a feature. */
enum feature {
	PROJECTED,
	LATENT,
	DIFFERENTIAL,
	SCORE,
	LINEAR,
	SPARSE, /* sparsemax or 1.5-entmax */
	SCALE,
	TEMPERATURE,
	SOFTCAP,
	CAUSAL,
	WINDOW,
	DILATION,
	BLOCKS,
	PREFIX,
	SEGMENTS,
	MASK,
	PADDING,
	LENGTHS,
	PAST,
	BIAS_KV,
	ZERO,
	ROPE,
	SINUSOIDAL,
	TABLE,
	POSITIONS,
	ALIBI,
	RELATIVE,
	SINKS,
	TOP_K,
	QK_NORM,
};

static const unsigned chances[] = {
    [PROJECTED] = 45, [LATENT] = 35,   [DIFFERENTIAL] = 20, [SCORE] = 45,   [LINEAR] = 15,
    [SPARSE] = 30,    [SCALE] = 30,    [TEMPERATURE] = 30,  [SOFTCAP] = 20, [CAUSAL] = 35,
    [WINDOW] = 30,    [DILATION] = 40, [BLOCKS] = 15,       [PREFIX] = 10,  [SEGMENTS] = 15,
    [MASK] = 30,      [PADDING] = 20,  [LENGTHS] = 20,      [PAST] = 25,    [BIAS_KV] = 20,
    [ZERO] = 20,      [ROPE] = 45,     [SINUSOIDAL] = 20,   [TABLE] = 20,   [POSITIONS] = 30,
    [ALIBI] = 25,     [RELATIVE] = 25, [SINKS] = 30,        [TOP_K] = 20,   [QK_NORM] = 30,
};

struct variant {
	struct oracle o;
	struct bundle b;
	bool batch, out_in, no_values;
	bool uses_positions;
};

static uint64_t variant_state;

static inline uint64_t variant_next(void)
{
	variant_state ^= variant_state << 13;
	variant_state ^= variant_state >> 7;
	variant_state ^= variant_state << 17;
	return variant_state * 0x2545f4914f6cdd1du >> 16;
}

/* 0 to sides - 1 */
static inline size_t roll(size_t sides)
{
	return (size_t)(variant_next() % sides);
}

static inline size_t roll_from(size_t least, size_t most)
{
	return least + roll(most - least + 1);
}

static inline bool has(enum feature feature)
{
	return roll(100) < chances[feature];
}

/* A float32 number in [low, high). */
static inline double roll_number(double low, double high)
{
	return (double)(float)(low + (high - low) * (double)(variant_next() >> 8 & 0xffffff) / 0x1000000);
}

static inline double *roll_numbers(size_t count, double low, double high)
{
	double *numbers = oracle_take(count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = roll_number(low, high);
	return numbers;
}

/* --- into the bundle --- */

static inline void put_text(struct variant *x, const char *name, const char *format, double value)
{
	char text[40];
	snprintf(text, sizeof text, format, value);
	put_setting(&x->b, name, text);
}

static inline void put_whole(struct variant *x, const char *name, size_t value)
{
	put_text(x, name, "%.0f", (double)value);
}

/* A tensor whose first dimension is the batch's, left out where there is none. */
static inline void put_items(struct variant *x, const char *name, int rank, const size_t *shape,
			     const double *values)
{
	put(&x->b, name, DTYPE_F32, rank - !x->batch, shape + !x->batch, values);
}

/* A matrix (in, out), or transposed where the layout is so, which has no effect without one. */
static inline void put_matrix(struct variant *x, const char *name, size_t in, size_t out, const double *w)
{
	double *transposed = oracle_take(in * out);
	for (size_t i = 0; i < in * out; i++)
		transposed[i % out * in + i / out] = w[i];
	if (x->out_in)
		put_setting(&x->b, "layout", "out,in");
	if (x->out_in)
		put(&x->b, name, DTYPE_F32, SHAPE(out, in), transposed);
	else
		put(&x->b, name, DTYPE_F32, SHAPE(in, out), w);
}

static inline double *roll_matrix(struct variant *x, const char *name, size_t in, size_t out)
{
	double reach = 1.7 / sqrt((double)in);
	double *w = roll_numbers(in * out, -reach, reach);
	if (name)
		put_matrix(x, name, in, out, w);
	return w;
}

/* Two matrices of `in` rows, for each of `heads` the columns of one, then of the other. */
static inline double *columns_beside(size_t in, size_t heads, const double *left, size_t m,
				     const double *right, size_t n)
{
	double *out = oracle_take(in * heads * (m + n));
	for (size_t i = 0; i < in * heads; i++) {
		memcpy(out + i * (m + n), left + i * m, m * sizeof *out);
		memcpy(out + i * (m + n) + m, right + i * n, n * sizeof *out);
	}
	return out;
}

/* A number for each head: a tensor, one number, or a setting of one or of all. */
static inline double *roll_heads(struct variant *x, const char *name, double low, double high)
{
	size_t H = x->o.H, form = roll(4), used = 0;
	double *values = roll_numbers(H, low, high);
	char text[400];
	for (size_t h = 0; h < H && form >= 2; h++)
		values[h] = values[0];
	if (form == 0)
		put(&x->b, name, DTYPE_F32, SHAPE(H), values);
	else if (form == 2)
		put(&x->b, name, DTYPE_F32, SHAPE(1), values);
	for (size_t h = 0; h < (form == 1 ? H : 1) && form % 2 == 1; h++)
		used +=
		    (size_t)snprintf(text + used, sizeof text - used, "%s%.9g", h > 0 ? "," : "", values[h]);
	if (form % 2 == 1)
		put_setting(&x->b, name, text);
	return values;
}

/* (tokens), or for each batch item: the tensor and its full form (B, tokens).  For
 * padding, segments and positions: whole numbers from 0 to `most`. */
static inline double *roll_tokens(struct variant *x, const char *name, enum dtype dtype, size_t tokens,
				  size_t most, bool runs)
{
	bool shared = !x->batch || roll(2) == 0;
	double *values = oracle_take(x->o.B * tokens);
	for (size_t i = 0; i < x->o.B * tokens; i++) {
		double last = i % tokens > 0 ? values[i - 1] : 0;
		values[i] = !runs || roll(4) == 0 ? (double)roll(most + 1) : last;
		if (shared && i >= tokens)
			values[i] = values[i - tokens];
	}
	if (shared)
		put(&x->b, name, dtype, SHAPE(tokens), values);
	else
		put(&x->b, name, dtype, SHAPE(x->o.B, tokens), values);
	return values;
}

#endif
