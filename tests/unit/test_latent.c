/* Multi-head latent attention: against a plain float64 computation, hand-worked numbers
 * and ordinary attention, and what is said of matrices that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "planned_test.h"

/* --- what the engine computes ------------------------------------------------------ */

struct result {
	float *weights, *context; /* (B, H, N, keys) (B, H, N, e); context NULL without values */
	float *scores;            /* as weights, or NULL */
};

static void result_release(struct result *r)
{
	free(r->weights);
	free(r->context);
	free(r->scores);
}

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);
	assert_non_null(memory);
	return memory;
}

static void copy(float *to, const float *from, size_t count)
{
	memcpy(to, from, count * sizeof *to);
}

/* Rows of at most one block a head, and their raw scores where asked for. */
static struct result compute(const struct bundle *b, bool scores)
{
	struct attn_error err = {0};
	struct planned r;
	planned_open(&r, b, NULL, want_scores(scores ? SCORES_OF(SCORES_RAW) : NO_SCORES));
	const struct attention *a = &r.problem.attention;
	size_t N = a->queries, keys = r.source->shape.keys, e = a->value_size, heads = a->batch * a->heads;
	assert_true(N <= ROWS_BLOCK);
	struct result out = {.weights = room(heads * N * keys, sizeof(float)),
			     .context = a->has_values ? room(heads * N * e, sizeof(float)) : NULL,
			     .scores = scores ? room(heads * N * keys, sizeof(float)) : NULL};
	if (r.source->start(r.source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < heads; i++) {
		struct row_block block = {
		    .batch = i / a->heads, .head = i % a->heads, .count = N, .keys = keys};
		if (r.source->read(r.source, 0, &block, &err) != ATTN_OK)
			fail_msg("%s", err.message);
		copy(out.weights + i * N * keys, block.weights, N * keys);
		for (size_t n = 0; n < N && out.context; n++)
			copy(out.context + (i * N + n) * e, block.context + n * block.context_stride, e);
		if (scores)
			copy(out.scores + i * N * keys, block.scores[SCORES_RAW], N * keys);
	}
	planned_release(&r);
	return out;
}

static void expect_floats(const char *name, const char *what, const float *got, const double *want,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(fabs((double)got[i] - want[i]) <= 4e-6 + 2e-5 * fabs(want[i])))
			fail_msg("%s: %s[%zu] is %.9g, expected %.9g", name, what, i, (double)got[i],
				 want[i]);
}

/* --- hand-worked ------------------------------------------------------------------- */

/* q is [1 | 1 0] and [2 | 0 1], k too; v is 3 and 6. */
#define HAND                                                                                                 \
	"{\"embeddings\": [[1, 0], [0, 1]], \"num_heads\": 1, \"wuq\": [[1], [2]], "                         \
	"\"wqr\": [[1, 0], [0, 1]], \"wdkv\": [[1], [2]], \"wuk\": [[1]], \"wuv\": [[3]], "                  \
	"\"wkr\": [[1, 0], [0, 1]]"

/* Scores are times sqrt(3). */
static void expect_hand(const char *json, const double scores[2][2], double v0, double v1)
{
	double weights[4], context[2];
	struct bundle b = bundle_of(json);
	struct result r = compute(&b, false);
	for (size_t i = 0; i < 2; i++) {
		weights[2 * i] = 1 / (1 + exp((scores[i][1] - scores[i][0]) / sqrt(3)));
		weights[2 * i + 1] = 1 - weights[2 * i];
		context[i] = v0 * weights[2 * i] + v1 * weights[2 * i + 1];
	}
	expect_floats(json, "weights", r.weights, weights, 4);
	expect_floats(json, "context", r.context, context, 2);
	result_release(&r);
	bundle_release(&b);
}

