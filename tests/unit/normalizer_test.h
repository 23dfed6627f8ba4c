/* Random rows of scores, and what the reference makes of them. */
#ifndef ATTN_TESTS_NORMALIZER_TEST_H
#define ATTN_TESTS_NORMALIZER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attention/normalizer.h"

#define MASKED (-INFINITY)
#define NO_SINK (-INFINITY)

/* All of them. */
static const struct normalizer *const kinds[] = {&normalizer_softmax, &normalizer_sparsemax,
						 &normalizer_entmax15, &normalizer_linear};

/* --- numbers and memory -------------------------------------------------------- */

static uint64_t state64 = 1;

static inline uint32_t random_bits(void)
{
	state64 = state64 * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state64 >> 32);
}

static inline double between(double low, double high)
{
	return low + (high - low) * random_bits() * 0x1p-32;
}

/* Exactly as many bytes as are asked for, so that the sanitizers see one more. */
static inline void *memory(size_t count, size_t size)
{
	void *data = calloc(count, size);
	assert_non_null(data);
	return data;
}

/* The kinds of rows: what the scores of one look like. */
enum {
	ROW_KINDS = 9
};

static inline double random_score(size_t kind, bool positive)
{
	double score;
	switch (kind) {
	case 0: /* ordinary */
		score = between(-3, 3);
		break;
	case 1: /* some masked */
		score = random_bits() % 3 ? between(-2, 2) : MASKED;
		break;
	case 2: /* nearly flat */
		score = between(-0.001, 0.001);
		break;
	case 3: /* equals */
		score = random_bits() % 4 * 0.25;
		break;
	case 4: /* large, and near each other */
		score = 1e4 + between(-0.5, 0.5);
		break;
	case 5: /* large, and far from each other */
		score = between(-1e4, 1e4);
		break;
	case 6: /* all the same */
		score = 0.3;
		break;
	case 7: /* all masked */
		return MASKED;
	default: /* mostly masked */
		score = random_bits() % 20 ? MASKED : between(-1, 1);
	}
	/* As float32, so that rows of float64 and float32 start from the same numbers. */
	return (double)(float)(positive && score != MASKED ? fabs(score) : score);
}

/* --- rows ---------------------------------------------------------------------- */

static inline void weigh(struct normalization n, double sink, const double *scores, size_t keys,
			 float *weights)
{
	double *changed = memory(keys, sizeof *changed), *scratch = memory(keys, sizeof *scratch);
	memcpy(changed, scores, keys * sizeof *scores);
	normalize_row(&n, sink, changed, keys, weights, scratch);
	free(scratch);
	free(changed);
}

#endif
