/* Scenes: problems of random numbers, each both as a bundle for the engine and,
 * independently, as a dense computation.  Include after cmocka's headers.
 */
#ifndef ATTN_TESTS_SCENE_TEST_H
#define ATTN_TESTS_SCENE_TEST_H

#include <float.h>
#include <stdint.h>
#include <stdio.h>

#include "bundle_test.h"
#include "dense_test.h"

enum mask_kind {
	NO_MASK,
	BOOL_MASK,
	FLOAT_MASK,
	INFINITE_MASK, /* a float mask with -inf */
	BILLION_MASK,  /* a float mask with -1e9, whole rows of it too */
	LOWEST_MASK,   /* the same with float64's lowest */
};

struct scene {
	const char *name;
	bool batch;
	size_t B, H, G, N, M, d, e;
	size_t P; /* past keys */
	bool packed, projected, cross, biases, fused, out_in;
	bool bias_kv, zero;
	bool causal;
	double scale, softcap; /* 0: the default */
	enum mask_kind mask;
	int mask_rank;
	size_t mask_shape[4]; /* the last mask_rank dimensions */
	size_t lengths[3];    /* kv_lengths, when the first is not 0 */
	int padding_rank;     /* 1 or 2: key_padding of the own keys; 3: of past ones too, a batch */
};

/* Sizes that many scenes share. */
#define SMALL .B = 1, .H = 2, .G = 2, .N = 4, .M = 6, .d = 3, .e = 3
#define BATCH_OF_2 .batch = true, .B = 2, .H = 3, .G = 3, .N = 4, .M = 6, .d = 3, .e = 3
#define BATCH_OF_3 .batch = true, .B = 3, .H = 2, .G = 2, .N = 4, .M = 6, .d = 3, .e = 3
#define WITH_PAST .B = 1, .H = 2, .G = 2, .N = 4, .M = 3, .d = 3, .e = 3, .P = 3
#define MASK_SHAPE(rank, ...) .mask_rank = rank, .mask_shape = {__VA_ARGS__}