static void test_hand_worked(void **state)
{
	(void)state;
	/* 1 + 1, 2 + 0; 2 + 0, 4 + 1 */
	expect_hand(HAND "}", (const double[2][2]){{2, 2}, {2, 5}}, 3, 6);
	expect_hand(HAND ", \"rope\": \"none\"}", (const double[2][2]){{2, 2}, {2, 5}}, 3, 6);
	/* Token 1 is rotated by 1: its rotary part is (-sin 1, cos 1), and (1, 0) times it -sin 1. */
	expect_hand(HAND ", \"rope\": 10000}",
		    (const double[2][2]){{2, 2 - 0.841470984807897}, {2 - 0.841470984807897, 5}}, 3, 6);
	/* From position 4 on it is the same: the distance counts. */
	expect_hand(HAND ", \"rope\": 10000, \"position_offset\": 4}",
		    (const double[2][2]){{2, 2 - 0.841470984807897}, {2 - 0.841470984807897, 5}}, 3, 6);
	/* Latents of one number become 1 times the gain of 3: k is [3 | 1 0] and [3 | 0 1]. */
	expect_hand(HAND ", \"kv_latent_norm\": [3], \"qk_norm_eps\": 0}",
		    (const double[2][2]){{4, 3}, {6, 7}}, 9, 9);
	/* With eps 3 the latent 1 becomes 3 / sqrt(1 + 3), and 2 becomes 6 / sqrt(4 + 3). */
	expect_hand(HAND ", \"kv_latent_norm\": [3], \"qk_norm_eps\": 3}",
		    (const double[2][2]){{2.5, 2.267786838055363}, {3, 5.535573676110727}}, 4.5,
		    6.803360514166089);
}

/* --- scenes -------------------------------------------------------------------------- */

struct scene {
	const char *name;
	size_t B, N, M, P, H, D, S; /* B 0: no batch; M 0: self-attention; P: past keys */
	size_t rq, rk, dn, dr, e;   /* rq 0: without wdq */
	bool q_gain, kv_gain, qk_norm, shared, bias_kv, no_values;
	double rope; /* 0: none */
	const char *style;
};

#define SIZES .N = 5, .H = 3, .D = 6, .rq = 4, .rk = 5, .dn = 3, .dr = 2, .e = 4

static const struct scene scenes[] = {
    {"plain", SIZES},
    {"no rotary part", .N = 5, .H = 3, .D = 6, .rq = 4, .rk = 5, .dn = 3, .e = 4},
    {"no query latents", .N = 5, .H = 2, .D = 6, .rk = 5, .dn = 3, .dr = 4, .e = 2, .rope = 100},
    {"neither", .N = 5, .H = 2, .D = 6, .rk = 5, .dn = 3, .e = 2, .kv_gain = true},
    {"rope", SIZES, .rope = 10000},
    {"rope, interleaved", .N = 5, .H = 2, .D = 6, .rq = 4, .rk = 5, .dn = 3, .dr = 6, .e = 4, .rope = 50,
     .style = "interleaved"},
    {"rope, half", .N = 5, .H = 2, .D = 6, .rq = 4, .rk = 5, .dn = 3, .dr = 6, .e = 4, .rope = 50,
     .style = "half"},
    {"odd rotary part, not rotated", .N = 5, .H = 2, .D = 6, .rq = 4, .rk = 5, .dn = 2, .dr = 3, .e = 4},
    {"norms", SIZES, .q_gain = true, .kv_gain = true, .rope = 10000},
    {"norm of queries", SIZES, .q_gain = true},
    {"norm of keys and values", SIZES, .kv_gain = true},
    {"norms of latents, queries and keys", SIZES, .q_gain = true, .kv_gain = true, .qk_norm = true,
     .rope = 10000},
    {"cross", .M = 7, .S = 3, SIZES, .rope = 10000, .kv_gain = true},
    {"batch", .B = 2, SIZES, .rope = 10000, .q_gain = true},
    {"batch, cross", .B = 3, .M = 4, .S = 8, SIZES, .rope = 10000},
    {"batch, queries shared", .B = 2, .M = 4, .S = 8, .shared = true, SIZES, .q_gain = true},
    {"past", .P = 3, SIZES, .rope = 10000},
    {"past and bias, batch", .B = 2, .P = 2, .bias_kv = true, SIZES, .rope = 10000, .kv_gain = true},
    {"without values", .no_values = true, SIZES, .rope = 10000},
    {"wide", .N = 100, .H = 3, .D = 70, .rq = 50, .rk = 150, .dn = 70, .dr = 34, .e = 67, .rope = 10000,
     .q_gain = true, .kv_gain = true},
    {0},
};

