/* Random cases of the variants of attention: each both as a struct oracle and, by the names of
 * roles and settings, as a bundle.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_VARIANT_TEST_H
#define ATTN_TESTS_VARIANT_TEST_H

#include "oracle_test.h"
#include "roll_inputs_test.h"

/* --- scores --- */

/* Parameters (maps H, rows, cols) of a score function, given for each head or once for all. */
static inline double *roll_score_role(struct variant *x, const char *name, size_t rows, size_t cols,
				      double reach)
{
	size_t H = x->o.maps * x->o.H, size = rows * cols;
	bool each = roll(2), transposed = x->out_in && x->o.score == ORACLE_ADDITIVE;
	bool vector = rows == 1 && name[6] != 'w' && name[6] != 'u';
	double *values = roll_numbers(H * size, -reach, reach), *stored = oracle_take(H * size);
	for (size_t i = size; i < H * size && !each; i++)
		values[i] = values[i - size];
	for (size_t i = 0; i < H * size; i++)
		stored[transposed ? i / size * size + i % cols * rows + i % size / cols : i] = values[i];
	size_t shape[] = {H, transposed && !vector ? cols : rows, transposed && !vector ? rows : cols};
	if (transposed)
		put_setting(&x->b, "layout", "out,in");
	if (vector)
		put(&x->b, name, DTYPE_F32, 1 + each, each ? (size_t[]){H, cols} : (size_t[]){cols}, values);
	else
		put(&x->b, name, DTYPE_F32, 2 + each, each ? shape : shape + 1, stored);
	return values;
}

static inline void roll_score(struct variant *x)
{
	static const char *const names[] = {"scaled-dot", "dot", "general", "additive", "cosine"};
	struct oracle *o = &x->o;
	double sum = sqrt((double)(o->dq > o->dk ? o->dq : o->dk));
	o->scale = NAN;
	if (o->score != ORACLE_SCALED_DOT || (o->normalizer != ORACLE_LINEAR && roll(8) == 0))
		put_setting(&x->b, "score", names[o->score]);
	if (o->score == ORACLE_GENERAL)
		o->score_w = roll_score_role(x, "score_w", o->dq, o->dk, 1.7 / sqrt((double)o->dk));
	if (o->score == ORACLE_ADDITIVE) {
		o->score_w = roll_score_role(x, "score_w", o->dq, o->a, 1.7 / sqrt((double)o->dq));
		o->score_u = roll_score_role(x, "score_u", o->dk, o->a, 1.7 / sqrt((double)o->dk));
		o->score_v = roll_score_role(x, "score_v", 1, o->a, 3 / sqrt((double)o->a));
		if (roll(2))
			o->score_b = roll_score_role(x, "score_b", 1, o->a, 1);
	}
	if (o->normalizer == ORACLE_LINEAR)
		return;
	/* Scores of hundreds would amplify the rounding of q and k. */
	bool large = (o->score == ORACLE_DOT || o->score == ORACLE_GENERAL) && sum > 3;
	if (large || has(SCALE)) {
		bool sums =
		    o->score == ORACLE_DOT || o->score == ORACLE_GENERAL || o->score == ORACLE_SCALED_DOT;
		o->scale = roll_number(-1, 2) / (sums ? sum : 1);
		put_text(x, "scale", "%.17g", o->scale);
	}
	if (has(TEMPERATURE))
		o->temperature = roll_heads(x, "temperature", 0.4, 2);
	if (has(SOFTCAP))
		put_text(x, "softcap", "%.17g", o->softcap = roll_number(0.3, 4));
}

/* --- what a query sees --- */

static inline void roll_window(struct variant *x)
{
	struct oracle *o = &x->o;
	char text[60];
	o->left = o->right = -1;
	o->dilation = 1;
	if ((o->causal = has(CAUSAL)))
		put_setting(&x->b, "causal", "true");
	if (has(WINDOW)) {
		size_t reach = roll(2) ? 12 : 150;
		o->left = (long)roll(reach) - 1;
		o->right = (long)roll(reach) - 1;
		snprintf(text, sizeof text, "%ld,%ld", o->left, o->right);
		put_setting(&x->b, "window", text);
		if (has(DILATION)) {
			o->dilation = (long)roll_from(1, 4);
			put_whole(x, "dilation", (size_t)o->dilation);
		}
	}
	if (has(PREFIX)) {
		o->prefix = (long)roll_from(0, o->P + o->M);
		put_whole(x, "prefix", (size_t)o->prefix);
		o->causal = true;
	}
}