/* clang-format off: a line a scene */
static const struct scene scenes[] = {
    {"one head", .B = 1, .H = 1, .G = 1, .N = 5, .M = 5, .d = 3, .e = 3},
    {"one token", .B = 1, .H = 2, .G = 2, .N = 1, .M = 1, .d = 4, .e = 4},
    {"rectangular", .B = 1, .H = 2, .G = 2, .N = 4, .M = 7, .d = 3, .e = 5},
    {"wide values", .B = 1, .H = 2, .G = 2, .N = 4, .M = 3, .d = 1, .e = 9},
    {"over a block", .B = 1, .H = 1, .G = 1, .N = 150, .M = 70, .d = 4, .e = 2},
    {"just a block", .B = 1, .H = 2, .G = 2, .N = 64, .M = 9, .d = 4, .e = 2, .causal = true},
    {"many keys", .B = 1, .H = 1, .G = 1, .N = 3, .M = 777, .d = 4, .e = 3},
    {"many keys, causal", .B = 1, .H = 1, .G = 1, .N = 300, .M = 300, .d = 2, .e = 2, .causal = true},
    {"many keys, masked", .B = 1, .H = 2, .G = 1, .N = 7, .M = 500, .d = 4, .e = 3, .mask = INFINITE_MASK,
     MASK_SHAPE(2, 7, 500)},
    {"batch", BATCH_OF_3},
    {"batch of one", .batch = true, SMALL},
    {"grouped", .B = 1, .H = 6, .G = 2, .N = 4, .M = 6, .d = 3, .e = 3},
    {"multi-query", .B = 1, .H = 4, .G = 1, .N = 4, .M = 6, .d = 3, .e = 2},
    {"packed", .packed = true, .B = 1, .H = 3, .G = 3, .N = 4, .M = 6, .d = 3, .e = 2},
    {"packed, grouped, batch", .packed = true, .batch = true, .B = 2, .H = 4, .G = 2, .N = 4, .M = 6, .d = 3,
     .e = 2},
    {"scale", SMALL, .scale = 0.01},
    {"negative scale", .B = 1, .H = 1, .G = 1, .N = 4, .M = 6, .d = 3, .e = 3, .scale = -2},
    {"softcap", SMALL, .softcap = 0.5},
    {"scale and softcap", SMALL, .scale = 3, .softcap = 2},
    {"causal", .B = 1, .H = 2, .G = 2, .N = 6, .M = 6, .d = 3, .e = 3, .causal = true},
    {"causal, more keys", .B = 1, .H = 1, .G = 1, .N = 3, .M = 6, .d = 3, .e = 3, .causal = true},
    {"causal, more queries", .B = 1, .H = 1, .G = 1, .N = 6, .M = 3, .d = 3, .e = 3, .causal = true},
    {"past", .B = 1, .H = 2, .G = 2, .N = 3, .M = 4, .d = 3, .e = 2, .P = 5},
    {"past, batch, grouped", .batch = true, .B = 2, .H = 4, .G = 2, .N = 3, .M = 4, .d = 3, .e = 2, .P = 5},
    {"past, packed", .packed = true, .B = 1, .H = 2, .G = 2, .N = 3, .M = 3, .d = 3, .e = 2, .P = 2},
    {"past, causal", .B = 1, .H = 2, .G = 2, .N = 4, .M = 4, .d = 3, .e = 2, .P = 5, .causal = true},
    {"decode step", .B = 1, .H = 2, .G = 1, .N = 1, .M = 1, .d = 3, .e = 2, .P = 8, .causal = true},
    {"bool mask", SMALL, .mask = BOOL_MASK, MASK_SHAPE(2, 4, 6)},
    {"bool mask of keys", SMALL, .mask = BOOL_MASK, MASK_SHAPE(1, 6)},
    {"bool mask of heads", SMALL, .mask = BOOL_MASK, MASK_SHAPE(3, 2, 4, 6)},
    {"bool mask, one row", SMALL, .mask = BOOL_MASK, MASK_SHAPE(2, 1, 6)},
    {"bool mask, one column", SMALL, .mask = BOOL_MASK, MASK_SHAPE(2, 4, 1)},
    {"bool mask, whole", BATCH_OF_2, .mask = BOOL_MASK, MASK_SHAPE(4, 2, 3, 4, 6)},
    {"bool mask, batch", BATCH_OF_2, .mask = BOOL_MASK, MASK_SHAPE(4, 2, 1, 4, 6)},
    {"bool mask, batch and keys", BATCH_OF_2, .mask = BOOL_MASK, MASK_SHAPE(4, 2, 1, 1, 6)},
    {"bool mask, head and query", BATCH_OF_2, .mask = BOOL_MASK, MASK_SHAPE(4, 1, 3, 4, 1)},
    {"bool mask, short", SMALL, .mask = BOOL_MASK, MASK_SHAPE(2, 4, 4)},
    {"bool mask, past", WITH_PAST, .mask = BOOL_MASK, MASK_SHAPE(2, 4, 6)},
    {"bool mask and causal", .B = 1, .H = 2, .G = 2, .N = 5, .M = 5, .d = 3, .e = 3, .causal = true,
     .mask = BOOL_MASK, MASK_SHAPE(2, 5, 5)},
    {"float mask", SMALL, .mask = FLOAT_MASK, MASK_SHAPE(2, 4, 6)},
    {"float mask of keys", SMALL, .mask = FLOAT_MASK, MASK_SHAPE(1, 6)},
    {"float mask, heads", BATCH_OF_2, .mask = FLOAT_MASK, MASK_SHAPE(4, 1, 3, 1, 6)},
    {"float mask, short", SMALL, .mask = FLOAT_MASK, MASK_SHAPE(2, 4, 5)},
    {"float mask and softcap", SMALL, .softcap = 0.5, .mask = INFINITE_MASK, MASK_SHAPE(2, 4, 6)},
    {"-inf mask", BATCH_OF_2, .mask = INFINITE_MASK, MASK_SHAPE(4, 2, 3, 4, 6)},
    {"-inf mask, past, causal", .B = 1, .H = 2, .G = 1, .N = 4, .M = 3, .d = 3, .e = 3, .P = 3,
     .causal = true, .mask = INFINITE_MASK, MASK_SHAPE(3, 2, 4, 6)},
    {"-1e9 mask", .B = 1, .H = 2, .G = 2, .N = 6, .M = 6, .d = 3, .e = 3, .mask = BILLION_MASK,
     MASK_SHAPE(2, 6, 6)},
    {"lowest mask", .B = 1, .H = 2, .G = 2, .N = 6, .M = 6, .d = 3, .e = 3, .mask = LOWEST_MASK,
     MASK_SHAPE(2, 6, 6)},
    {"padding", SMALL, .padding_rank = 1},
    {"padding, batch", BATCH_OF_3, .padding_rank = 2},
    {"padding, past", .batch = true, .B = 2, .H = 2, .G = 2, .N = 4, .M = 3, .d = 3, .e = 3, .P = 3,
     .padding_rank = 2},
    {"padding of the past", .batch = true, .B = 2, .H = 2, .G = 2, .N = 4, .M = 3, .d = 3, .e = 3, .P = 3,
     .padding_rank = 3},
    {"padding and -inf mask", BATCH_OF_3, .padding_rank = 2, .mask = INFINITE_MASK, MASK_SHAPE(2, 4, 6)},
    {"lengths", BATCH_OF_3, .lengths = {6, 1, 4}},
    {"lengths of nothing", .batch = true, .B = 2, .H = 2, .G = 2, .N = 4, .M = 6, .d = 3, .e = 3,
     .lengths = {3, 0}},
    {"lengths, causal", BATCH_OF_3, .causal = true, .lengths = {6, 4, 5}},
    {"lengths, causal, negative offset", BATCH_OF_3, .causal = true, .lengths = {2, 1, 3}},
    {"lengths, causal, bool mask", .batch = true, .B = 2, .H = 2, .G = 2, .N = 3, .M = 6, .d = 3, .e = 3,
     .causal = true, .lengths = {5, 3}, .mask = BOOL_MASK, MASK_SHAPE(4, 2, 1, 3, 6)},
    {"bias_kv", .B = 1, .H = 2, .G = 2, .N = 4, .M = 5, .d = 3, .e = 2, .bias_kv = true},
    {"zero attention", .B = 1, .H = 2, .G = 2, .N = 4, .M = 5, .d = 3, .e = 2, .zero = true},
    {"bias_kv, zero, grouped", .batch = true, .B = 2, .H = 4, .G = 2, .N = 4, .M = 5, .d = 3, .e = 2,
     .bias_kv = true, .zero = true},
    {"bias_kv, zero and causal", .B = 1, .H = 2, .G = 2, .N = 4, .M = 4, .d = 3, .e = 2, .bias_kv = true,
     .zero = true, .causal = true},
    {"bias_kv, zero, past, mask", .B = 1, .H = 2, .G = 2, .N = 4, .M = 3, .d = 3, .e = 2, .P = 3,
     .bias_kv = true, .zero = true, .mask = BOOL_MASK, MASK_SHAPE(2, 4, 6)},
    {"bias_kv, zero, one-column mask", .B = 1, .H = 2, .G = 2, .N = 4, .M = 6, .d = 3, .e = 2,
     .bias_kv = true, .zero = true, .mask = INFINITE_MASK, MASK_SHAPE(2, 4, 1)},
    {"bias_kv, zero, all padded", .batch = true, .B = 2, .H = 2, .G = 2, .N = 2, .M = 3, .d = 3, .e = 2,
     .bias_kv = true, .zero = true, .lengths = {3, 0}},
    {"projected", .projected = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 4, .d = 3, .e = 5},
    {"projected, biases", .projected = true, .biases = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 4, .d = 3,
     .e = 5},
    {"projected, batch, grouped", .projected = true, .biases = true, .batch = true, .B = 2, .H = 4, .G = 2,
     .N = 4, .M = 4, .d = 3, .e = 3, .causal = true},
    {"cross", .projected = true, .cross = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 7, .d = 3, .e = 3},
    {"cross, batch", .projected = true, .cross = true, .biases = true, .batch = true, .B = 2, .H = 4, .G = 1,
     .N = 4, .M = 7, .d = 3, .e = 2, .padding_rank = 2},
    {"fused", .projected = true, .fused = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 4, .d = 3, .e = 3},
    {"fused, grouped", .projected = true, .fused = true, .biases = true, .batch = true, .B = 2, .H = 6,
     .G = 2, .N = 4, .M = 4, .d = 3, .e = 3},
    {"fused, cross", .projected = true, .fused = true, .cross = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 7,
     .d = 3, .e = 3},
    {"out,in", .projected = true, .out_in = true, .biases = true, .B = 1, .H = 2, .G = 2, .N = 4, .M = 4,
     .d = 3, .e = 5},
    {"fused, out,in", .projected = true, .fused = true, .out_in = true, .B = 1, .H = 4, .G = 2, .N = 4,
     .M = 4, .d = 3, .e = 3},
    {"projected, past", .projected = true, .B = 1, .H = 4, .G = 2, .N = 3, .M = 3, .d = 3, .e = 2, .P = 4,
     .causal = true},
    {"projected, bias_kv, zero", .projected = true, .B = 1, .H = 2, .G = 2, .N = 3, .M = 3, .d = 3, .e = 2,
     .bias_kv = true, .zero = true},
};
/* clang-format on */