/* All random numbers of a scene, as float32 has them. */
struct numbers {
	struct scene s;
	size_t B, M, S, r, keys; /* with their defaults; r: inputs of wuq */
	double *x, *y, *wdq, *wuq, *wqr, *wdkv, *wuk, *wuv, *wkr, *q_gain, *kv_gain;
	double *past_k, *past_v, *bias_k, *bias_v;
	double *weights, *context, *scores; /* what is expected */
};

static double *take(size_t count)
{
	return room(count, sizeof(double));
}

static double *roll(uint64_t *seed, size_t count, double size)
{
	double *out = take(count);
	for (size_t i = 0; i < count; i++) {
		*seed = *seed * 6364136223846793005U + 1442695040888963407U;
		out[i] = (double)(float)(((double)(*seed >> 40) / 0x1p23 - 1) * size);
	}
	return out;
}

/* out = x w, (rows, inner) by (inner, cols). */
static double *product(const double *x, const double *w, size_t rows, size_t inner, size_t cols)
{
	double *out = take(rows * cols);
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < inner; i++)
			for (size_t c = 0; c < cols; c++)
				out[r * cols + c] += x[r * inner + i] * w[i * cols + c];
	return out;
}

static void rms(double *x, size_t rows, size_t cols, const double *gain)
{
	for (size_t r = 0; r < rows; r++, x += cols) {
		double sum = 0;
		for (size_t c = 0; c < cols; c++)
			sum += x[c] * x[c];
		for (size_t c = 0; c < cols; c++)
			x[c] *= (gain ? gain[c] : 1) / sqrt(sum / (double)cols + 1e-6);
	}
}

/* The last dr of d numbers of a token at position t. */
static void turn(const struct scene *s, double *x, size_t t)
{
	bool interleaved = s->style && strcmp(s->style, "interleaved") == 0;
	for (size_t c = 0; c < s->dr / 2 && s->rope > 0; c++) {
		double angle = (double)t / pow(s->rope, 2.0 * (double)c / (double)s->dr);
		double *a = x + s->dn + (interleaved ? 2 * c : c), *b = interleaved ? a + 1 : a + s->dr / 2;
		double first = *a, second = *b;
		*a = first * cos(angle) - second * sin(angle);
		*b = second * cos(angle) + first * sin(angle);
	}
}

/* One head's q and k of all tokens of a batch item: (tokens, dn + dr).  `down` are the
 * vectors that up (inner, H dn) is for, `from` those that rotary is for, whose columns of
 * this head begin at first; it has `columns` of them. */
struct half {
	const double *down, *up, *from, *rotary;
	size_t tokens, inner, rotary_inner, first, columns, position;
};

static double *head_vectors(const struct numbers *n, const struct half *half, size_t h)
{
	const struct scene *s = &n->s;
	size_t d = s->dn + s->dr;
	double *out = take(half->tokens * d);
	for (size_t t = 0; t < half->tokens; t++) {
		double *x = out + t * d;
		for (size_t c = 0; c < s->dn; c++)
			for (size_t i = 0; i < half->inner; i++)
				x[c] += half->down[t * half->inner + i] *
					half->up[i * s->H * s->dn + h * s->dn + c];
		for (size_t c = 0; c < s->dr; c++)
			for (size_t i = 0; i < half->rotary_inner; i++)
				x[s->dn + c] += half->from[t * half->rotary_inner + i] *
						half->rotary[i * half->columns + half->first + c];
		if (s->qk_norm)
			rms(x, 1, d, NULL);
		turn(s, x, half->position + t);
	}
	return out;
}