static inline void roll_blocks(struct variant *x)
{
	struct oracle *o = &x->o;
	char text[120];
	int used;
	if (!has(BLOCKS))
		return;
	o->block_size = roll_from(1, roll(2) ? 8 : 70);
	o->block_window = 3;
	used = snprintf(text, sizeof text, "size=%zu", o->block_size);
	if (roll(2))
		used += snprintf(text + used, sizeof text - (size_t)used, ",global=%zu",
				 o->block_global = roll(3));
	if (roll(2))
		used += snprintf(text + used, sizeof text - (size_t)used, ",window=%zu",
				 o->block_window = roll(4) ? 2 * roll(4) + 1 : 0);
	bool random = roll(2);
	if (random)
		used += snprintf(text + used, sizeof text - (size_t)used, ",random=%zu",
				 o->block_random = roll(4));
	if (roll(2) && random) /* without it a seed is refused */
		snprintf(text + used, sizeof text - (size_t)used, ",seed=%zu",
			 (size_t)(o->block_seed = roll((size_t)1 << 40)));
	put_setting(&x->b, "blocks", text);
}

static inline void roll_segments(struct variant *x)
{
	struct oracle *o = &x->o;
	if (!has(SEGMENTS))
		return;
	o->segments = o->source_segments = roll_tokens(x, "segments", DTYPE_I64, o->N, 3, true);
	if (o->cross || o->P > 0 || roll(3) == 0)
		o->source_segments = roll_tokens(x, "source_segments", DTYPE_I64, o->P + o->M, 3, true);
}

static inline double mask_number(bool floats)
{
	if (!floats)
		return roll(10) < 7;
	return roll(10) < 3 ? -INFINITY : roll_number(-2, 2);
}

/* A mask whose dimensions, from the right, are whole or 1, and whose last one may be short. */
static inline void roll_mask(struct variant *x)
{
	struct oracle *o = &x->o;
	bool floats = o->normalizer != ORACLE_LINEAR && roll(2);
	size_t plain = o->P + o->M, whole[] = {o->B, o->H, o->N, plain}, shape[] = {1, 1, 1, 1};
	size_t rank = roll_from(1, 4), cells = o->B * o->H * o->N * plain;
	if (!has(MASK))
		return;
	for (size_t i = 4 - rank; i < 4; i++)
		shape[i] = roll(4) > 0 ? whole[i] : 1;
	if (shape[3] > 3 && roll(6) == 0)
		shape[3] -= 2;
	double *mask = oracle_take(shape[0] * shape[1] * shape[2] * shape[3]), *full = oracle_take(cells);
	for (size_t i = 0; i < shape[0] * shape[1] * shape[2] * shape[3]; i++)
		mask[i] = mask_number(floats);
	bool folded = rank == 4 && shape[0] == o->B && shape[1] == o->H && o->B > 1 && roll(2);
	enum dtype dtype = floats ? DTYPE_F32 : DTYPE_BOOL;
	if (folded) /* as PyTorch has it */
		put(&x->b, "mask", dtype, SHAPE(o->B * o->H, shape[2], shape[3]), mask);
	else
		put(&x->b, "mask", dtype, (int)rank, shape + 4 - rank, mask);
	for (size_t i = 0; i < cells; i++) {
		size_t j = i % plain, n = i / plain % o->N, h = i / plain / o->N % o->H;
		size_t row =
		    (i / plain / o->N / o->H % shape[0] * shape[1] + h % shape[1]) * shape[2] + n % shape[2];
		bool beyond = shape[3] > 1 && j >= shape[3];
		full[i] = beyond ? (floats ? -INFINITY : 0) : mask[row * shape[3] + j % shape[3]];
	}
	*(floats ? &o->bias : &o->allowed) = full;
}