static uint64_t random_state;

/* In [0, 1); the same in every run. */
static inline double random_unit(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random_state >> 40) / (double)(1u << 24);
}

/* Random float32 numbers in [-2, 2). */
static inline double *take_random(size_t count)
{
	double *memory = take(count);
	for (size_t i = 0; i < count; i++)
		memory[i] = (double)(float)(4 * random_unit() - 2);
	return memory;
}

/* Add a tensor whose first dimension is the batch's, left out where there is none. */
static inline void put_batch(struct bundle *b, const struct scene *s, const char *name, int rank,
			     const size_t *shape, const double *values)
{
	put(b, name, DTYPE_F32, rank - !s->batch, shape + !s->batch, values);
}

/* (B, heads, tokens, size) as the bundle has it: as it is, or packed. */
static inline void put_heads(struct bundle *b, const struct scene *s, const char *name, size_t heads,
			     size_t tokens, size_t size, const double *values)
{
	double *packed = take(s->B * heads * tokens * size);
	if (!s->packed) {
		put_batch(b, s, name, SHAPE(s->B, heads, tokens, size), values);
		return;
	}
	for (size_t i = 0; i < s->B * heads * tokens * size; i++) {
		size_t c = i % size, t = i / size % tokens, h = i / size / tokens % heads;
		packed[((i / size / tokens / heads * tokens + t) * heads + h) * size + c] = values[i];
	}
	put_batch(b, s, name, SHAPE(s->B, tokens, heads * size), packed);
}