/* Past, own and appended vectors of a head. */
static double *join(const struct numbers *n, const double *past, const double *own, const double *bias,
		    size_t b, size_t h, size_t size)
{
	const struct scene *s = &n->s;
	double *out = take(n->keys * size);
	memcpy(out, past + (b * s->H + h) * s->P * size, s->P * size * sizeof *out);
	memcpy(out + s->P * size, own, n->M * size * sizeof *out);
	if (s->bias_kv)
		memcpy(out + (s->P + n->M) * size, bias + h * size, size * sizeof *out);
	return out;
}

static void expect_rows(struct numbers *n, size_t bh, const double *q, const double *k, const double *v)
{
	const struct scene *s = &n->s;
	size_t d = s->dn + s->dr, keys = n->keys;
	for (size_t i = 0; i < s->N; i++) {
		double *scores = n->scores + (bh * s->N + i) * keys, *w = n->weights + (bh * s->N + i) * keys;
		double sum = 0;
		for (size_t j = 0; j < keys; j++) {
			for (size_t c = 0; c < d; c++)
				scores[j] += q[i * d + c] * k[j * d + c] / sqrt((double)d);
			sum += exp(scores[j]);
		}
		for (size_t j = 0; j < keys; j++) {
			w[j] = exp(scores[j]) / sum;
			for (size_t c = 0; c < s->e; c++)
				n->context[(bh * s->N + i) * s->e + c] += w[j] * v[j * s->e + c];
		}
	}
}

static void expect_batch_item(struct numbers *n, size_t b)
{
	const struct scene *s = &n->s;
	const double *x = n->x + (s->shared ? 0 : b * s->N * s->D), *y = n->y + b * n->M * n->S;
	double *a = s->rq ? product(x, n->wdq, s->N, s->D, s->rq) : NULL;
	double *c = product(y, n->wdkv, n->M, n->S, s->rk);
	if (s->q_gain)
		rms(a, s->N, s->rq, n->q_gain);
	if (s->kv_gain)
		rms(c, n->M, s->rk, n->kv_gain);
	const double *from = a ? a : x;
	double *values = product(c, n->wuv, n->M, s->rk, s->H * s->e);
	for (size_t h = 0; h < s->H; h++) {
		struct half of_q = {from, n->wuq, from,      n->wqr,       s->N,
				    n->r, n->r,   h * s->dr, s->H * s->dr, s->P};
		struct half of_k = {c, n->wuk, y, n->wkr, n->M, s->rk, n->S, 0, s->dr, s->P};
		double *q = head_vectors(n, &of_q, h), *own_k = head_vectors(n, &of_k, h);
		double *own_v = take(n->M * s->e);
		for (size_t t = 0; t < n->M; t++)
			memcpy(own_v + t * s->e, values + (t * s->H + h) * s->e, s->e * sizeof *own_v);
		double *k = join(n, n->past_k, own_k, n->bias_k, b, h, s->dn + s->dr);
		double *v = join(n, n->past_v, own_v, n->bias_v, b, h, s->e);
		expect_rows(n, b * s->H + h, q, k, v);
		double *const all[] = {q, own_k, own_v, k, v};
		for (size_t i = 0; i < 5; i++)
			free(all[i]);
	}
	free(a);
	free(c);
	free(values);
}

