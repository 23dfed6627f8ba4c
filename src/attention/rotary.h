/* Rotary positions: pairs of dimensions of a query or key turned by an angle that
 * grows with its position, so that q.k depends on the distance alone (Su et al.
 * 2021, "RoFormer", eq. 34).
 *
 * Of r turned dimensions pair c at position t turns by t / base^(2c/r):
 * (a, b) becomes (a cos - b sin, b cos + a sin).
 */
#ifndef ATTN_ATTENTION_ROTARY_H
#define ATTN_ATTENTION_ROTARY_H

#include <stdbool.h>
#include <stddef.h>

#include "input/bundle.h"

struct rotary {
	double base;      /* after NTK scaling */
	double divisor;   /* what linear scaling divides positions by, else 1 */
	bool interleaved; /* pairs (2c, 2c + 1), as RoFormer; else (c, c + r/2), as GPT-NeoX */
	size_t dims;      /* r, even: how many dimensions of a head are turned; 0: no rotary */
	size_t first;     /* the first of them within a head */
};

/* Fill *r from the settings rope (a base, or none), rope_style, rope_dim and
 * rope_scaling: "linear=F" divides positions by F (Chen et al. 2023), "ntk=F" makes
 * the base base F^(r/(r-2)) (bloc97 2023).  `size` is the head size d; `latent_dims`
 * is how many of them, the last, latent attention turns, or 0: the first rope_dim or
 * all are turned.  ATTN_BAD_INPUT (ATTN_USAGE for an option) that names the setting:
 * malformed, no even number of dimensions, or without rope.  A rope of none on the
 * command line turns off what a file says of its style, dimensions and scaling. */
enum attn_status rotary_bind(struct rotary *r, const struct bundle *b, size_t size, size_t latent_dims,
			     struct attn_error *err);

/* table (count, dims): the cosine of pair c at [c], its sine at [dims/2 + c], at
 * positions[count] below 2^53.  Computed in double. */
void rotary_table(const struct rotary *r, const double *positions, size_t count, float *table);

/* Turn in place, by the rows of `table` (count, dims), the vectors of one head of
 * `count` tokens, which begin at rows[t * stride].  Each result is computed in double
 * and rounded once. */
void rotary_turn(const struct rotary *r, const float *table, float *rows, size_t stride, size_t count);

#endif
