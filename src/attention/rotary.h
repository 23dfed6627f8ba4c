/* Rotary positions: pairs of dimensions of a query or key rotated by an angle that
 * grows with its position, so that q.k depends on the distance alone (Su et al.
 * 2021, "RoFormer", eq. 34).
 *
 * Of r rotated dimensions pair c at position t is rotated by t / base^(2c/r):
 * (a, b) becomes (a cos - b sin, b cos + a sin).
 */
#ifndef ATTN_ATTENTION_ROTARY_H
#define ATTN_ATTENTION_ROTARY_H

#include <stdbool.h>
#include <stddef.h>

/* How the frequencies f_c = 1 / base^(2c/r) are changed for longer texts; F is `factor`,
 * P `original`, the length that the model was trained on.  Each is what published models use. */
enum rotary_scaling {
	ROTARY_PLAIN,
	ROTARY_LLAMA3, /* f / F where a wave is longer than P / low, f where shorter than P / high,
			* between them a mean of both (Llama 3.1, 2024) */
	ROTARY_YARN,   /* f / F where fewer than `low` waves fit into P, f where more than `high`
			* do, between them a mean (Peng et al. 2023, "YaRN", section 3.2) */
};

struct rotary {
	double base;      /* after NTK scaling */
	double divisor;   /* what linear scaling divides positions by, else 1 */
	bool interleaved; /* pairs (2c, 2c + 1), as RoFormer; else (c, c + r/2), as GPT-NeoX */
	size_t dims;      /* r, even: how many dimensions of a head are rotated; 0: no rotary */
	size_t first;     /* the first of them within a head */
	enum rotary_scaling scaling;
	double factor, low, high, original; /* of that scaling */
	bool exact_bounds;     /* of YaRN: where its mean begins and ends isn't rounded to pairs */
	double magnitude;      /* of rotated vectors, "attention factor"; 0 is 1 */
	const float *inv_freq; /* (r/2), instead of 1 / base^(2c/r); or NULL */
	const float *factors;  /* (r/2) that divide the frequencies; or NULL */
	const float *table;    /* where positions are 0, 1, ...: their rotary_table, made before; or NULL */
};

/* The base that lets `dims` rotated dimensions serve texts `factor` times as long:
 * base factor^(dims / (dims - 2)), for more than 2 of them (bloc97 2023, "NTK-aware"). */
double rotary_ntk_base(double base, double factor, size_t dims);

/* The angle from one position to the next of pair c, below r/2. */
double rotary_frequency(const struct rotary *r, size_t c);

/* table (count, dims): the cosine of pair c at [c], its sine at [dims/2 + c], at
 * positions[count] below 2^53, both times the magnitude.  Computed in double. */
void rotary_table(const struct rotary *r, const double *positions, size_t count, float *table);

/* Rotate in place, by the rows of `table` (count, dims), the vectors of one head of
 * `count` tokens, which begin at rows[t * stride].  Each result is computed in double
 * and rounded once. */
void rotary_rotate(const struct rotary *r, const float *table, float *rows, size_t stride, size_t count);

#endif