static struct numbers numbers_of(const struct scene *s)
{
	uint64_t seed = strlen(s->name);
	struct numbers n = {.s = *s, .B = s->B ? s->B : 1, .M = s->M ? s->M : s->N, .S = s->S ? s->S : s->D};
	n.r = s->rq ? s->rq : s->D;
	n.keys = s->P + n.M + s->bias_kv;
	n.x = roll(&seed, n.B * s->N * s->D, 1);
	n.y = s->M ? roll(&seed, n.B * n.M * n.S, 1) : n.x;
	n.wdq = roll(&seed, s->D * s->rq, sqrt(3 / (double)s->D));
	n.wuq = roll(&seed, n.r * s->H * s->dn, sqrt(3 / (double)n.r));
	n.wqr = roll(&seed, n.r * s->H * s->dr, sqrt(3 / (double)n.r));
	n.wdkv = roll(&seed, n.S * s->rk, sqrt(3 / (double)n.S));
	n.wuk = roll(&seed, s->rk * s->H * s->dn, sqrt(3 / (double)s->rk));
	n.wuv = roll(&seed, s->rk * s->H * s->e, sqrt(3 / (double)s->rk));
	n.wkr = roll(&seed, n.S * s->dr, sqrt(3 / (double)n.S));
	n.q_gain = roll(&seed, s->rq, 2);
	n.kv_gain = roll(&seed, s->rk, 2);
	n.past_k = roll(&seed, n.B * s->H * s->P * (s->dn + s->dr), 1);
	n.past_v = roll(&seed, n.B * s->H * s->P * s->e, 1);
	n.bias_k = roll(&seed, s->H * (s->dn + s->dr), 1);
	n.bias_v = roll(&seed, s->H * s->e, 1);
	size_t rows = n.B * s->H * s->N;
	n.weights = take(rows * n.keys);
	n.scores = take(rows * n.keys);
	n.context = take(rows * s->e);
	for (size_t b = 0; b < n.B; b++)
		expect_batch_item(&n, b);
	return n;
}

static void numbers_release(struct numbers *n)
{
	double *const all[] = {n->x,      n->wdq,    n->wuq,     n->wqr,     n->wdkv,   n->wuk,
			       n->wuv,    n->wkr,    n->q_gain,  n->kv_gain, n->past_k, n->past_v,
			       n->bias_k, n->bias_v, n->weights, n->scores,  n->context};
	if (n->y != n->x)
		free(n->y);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

/* --- a scene as a bundle ---------------------------------------------------------------- */

enum {
	FUSE_QUERY = 1, /* wuq with wqr in it */
	FUSE_DOWN = 2,  /* wdkv with wkr in it */
	FUSE_UP = 4,    /* wukv */
	OUT_IN = 8,
	FORMS = 16
};

static void put_weight(struct bundle *b, const char *name, unsigned form, size_t rows, size_t cols,
		       const double *w)
{
	double *turned = take(rows * cols);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < cols; c++)
			turned[c * rows + r] = w[r * cols + c];
	if (form & OUT_IN)
		put(b, name, DTYPE_F32, SHAPE(cols, rows), turned);
	else
		put(b, name, DTYPE_F32, SHAPE(rows, cols), w);
	free(turned);
}

/* Each head's columns of v, (rows, heads first), then of w, (rows, heads second). */
static void put_fused(struct bundle *b, const char *name, unsigned form, size_t rows, size_t heads,
		      const double *v, size_t first, const double *w, size_t second)
{
	size_t size = first + second;
	double *out = take(rows * heads * size);
	for (size_t r = 0; r < rows; r++)
		for (size_t h = 0; h < heads; h++)
			for (size_t c = 0; c < size; c++)
				out[(r * heads + h) * size + c] =
				    c < first ? v[(r * heads + h) * first + c]
					      : w[(r * heads + h) * second + c - first];
	put_weight(b, name, form, rows, heads * size, out);
	free(out);
}