/* Copy `tokens` vectors of every kv head into (B, G, K, size), from key `first` on. */
static inline void place(const struct scene *s, double *to, size_t K, size_t first, const double *from,
			 size_t tokens, size_t size)
{
	for (size_t i = 0; i < s->B * s->G; i++)
		memcpy(to + (i * K + first) * size, from + i * tokens * size, tokens * size * sizeof *to);
}

static inline void make_precomputed(const struct scene *s, struct bundle *b, struct dense *x)
{
	const double *k = take_random(s->B * s->G * s->M * s->d);
	const double *v = take_random(s->B * s->G * s->M * s->e);
	x->q = take_random(s->B * s->H * s->N * s->d);
	put_heads(b, s, "q", s->H, s->N, s->d, x->q);
	put_heads(b, s, "k", s->G, s->M, s->d, k);
	put_heads(b, s, "v", s->G, s->M, s->e, v);
	place(s, x->k, x->K, s->P, k, s->M, s->d);
	place(s, x->v, x->K, s->P, v, s->M, s->e);
}

/* A projection and what it makes: (B, heads, tokens, size). */
struct projection {
	size_t width, heads, size;
	const double *w, *bias; /* (width, heads size) (heads size) */
};

static inline struct projection make_projection(const struct scene *s, size_t width, size_t heads,
						size_t size)
{
	struct projection p = {width, heads, size, take_random(width * heads * size), NULL};
	p.bias = s->biases ? take_random(heads * size) : take(heads * size);
	return p;
}

