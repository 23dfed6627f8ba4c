/* The block formats of ggml, as types of matrices: each block of numbers has its own scale, and in the
 * larger ones each group within a block another.
 *
 * Formulas: ggml-quants.c and ggml-common.h of ggml (2025); MXFP4: OCP Microscaling Formats 1.0.
 */
#ifndef ATTN_ATTENTION_BLOCKS_H
#define ATTN_ATTENTION_BLOCKS_H

#include "attention/matrix.h"

/* 32 numbers a block. */
extern const struct matrix_type matrix_q4_0, matrix_q4_1, matrix_q5_0, matrix_q5_1, matrix_q8_0,
    matrix_iq4_nl, matrix_mxfp4;

/* 256 numbers a block. */
extern const struct matrix_type matrix_q2_k, matrix_q3_k, matrix_q4_k, matrix_q5_k, matrix_q6_k,
    matrix_iq4_xs;

#endif