static void put_matrices(struct bundle *b, const struct numbers *n, unsigned form)
{
	const struct scene *s = &n->s;
	if (s->rq)
		put_weight(b, "wdq", form, s->D, s->rq, n->wdq);
	if (form & FUSE_QUERY) {
		put_fused(b, "wuq", form, n->r, s->H, n->wuq, s->dn, n->wqr, s->dr);
	} else {
		put_weight(b, "wuq", form, n->r, s->H * s->dn, n->wuq);
		if (s->dr)
			put_weight(b, "wqr", form, n->r, s->H * s->dr, n->wqr);
	}
	if (form & FUSE_DOWN) {
		put_fused(b, "wdkv", form, n->S, 1, n->wdkv, s->rk, n->wkr, s->dr);
	} else {
		put_weight(b, "wdkv", form, n->S, s->rk, n->wdkv);
		if (s->dr)
			put_weight(b, "wkr", form, n->S, s->dr, n->wkr);
	}
	if (form & FUSE_UP) {
		put_fused(b, "wukv", form, s->rk, s->H, n->wuk, s->dn, n->wuv, s->e);
		return;
	}
	put_weight(b, "wuk", form, s->rk, s->H * s->dn, n->wuk);
	if (!s->no_values)
		put_weight(b, "wuv", form, s->rk, s->H * s->e, n->wuv);
}

static void put_number(struct bundle *b, const char *name, double value)
{
	char text[50];
	snprintf(text, sizeof text, "%g", value);
	put_setting(b, name, text);
}

static struct bundle bundle_of_scene(const struct numbers *n, unsigned form)
{
	const struct scene *s = &n->s;
	size_t d = s->dn + s->dr;
	struct bundle b;
	bundle_init(&b);
	if (s->B && !s->shared)
		put(&b, "embeddings", DTYPE_F32, SHAPE(s->B, s->N, s->D), n->x);
	else
		put(&b, "embeddings", DTYPE_F32, SHAPE(s->N, s->D), n->x);
	if (s->M && s->B)
		put(&b, "source_embeddings", DTYPE_F32, SHAPE(s->B, s->M, n->S), n->y);
	else if (s->M)
		put(&b, "source_embeddings", DTYPE_F32, SHAPE(s->M, n->S), n->y);
	put_matrices(&b, n, form);
	if (s->q_gain)
		put(&b, "q_latent_norm", DTYPE_F32, SHAPE(s->rq), n->q_gain);
	if (s->kv_gain)
		put(&b, "kv_latent_norm", DTYPE_F32, SHAPE(s->rk), n->kv_gain);
	if (s->P) {
		put(&b, "past_k", DTYPE_F32, SHAPE(n->B, s->H, s->P, d), n->past_k);
		put(&b, "past_v", DTYPE_F32, SHAPE(n->B, s->H, s->P, s->e), n->past_v);
	}
	if (s->bias_kv) {
		put(&b, "bias_k", DTYPE_F32, SHAPE(s->H * d), n->bias_k);
		put(&b, "bias_v", DTYPE_F32, SHAPE(s->H * s->e), n->bias_v);
	}
	put_number(&b, "num_heads", (double)s->H);
	if (form & OUT_IN)
		put_setting(&b, "layout", "out,in");
	if (s->dr && (form & (FUSE_QUERY | FUSE_DOWN)))
		put_number(&b, "rope_dim", (double)s->dr);
	if (s->rope > 0)
		put_number(&b, "rope", s->rope);
	if (s->style)
		put_setting(&b, "rope_style", s->style);
	if (s->qk_norm)
		put_setting(&b, "qk_norm", "rms");
	return b;
}

static void expect_scene(const struct numbers *n, unsigned form, bool scores)
{
	const struct scene *s = &n->s;
	size_t rows = n->B * s->H * s->N;
	char name[100];
	snprintf(name, sizeof name, "%s, form %u%s", s->name, form, scores ? ", scores" : "");
	struct bundle b = bundle_of_scene(n, form);
	struct result r = compute(&b, scores);
	expect_floats(name, "weights", r.weights, n->weights, rows * n->keys);
	assert_true((r.context == NULL) == (s->no_values && !(form & FUSE_UP)));
	if (r.context)
		expect_floats(name, "context", r.context, n->context, rows * s->e);
	if (scores)
		expect_floats(name, "scores", r.scores, n->scores, rows * n->keys);
	result_release(&r);
	bundle_release(&b);
}