static inline double *project(const struct scene *s, const struct projection *p, const double *x,
			      size_t tokens)
{
	double *out = take(s->B * p->heads * tokens * p->size);
	for (size_t i = 0; i < s->B * p->heads * tokens * p->size; i++) {
		size_t c = i % p->size, t = i / p->size % tokens, h = i / p->size / tokens % p->heads;
		size_t b = i / p->size / tokens / p->heads, column = h * p->size + c;
		out[i] = p->bias[column];
		for (size_t j = 0; j < p->width; j++)
			out[i] += x[(b * tokens + t) * p->width + j] * p->w[j * p->heads * p->size + column];
	}
	return out;
}

/* Weights (in, out), or transposed where the scene wants them so. */
static inline void put_weight(struct bundle *b, const struct scene *s, const char *name, size_t in,
			      size_t out, const double *w)
{
	double *transposed = take(in * out);
	for (size_t i = 0; i < in; i++)
		for (size_t o = 0; o < out; o++)
			transposed[o * in + i] = w[i * out + o];
	if (s->out_in)
		put(b, name, DTYPE_F32, SHAPE(out, in), transposed);
	else
		put(b, name, DTYPE_F32, SHAPE(in, out), w);
}

static inline void put_separate(struct bundle *b, const struct scene *s, const struct projection *parts)
{
	static const char *const weights[] = {"wq", "wk", "wv"}, *const biases[] = {"bq", "bk", "bv"};
	for (size_t i = 0; i < 3; i++) {
		size_t columns = parts[i].heads * parts[i].size;
		put_weight(b, s, weights[i], parts[i].width, columns, parts[i].w);
		if (s->biases)
			put(b, biases[i], DTYPE_F32, SHAPE(columns), parts[i].bias);
	}
}

static inline void put_fused(struct bundle *b, const struct scene *s, const struct projection *parts)
{
	size_t width = parts[0].width, columns = 0, first = 0;
	for (size_t i = 0; i < 3; i++)
		columns += parts[i].heads * parts[i].size;
	double *w = take(width * columns), *bias = take(columns);
	for (size_t i = 0; i < 3; i++) {
		size_t own = parts[i].heads * parts[i].size;
		for (size_t r = 0; r < width; r++)
			memcpy(w + r * columns + first, parts[i].w + r * own, own * sizeof *w);
		memcpy(bias + first, parts[i].bias, own * sizeof *bias);
		first += own;
	}
	put_weight(b, s, "wqkv", width, columns, w);
	if (s->biases)
		put(b, "bqkv", DTYPE_F32, SHAPE(columns), bias);
}

static inline void put_count(struct bundle *b, const char *name, size_t count)
{
	char text[24];
	snprintf(text, sizeof text, "%zu", count);
	put_setting(b, name, text);
}

static inline void make_projected(const struct scene *s, struct bundle *b, struct dense *x)
{
	size_t D = 5, S = s->cross && !s->fused ? 4 : D;
	const double *embeddings = take_random(s->B * s->N * D);
	const double *source = s->cross ? take_random(s->B * s->M * S) : embeddings;
	struct projection parts[3] = {make_projection(s, D, s->H, s->d), make_projection(s, S, s->G, s->d),
				      make_projection(s, S, s->G, s->e)};
	put_batch(b, s, "embeddings", SHAPE(s->B, s->N, D), embeddings);
	if (s->cross)
		put_batch(b, s, "source_embeddings", SHAPE(s->B, s->M, S), source);
	if (s->fused)
		put_fused(b, s, parts);
	else
		put_separate(b, s, parts);
	put_count(b, "num_heads", s->H);
	put_count(b, "num_kv_heads", s->G);
	if (s->out_in)
		put_setting(b, "layout", "out,in");
	x->q = project(s, &parts[0], embeddings, s->N);
	place(s, x->k, x->K, s->P, project(s, &parts[1], source, s->M), s->M, s->d);
	place(s, x->v, x->K, s->P, project(s, &parts[2], source, s->M), s->M, s->e);
}