static inline void roll_padding(struct variant *x)
{
	struct oracle *o = &x->o;
	size_t plain = o->P + o->M, first = roll(2) ? 0 : o->P;
	if (o->P == 0 && has(LENGTHS)) {
		double *lengths = oracle_take(o->B);
		for (size_t b = 0; b < o->B; b++)
			lengths[b] = (double)(roll(6) ? roll_from(1, o->M) : 0);
		put(&x->b, "kv_lengths", DTYPE_I64, SHAPE(o->B), lengths);
		o->lengths = lengths;
	}
	if (!has(PADDING))
		return;
	double *padding = oracle_take(o->B * plain);
	const double *given = roll_tokens(x, "key_padding", DTYPE_BOOL, plain - first, 1, true);
	for (size_t i = 0; i < o->B * plain; i++)
		padding[i] = i % plain < first || given[i / plain * (plain - first) + i % plain - first] != 0;
	o->padding = padding;
}

/* --- biases and normalisers --- */

static inline void roll_alibi(struct variant *x)
{
	struct oracle *o = &x->o;
	if (!has(ALIBI))
		return;
	o->alibi = true;
	if (roll(2))
		o->slopes = roll_heads(x, "alibi_slopes", 0.01, 0.6);
	if (!o->slopes || roll(2))
		put_setting(&x->b, "alibi", "true");
}

static inline void roll_relative(struct variant *x)
{
	struct oracle *o = &x->o;
	if (!has(RELATIVE))
		return;
	o->relative_bidirectional = !o->causal;
	if (roll(2)) {
		o->relative_bidirectional = roll(2);
		put_setting(&x->b, "relative_bidirectional", o->relative_bidirectional ? "true" : "false");
	}
	o->relative_buckets = o->relative_bidirectional ? 2 * roll_from(2, 20) : roll_from(2, 40);
	o->relative_max = 128;
	if (roll(2))
		put_whole(x, "relative_max_distance", o->relative_max = roll_from(41, 250));
	o->relative_bias = roll_numbers(o->relative_buckets * o->H, -2, 2);
	put(&x->b, "relative_bias", DTYPE_F32, SHAPE(o->relative_buckets, o->H), o->relative_bias);
}

static inline void roll_normalizer(struct variant *x)
{
	static const char *const names[] = {"softmax", "sparsemax", "entmax15", "linear"};
	struct oracle *o = &x->o;
	if (o->normalizer != ORACLE_SOFTMAX || roll(8) == 0)
		put_setting(&x->b, "normalizer", names[o->normalizer]);
	if (o->normalizer == ORACLE_SOFTMAX && has(SINKS)) {
		if (roll(3) == 0)
			put_setting(&x->b, "zero_sink", "true");
		else
			o->sinks = roll_heads(x, "sinks", -2, 3);
		if (!o->sinks)
			o->sinks = oracle_take(o->H);
	}
	if (o->normalizer != ORACLE_LINEAR && has(TOP_K))
		put_whole(x, "top_k", o->top_k = roll_from(1, roll(2) ? 5 : o->P + o->M));
	if (o->maps == 2)
		o->lambda = roll_heads(x, "lambda", -0.5, 1);
	if (o->maps == 2 && (o->q || o->e % 2 == 0) && roll(2)) {
		o->halves = true;
		put_setting(&x->b, "lambda_pairing", "halves");
	}
}

/* Make the case of a seed. */
static inline void roll_variant(struct variant *x, unsigned seed)
{
	bool projected;
	*x = (struct variant){0};
	bundle_init(&x->b);
	variant_state = oracle_mix(seed);
	projected = has(PROJECTED);
	x->o.latent = projected && has(LATENT);
	roll_kinds(x);
	roll_sizes(x, projected);
	x->out_in = roll(4) == 0;
	if (x->o.latent)
		roll_latent(x);
	else if (projected)
		roll_projected(x);
	else
		roll_precomputed(x);
	roll_other_keys(x);
	roll_positions(x);
	roll_norm(x);
	roll_score(x);
	roll_window(x);
	roll_blocks(x);
	roll_segments(x);
	roll_mask(x);
	roll_padding(x);
	if (x->o.normalizer != ORACLE_LINEAR) {
		roll_alibi(x);
		roll_relative(x);
	}
	roll_normalizer(x);
}

#endif