/* Separate and fused, stored either way, by kernels and by the reference. */
static void test_scenes(void **state)
{
	(void)state;
	for (const struct scene *s = scenes; s->name; s++) {
		struct numbers n = numbers_of(s);
		for (unsigned form = 0; form < FORMS; form++) {
			expect_scene(&n, form, false);
			expect_scene(&n, form, true);
		}
		numbers_release(&n);
	}
}

/* Without rotary parts and norms it is ordinary attention, whose projections are the
 * products of the matrices. */
static void test_is_ordinary(void **state)
{
	static const struct scene scene = {"ordinary", .N = 6,  .H = 2,  .D = 7,
					   .rq = 3,    .rk = 4, .dn = 4, .e = 5};
	(void)state;
	struct numbers n = numbers_of(&scene);
	const struct scene *s = &n.s;
	double *wq = product(n.wdq, n.wuq, s->D, s->rq, s->H * s->dn);
	double *wk = product(n.wdkv, n.wuk, s->D, s->rk, s->H * s->dn);
	double *wv = product(n.wdkv, n.wuv, s->D, s->rk, s->H * s->e);
	struct bundle latent = bundle_of_scene(&n, 0), ordinary;
	bundle_init(&ordinary);
	put(&ordinary, "embeddings", DTYPE_F64, SHAPE(s->N, s->D), n.x);
	put(&ordinary, "wq", DTYPE_F64, SHAPE(s->D, s->H * s->dn), wq);
	put(&ordinary, "wk", DTYPE_F64, SHAPE(s->D, s->H * s->dn), wk);
	put(&ordinary, "wv", DTYPE_F64, SHAPE(s->D, s->H * s->e), wv);
	put_setting(&ordinary, "num_heads", "2");
	struct result a = compute(&latent, false), o = compute(&ordinary, false);
	expect_floats("latent", "weights", a.weights, n.weights, s->H * s->N * n.keys);
	expect_floats("latent", "context", a.context, n.context, s->H * s->N * s->e);
	expect_floats("ordinary", "weights", o.weights, n.weights, s->H * s->N * n.keys);
	expect_floats("ordinary", "context", o.context, n.context, s->H * s->N * s->e);
	result_release(&a);
	result_release(&o);
	bundle_release(&latent);
	bundle_release(&ordinary);
	free(wq);
	free(wk);
	free(wv);
	numbers_release(&n);
}

/* --- what it takes ----------------------------------------------------------------------- */

