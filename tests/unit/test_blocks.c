/* Types of stored matrices against their definitions: float16 against the readers' conversion, blocks
 * against values worked out by hand, and against formulas that walk through a block as those that
 * define it do.  What models compute from blocks is in test_model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "attention/blocks.h"
#include "input/tensor.h"

static void test_halves(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 65536; bits++) {
		uint16_t half = (uint16_t)bits;
		float expected = f16_to_f32(half), found = matrix_half(&half), many;
		matrix_f16.widen(NULL, &half, 1, &many);
		if (isnan(expected))
			assert_true(isnan(found) && isnan(many));
		else
			assert_true(memcmp(&expected, &found, 4) == 0 && memcmp(&expected, &many, 4) == 0);
	}
}

/* The float16 1, 2 and 0.5, as bytes. */
#define ONE 0x00, 0x3c
#define TWO 0x00, 0x40
#define HALF 0x00, 0x38

static void expect(const struct matrix_type *type, const unsigned char *block, size_t i, float value)
{
	float y[256];
	type->widen(NULL, block, type->values, y);
	if (y[i] != value)
		fail_msg("%s: number %zu is %g, expected %g", type->name, i, (double)y[i], (double)value);
}

static void test_by_hand(void **state)
{
	(void)state;
	static const unsigned char q4_0[18] = {TWO, 0x0f, [17] = 0xf1};
	expect(&matrix_q4_0, q4_0, 0, 14); /* 2 (15 - 8) */
	expect(&matrix_q4_0, q4_0, 16, -16);
	expect(&matrix_q4_0, q4_0, 15, -14);
	expect(&matrix_q4_0, q4_0, 31, 14);
	static const unsigned char q4_1[20] = {TWO, HALF, 0x3f};
	expect(&matrix_q4_1, q4_1, 0, 30.5f);
	expect(&matrix_q4_1, q4_1, 16, 6.5f);
	expect(&matrix_q4_1, q4_1, 1, 0.5f);
	static const unsigned char q5_0[22] = {ONE, 0x01, 0, 0, 0x80, 0x0f, [21] = 0xf0};
	expect(&matrix_q5_0, q5_0, 0, 15);
	expect(&matrix_q5_0, q5_0, 1, -16);
	expect(&matrix_q5_0, q5_0, 31, 15);
	static const unsigned char q5_1[24] = {ONE, TWO, 0, 0, 0x01, 0, 0x21};
	expect(&matrix_q5_1, q5_1, 0, 3);
	expect(&matrix_q5_1, q5_1, 16, 20); /* 16 + 2 + 2 */
	static const unsigned char q8_0[34] = {HALF, 0x80, [33] = 0x7f};
	expect(&matrix_q8_0, q8_0, 0, -64);
	expect(&matrix_q8_0, q8_0, 31, 63.5f);
	static const unsigned char iq4_nl[18] = {ONE, 0xf0};
	expect(&matrix_iq4_nl, iq4_nl, 0, -127);
	expect(&matrix_iq4_nl, iq4_nl, 16, 113);
	static const unsigned char mxfp4[17] = {127, 0x71, [16] = 0x9f};
	expect(&matrix_mxfp4, mxfp4, 0, 0.5f);
	expect(&matrix_mxfp4, mxfp4, 16, 6);
	expect(&matrix_mxfp4, mxfp4, 15, -6);
	expect(&matrix_mxfp4, mxfp4, 31, -0.5f);
	static const unsigned char least[17] = {0, 0x01};
	expect(&matrix_mxfp4, least, 0, 0x1p-128f);
}

/* --- blocks of 256, as their definition walks through them ------------------------------- */

static void walk_q2_k(const unsigned char *b, double *y)
{
	const unsigned char *scales = b, *q = b + 16;
	double d = (double)matrix_half(b + 80), m = (double)matrix_half(b + 82);
	int is = 0;
	for (int n = 0; n < 256; n += 128, q += 32)
		for (int shift = 0; shift < 8; shift += 2)
			for (int side = 0; side < 32; side += 16, is++)
				for (int l = 0; l < 16; l++)
					*y++ = d * (scales[is] & 15) * (q[side + l] >> shift & 3) -
					       m * (scales[is] >> 4);
}

static void walk_q3_k(const unsigned char *b, double *y)
{
	const unsigned char *high = b, *q = b + 32, *s = b + 96;
	double d = (double)matrix_half(b + 108);
	int scales[16], is = 0, mask = 1;
	for (int i = 0; i < 4; i++) {
		scales[i] = (s[i] & 15) | (s[8 + i] & 3) << 4;
		scales[i + 4] = (s[i + 4] & 15) | (s[8 + i] >> 2 & 3) << 4;
		scales[i + 8] = s[i] >> 4 | (s[8 + i] >> 4 & 3) << 4;
		scales[i + 12] = s[i + 4] >> 4 | s[8 + i] >> 6 << 4;
	}
	for (int n = 0; n < 256; n += 128, q += 32)
		for (int shift = 0; shift < 8; shift += 2, mask <<= 1)
			for (int side = 0; side < 32; side += 16, is++)
				for (int l = side; l < side + 16; l++)
					*y++ = d * (scales[is] - 32) *
					       ((q[l] >> shift & 3) - (high[l] & mask ? 0 : 4));
}