static inline void make_past(const struct scene *s, struct bundle *b, struct dense *x)
{
	const double *k = take_random(s->B * s->G * s->P * s->d);
	const double *v = take_random(s->B * s->G * s->P * s->e);
	put_batch(b, s, "past_k", SHAPE(s->B, s->G, s->P, s->d), k);
	put_batch(b, s, "past_v", SHAPE(s->B, s->G, s->P, s->e), v);
	place(s, x->k, x->K, 0, k, s->P, s->d);
	place(s, x->v, x->K, 0, v, s->P, s->e);
}

/* One learned key and value, the same for every batch item. */
static inline void make_bias_kv(const struct scene *s, struct bundle *b, struct dense *x)
{
	const double *k = take_random(s->G * s->d), *v = take_random(s->G * s->e);
	put(b, "bias_k", DTYPE_F32, SHAPE(s->G * s->d), k);
	put(b, "bias_v", DTYPE_F32, SHAPE(1, 1, s->G * s->e), v);
	for (size_t i = 0; i < s->B * s->G; i++) {
		size_t key = i * x->K + s->P + s->M;
		memcpy(x->k + key * s->d, k + i % s->G * s->d, s->d * sizeof *x->k);
		memcpy(x->v + key * s->e, v + i % s->G * s->e, s->e * sizeof *x->v);
	}
}

static inline double mask_value(enum mask_kind kind, size_t row)
{
	double chance = random_unit();
	switch (kind) {
	case BOOL_MASK:
		return chance < 0.6;
	case INFINITE_MASK:
		return chance < 0.4 ? -INFINITY : (double)(float)(chance * 6 - 4);
	case BILLION_MASK:
		return row == 1 || chance < 0.3 ? -1e9 : 0;
	case LOWEST_MASK:
		return row == 1 || chance < 0.3 ? -DBL_MAX : 0;
	default:
		return (double)(float)(chance * 6 - 3);
	}
}

static inline void make_mask(const struct scene *s, struct bundle *b, struct dense *x)
{
	size_t shape[4] = {1, 1, 1, 1}, count = 1, plain = s->P + s->M;
	memcpy(shape + 4 - s->mask_rank, s->mask_shape, (size_t)s->mask_rank * sizeof *shape);
	for (int i = 0; i < 4; i++)
		count *= shape[i];
	double *mask = take(count);
	for (size_t i = 0; i < count; i++)
		mask[i] = mask_value(s->mask, i / shape[3] % shape[2]);
	put(b, "mask",
	    s->mask == BOOL_MASK     ? DTYPE_BOOL
	    : s->mask == LOWEST_MASK ? DTYPE_F64
				     : DTYPE_F32,
	    s->mask_rank, s->mask_shape, mask);
	for (size_t i = 0; i < s->B * s->H * s->N * x->K; i++) {
		size_t j = i % x->K, n = i / x->K % s->N, h = i / x->K / s->N % s->H;
		size_t item = i / x->K / s->N / s->H;
		if (j >= plain)
			continue;
		if (shape[3] > 1 && j >= shape[3]) { /* a short mask hides what is beyond it */
			x->allowed[i] = 0;
			continue;
		}
		size_t at =
		    ((item % shape[0] * shape[1] + h % shape[1]) * shape[2] + n % shape[2]) * shape[3] +
		    j % shape[3];
		if (s->mask == BOOL_MASK ? mask[at] == 0 : mask[at] == -INFINITY)
			x->allowed[i] = 0;
		else if (s->mask != BOOL_MASK)
			x->bias[i] = mask[at];
	}
}

