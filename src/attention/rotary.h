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

struct rotary {
	double base;      /* after NTK scaling */
	double divisor;   /* what linear scaling divides positions by, else 1 */
	bool interleaved; /* pairs (2c, 2c + 1), as RoFormer; else (c, c + r/2), as GPT-NeoX */
	size_t dims;      /* r, even: how many dimensions of a head are rotated; 0: no rotary */
	size_t first;     /* the first of them within a head */
};

/* The base that lets `dims` rotated dimensions serve texts `factor` times as long:
 * base factor^(dims / (dims - 2)), for more than 2 of them (bloc97 2023, "NTK-aware"). */
double rotary_ntk_base(double base, double factor, size_t dims);

/* table (count, dims): the cosine of pair c at [c], its sine at [dims/2 + c], at
 * positions[count] below 2^53.  Computed in double. */
void rotary_table(const struct rotary *r, const double *positions, size_t count, float *table);

/* Rotate in place, by the rows of `table` (count, dims), the vectors of one head of
 * `count` tokens, which begin at rows[t * stride].  Each result is computed in double
 * and rounded once. */
void rotary_rotate(const struct rotary *r, const float *table, float *rows, size_t stride, size_t count);

#endif