static void test_cost(void **state)
{
	static const struct scene scene = {"cost", .B = 2,  .N = 3,  .M = 4,  .S = 7,  .H = 2,
					   .D = 5, .rq = 6, .rk = 8, .dn = 3, .dr = 2, .e = 9};
	static const struct scene shared = {"cost",  .B = 2,         .N = 3, .M = 4,  .S = 7,
					    .H = 2,  .shared = true, .D = 5, .rq = 6, .rk = 8,
					    .dn = 3, .dr = 2,        .e = 9};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct numbers n = numbers_of(i ? &shared : &scene);
		double down = 2 * 3 * 5 * 6, latents = 2 * 3 * 6; /* batch x N x D x rq */
		if (i) {
			down /= 2;
			latents /= 2;
		}
		for (unsigned form = 0; form < FORMS; form++) {
			struct bundle b = bundle_of_scene(&n, form);
			struct planned r;
			planned_open(&r, &b, NULL, (struct rows_want){.context = true});
			assert_int_equal(r.problem.attention.head_size, 5);
			assert_int_equal(r.problem.attention.key_size, 5);
			assert_int_equal(r.problem.attention.value_size, 9);
			assert_int_equal(r.problem.attention.kv_heads, 2);
			struct plan_cost cost = r.plan.cost;
			/* wdq; wuq and wqr; wdkv and wkr; wuk; wuv */
			assert_true(cost.projections == down + 2 * 3 * 6 * 2 * 5 + 2 * 4 * 7 * (8 + 2) +
							    2 * 4 * 8 * 2 * 3 + 2 * 4 * 8 * 2 * 9);
			/* latents; Q; K and V */
			assert_true((double)cost.projected ==
				    4 * (latents + 2 * 4 * 8 + 2 * 3 * 2 * 5 + 2 * 4 * 2 * (5 + 9)));
			planned_release(&r);
			planned_open(&r, &b, NULL, (struct rows_want){.weights = true});
			cost = r.plan.cost;
			assert_true(cost.projections ==
				    down + 2 * 3 * 6 * 2 * 5 + 2 * 4 * 7 * (8 + 2) + 2 * 4 * 8 * 2 * 3);
			planned_release(&r);
			bundle_release(&b);
		}
		numbers_release(&n);
	}
}

/* --- numbers that are too large -------------------------------------------------------------- */

static void expect_overflow(const char *members, const char *message)
{
	char json[1000];
	struct attn_error err = {0};
	struct planned r;
	snprintf(json, sizeof json, "{\"embeddings\": [[[1, 1], [1, 1]], [[1, 1], [1, 1e30]]], %s}", members);
	struct bundle b = bundle_of(json);
	planned_open(&r, &b, NULL, (struct rows_want){.context = true});
	assert_int_equal(r.source->start(r.source, &err), ATTN_BAD_INPUT);
	assert_string_equal(err.message, message);
	planned_release(&r);
	bundle_release(&b);
}

static void test_overflow(void **state)
{
	(void)state;
	expect_overflow("\"wdkv\": [[1], [1e30]], \"wuq\": [[1], [1]], \"wuk\": [[1]], \"wuv\": [[1]]",
			"the key and value latent of batch item 1, token 1 overflows float32");
	expect_overflow("\"wdkv\": [[1], [1]], \"wdq\": [[1], [1e30]], \"wuq\": [[1]], \"wuk\": [[1]]",
			"the query latent of batch item 1, token 1 overflows float32");
	expect_overflow("\"wdkv\": [[1], [1]], \"wuq\": [[1], [1e30]], \"wuk\": [[1]], \"wuv\": [[1]]",
			"the query of batch item 1, token 1 overflows float32");
	expect_overflow("\"wdkv\": [[1], [1]], \"wuq\": [[1], [1]], \"wuk\": [[1e30]], \"wuv\": [[1]]",
			"the key of batch item 1, token 1 overflows float32");
	expect_overflow("\"wdkv\": [[1], [1]], \"wuq\": [[1], [1]], \"wuk\": [[1]], \"wuv\": [[1e30]]",
			"the value of batch item 1, token 1 overflows float32");
	expect_overflow("\"wdkv\": [[1], [1]], \"wuq\": [[1], [1]], \"wuk\": [[1]], "
			"\"wqr\": [[1], [1]], \"wkr\": [[1], [1e30]]",
			"the key of batch item 1, token 1 overflows float32");
	/* (1, 1e30) has a mean square of 0.5e60, so it becomes (0, 1.41) times the gain. */
	expect_overflow("\"wdkv\": [[1, 0], [0, 1]], \"wuq\": [[1], [1]], \"wuk\": [[1], [1]], "
			"\"kv_latent_norm\": [1, 3e38]",
			"the normalised key and value latent of batch item 1, token 1 overflows float32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hand_worked), cmocka_unit_test(test_scenes),
	    cmocka_unit_test(test_is_ordinary), cmocka_unit_test(test_cost),
	    cmocka_unit_test(test_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