static inline void make_causal(const struct scene *s, struct dense *x)
{
	for (size_t i = 0; i < s->B * s->H * s->N * x->K; i++) {
		long j = (long)(i % x->K), n = (long)(i / x->K % s->N);
		size_t item = i / x->K / s->N / s->H;
		long offset = s->lengths[0] ? (long)s->lengths[item] - (long)s->N : (long)s->P;
		if (j < (long)(s->P + s->M) && j > n + offset)
			x->allowed[i] = 0;
	}
}

static inline void make_lengths(const struct scene *s, struct bundle *b, struct dense *x)
{
	double lengths[3];
	for (size_t i = 0; i < s->B; i++)
		lengths[i] = (double)s->lengths[i];
	put(b, "kv_lengths", DTYPE_I64, SHAPE(s->B), lengths);
	for (size_t i = 0; i < s->B * s->H * s->N * x->K; i++) {
		size_t j = i % x->K;
		if (j < s->M && j >= s->lengths[i / x->K / s->N / s->H])
			x->allowed[i] = 0;
	}
}

static inline void make_padding(const struct scene *s, struct bundle *b, struct dense *x)
{
	size_t first = s->padding_rank == 3 ? 0 : s->P, keys = s->P + s->M - first;
	size_t rows = s->padding_rank == 1 ? 1 : s->B;
	double *padding = take(rows * keys);
	for (size_t i = 0; i < rows * keys; i++)
		padding[i] = random_unit() < 0.6;
	if (s->padding_rank == 1)
		put(b, "key_padding", DTYPE_BOOL, SHAPE(keys), padding);
	else
		put(b, "key_padding", DTYPE_BOOL, SHAPE(rows, keys), padding);
	for (size_t i = 0; i < s->B * s->H * s->N * x->K; i++) {
		size_t j = i % x->K, row = i / x->K / s->N / s->H % rows;
		if (j >= first && j < s->P + s->M && padding[row * keys + j - first] == 0)
			x->allowed[i] = 0;
	}
}

static inline void put_number(struct bundle *b, const char *name, double value)
{
	char text[40];
	snprintf(text, sizeof text, "%.17g", value);
	put_setting(b, name, text);
}

static inline void make_settings(const struct scene *s, struct bundle *b)
{
	if (s->packed) {
		put_setting(b, "packed", "true");
		put_count(b, "num_heads", s->H);
		put_count(b, "num_kv_heads", s->G);
	}
	if (s->causal)
		put_setting(b, "causal", "true");
	if (s->zero)
		put_setting(b, "add_zero_attn", "true");
	if (s->scale != 0)
		put_number(b, "scale", s->scale);
	if (s->softcap > 0)
		put_number(b, "softcap", s->softcap);
}

static inline void make_scene(const struct scene *s, struct bundle *b, struct dense *x)
{
	size_t cells;
	pool_used = 0;
	random_state = 1;
	bundle_init(b);
	*x = (struct dense){.B = s->B, .H = s->H, .G = s->G, .N = s->N, .d = s->d, .e = s->e};
	x->K = s->P + s->M + s->bias_kv + s->zero;
	x->scale = s->scale != 0 ? s->scale : 1 / sqrt((double)s->d);
	x->softcap = s->softcap;
	x->k = take(s->B * s->G * x->K * s->d);
	x->v = take(s->B * s->G * x->K * s->e);
	cells = s->B * s->H * s->N * x->K;
	x->bias = take(cells);
	x->allowed = take(cells);
	for (size_t i = 0; i < cells; i++)
		x->allowed[i] = 1;
	make_settings(s, b);
	if (s->projected)
		make_projected(s, b, x);
	else
		make_precomputed(s, b, x);
	if (s->P > 0)
		make_past(s, b, x);
	if (s->bias_kv)
		make_bias_kv(s, b, x);
	if (s->causal)
		make_causal(s, x);
	if (s->mask != NO_MASK)
		make_mask(s, b, x);
	if (s->padding_rank > 0)
		make_padding(s, b, x);
	if (s->lengths[0])
		make_lengths(s, b, x);
	dense_compute(x);
}

#endif
