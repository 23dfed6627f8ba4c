/* Binders: tensors and settings of a bundle in the form that attention/ needs.  What they
 * bind is marked as used (given.h). */
#ifndef ATTN_INPUT_BIND_H
#define ATTN_INPUT_BIND_H

#include "input/problem.h"

/* ATTN_BAD_INPUT: "'FILE': 'wq' is 3 x 4, expected FORMAT...". */
enum attn_status bind_fail_shape(const struct tensor *t, struct attn_error *err, const char *expected, ...)
    __attribute__((format(printf, 3, 4)));

/* ATTN_BAD_INPUT: "'FILE': num_heads is 5, expected a divisor of the 16 columns of
 * 'wq'".  `setting` is num_heads or num_kv_heads, which stands for the other where it
 * is not given; `columns` is a dimension of the tensor. */
enum attn_status bind_fail_divisor(const struct bundle *b, const struct tensor *t, enum role_id setting,
				   size_t heads, size_t columns, struct attn_error *err);

/* ATTN_BAD_INPUT: "'wq' is missing: WHY", and what was ignored. */
enum attn_status bind_fail_missing(const struct bundle *b, struct attn_error *err, enum role_id role,
				   const char *why, ...) __attribute__((format(printf, 4, 5)));

/* The tensor's elements, t->count of them in its own order, as aligned, finite float32: in
 * place, or converted into memory of the pool.  Loads the tensor.  ATTN_BAD_INPUT that names
 * the first element beyond float32, infinite or NaN. */
enum attn_status bind_f32(struct float_pool *pool, struct tensor *t, const float **out,
			  struct attn_error *err);

/* A tensor (rows, cols) or (batch, rows, cols), if the bundle has it.  Fixes the
 * batch of the problem, or agrees with it. */
enum attn_status bind_sequence(struct problem *p, const struct bundle *b, enum role_id role,
			       struct sequence *out, struct attn_error *err);

/* Whether the bundle's weights are stored (out, in): false after a failure, which is
 * ATTN_BAD_INPUT or ATTN_USAGE. */
enum attn_status bind_layout(const struct bundle *b, bool *transposed, struct attn_error *err);

/* A weight matrix of `rows` input features, transposed to (in, out) where the
 * bundle's layout is out,in.  With `cols` not 0 that many columns are expected. */
enum attn_status bind_weight(struct float_pool *pool, const struct bundle *b, enum role_id role, size_t rows,
			     size_t cols, struct matrix *out, struct attn_error *err);

/* `count` numbers in any shape whose other dimensions are 1; *out is NULL where
 * the bundle has none. */
enum attn_status bind_vector(struct float_pool *pool, const struct bundle *b, enum role_id role, size_t count,
			     const float **out, struct attn_error *err);

/* One number for each head, as a tensor (H), one number for all, or a setting of either
 * form; *out is (H), or NULL where the bundle has none. */
enum attn_status bind_per_head(struct problem *p, const struct bundle *b, enum role_id role,
			       const float **out, struct attn_error *err);

/* num_heads, 1 where it is not given, and num_kv_heads, as many where that is not: few
 * enough that a small multiple of their sum does not wrap. */
enum attn_status bind_head_counts(const struct bundle *b, size_t *heads, size_t *kv_heads,
				  struct attn_error *err);

/* Whether the bundle's layout holds for a matrix: it does for those that x is multiplied by. */
enum head_matrix_kind {
	PLAIN_MATRIX,
	WEIGHT_MATRIX
};

/* A matrix (rows, cols), or a vector (cols) where rows is 0, of each of `heads` heads, or
 * one for all of them.  A WEIGHT_MATRIX is transposed to (in, out) where the bundle's layout
 * is out,in.  ATTN_BAD_INPUT for another shape. */
enum attn_status bind_head_matrix(struct problem *p, const struct bundle *b, enum role_id role, size_t heads,
				  size_t rows, size_t cols, enum head_matrix_kind kind,
				  struct head_matrix *out, struct attn_error *err);

/* A batch dimension of `batch` was found on *t: fix the problem's, or agree. */
enum attn_status bind_batch(struct problem *p, const struct tensor *t, size_t batch, struct attn_error *err);

/* wo and bo: out->context_size is set, and out->wo.cols where so many columns are expected,
 * else 0. */
enum attn_status bind_output_layer(struct float_pool *pool, const struct bundle *b, struct output_layer *out,
				   struct attn_error *err);

/* The parts of problem_init, in its order; a file each, or one for a few.  Each is
 * ATTN_BAD_INPUT (ATTN_USAGE for an option) that names tensor or setting, found and
 * expected, and leaves what it fills to problem_release. */
enum attn_status bind_projected(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_latent(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_precomputed(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_past(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_norms(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_rotary(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_positions(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_rotary_length(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_score(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_normalizer(struct problem *p, const struct bundle *b, struct attn_error *err);
enum attn_status bind_relative(struct problem *p, const struct bundle *b, struct attn_error *err);

/* Whether Q and K of the score function that the bundle asks for have one size. */
bool score_needs_one_size(const struct bundle *b);

/* Fill `m`, whose sizes are set (masking_of_all), from the tensors mask, key_padding,
 * kv_lengths, segments and source_segments and the settings causal, window, dilation,
 * prefix and blocks.  Things worth a word (a float mask of zeros and ones, one too short)
 * go to `notes`. */
enum attn_status bind_masking(struct masking *m, const struct bundle *b, struct string_list *notes,
			      struct attn_error *err);

/* key_padding, once the mask is bound: v->padding, and, where its numbers are added to the
 * scores, v->mask and v->bias.  What it was taken for goes to `notes`. */
enum attn_status bind_padding(struct masking *v, const struct bundle *b, struct string_list *notes,
			      struct attn_error *err);

/* The setting `blocks`; causal and lengths must be bound before. */
enum attn_status bind_blocks(struct masking *m, const struct bundle *b, struct attn_error *err);

/* Fill the labels of `info` (whose shape is set) from tokens, source_tokens and head_names,
 * and the number of the layer from its setting.  In self-attention the keys are called as
 * the queries are.  source_tokens name the own keys, or those of the KV cache too; with
 * them, or with other numbers of queries and keys, the shape is one of cross-attention.  A
 * list of the wrong length is ATTN_BAD_INPUT. */
enum attn_status bind_labels(struct rows_info *info, const struct bundle *b, const struct key_counts *keys,
			     struct attn_error *err);

#endif