/* Scales and minima are 16 numbers of six bits, packed in 12 bytes. */
static void unpack(const unsigned char *s, int scales[8], int least[8])
{
	for (int i = 0; i < 4; i++) {
		scales[i] = s[i] % 64;
		least[i] = s[i + 4] % 64;
		scales[i + 4] = s[i + 8] % 16 + s[i] / 64 * 16;
		least[i + 4] = s[i + 8] / 16 + s[i + 4] / 64 * 16;
	}
}

static void walk_q5_k(const unsigned char *b, double *y, bool fifth)
{
	const unsigned char *high = b + 16, *q = b + (fifth ? 48 : 16);
	double d = (double)matrix_half(b), m = (double)matrix_half(b + 2);
	int scales[8], least[8];
	unpack(b + 4, scales, least);
	for (int is = 0; is < 8; is += 2, q += 32) {
		for (int l = 0; l < 32; l++)
			*y++ = d * scales[is] * (q[l] % 16 + (fifth && high[l] & 1 << is ? 16 : 0)) -
			       m * least[is];
		for (int l = 0; l < 32; l++)
			*y++ = d * scales[is + 1] * (q[l] / 16 + (fifth && high[l] & 2 << is ? 16 : 0)) -
			       m * least[is + 1];
	}
}

static void walk_q6_k(const unsigned char *b, double *y)
{
	const unsigned char *low = b, *high = b + 128;
	const signed char *s = (const signed char *)(b + 192);
	double d = (double)matrix_half(b + 208);
	for (int n = 0; n < 256; n += 128, y += 128, low += 64, high += 32, s += 8)
		for (int l = 0; l < 32; l++) {
			int is = l / 16;
			y[l] = d * s[is] * ((low[l] % 16 + (high[l] & 3) * 16) - 32);
			y[l + 32] = d * s[is + 2] * ((low[l + 32] % 16 + (high[l] >> 2 & 3) * 16) - 32);
			y[l + 64] = d * s[is + 4] * ((low[l] / 16 + (high[l] >> 4 & 3) * 16) - 32);
			y[l + 96] = d * s[is + 6] * ((low[l + 32] / 16 + (high[l] >> 6 & 3) * 16) - 32);
		}
}

static void walk_iq4_xs(const unsigned char *b, double *y)
{
	static const int table[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
				      1,    13,   25,  38,  53,  69,  89,  113};
	double d = (double)matrix_half(b);
	const unsigned char *q = b + 8;
	for (int k = 0; k < 8; k++, q += 16, y += 32) {
		int low = k % 2 ? b[4 + k / 2] / 16 : b[4 + k / 2] % 16;
		int scale = (low + ((b[2] + 256 * b[3]) >> 2 * k) % 4 * 16) - 32;
		for (int j = 0; j < 16; j++) {
			y[j] = d * scale * table[q[j] % 16];
			y[j + 16] = d * scale * table[q[j] / 16];
		}
	}
}

static void test_large_blocks(void **state)
{
	(void)state;
	static const struct matrix_type *const types[] = {&matrix_q2_k, &matrix_q3_k, &matrix_q4_k,
							  &matrix_q5_k, &matrix_q6_k, &matrix_iq4_xs};
	static const size_t halves[][2] = {{80, 82}, {108, 108}, {0, 2}, {0, 2}, {208, 208}, {0, 0}};
	srand(7);
	for (int round = 0; round < 600; round++) {
		unsigned char block[300];
		float y[256];
		double expected[256];
		size_t t = (size_t)round % 6;
		for (size_t i = 0; i < sizeof block; i++)
			block[i] = (unsigned char)(rand() >> 8);
		for (size_t i = 0; i < 2; i++) /* finite */
			block[halves[t][i] + 1] &= 0xbf;
		types[t]->widen(NULL, block, 256, y);
		switch (t) {
		case 0:
			walk_q2_k(block, expected);
			break;
		case 1:
			walk_q3_k(block, expected);
			break;
		case 2:
		case 3:
			walk_q5_k(block, expected, t == 3);
			break;
		case 4:
			walk_q6_k(block, expected);
			break;
		default:
			walk_iq4_xs(block, expected);
		}
		/* The difference of two products may cancel; each is rounded at most twice. */
		for (size_t i = 0; i < 256; i++)
			if (fabs((double)y[i] - expected[i]) > 1e-6 * (fabs(expected[i]) + 64 * 2))
				fail_msg("%s: number %zu is %.9g, expected %.9g", types[t]->name, i,
					 (double)y[i], expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_halves),
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_large_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
