#include "attention/blocks.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* --- blocks of 32 ---------------------------------------------------------------------- */

/* Numbers 0 to 15 are in the lower halves of 16 bytes, 16 to 31 in the upper ones. */
static void read_halves(const unsigned char *from, int q[32])
{
	for (int i = 0; i < 16; i++) {
		q[i] = from[i] & 15;
		q[i + 16] = from[i] >> 4;
	}
}

/* The same with a fifth bit each, from 32 that stand together. */
static void read_fifths(const unsigned char *high, const unsigned char *from, int q[32])
{
	uint32_t bits = high[0] | (uint32_t)high[1] << 8 | (uint32_t)high[2] << 16 | (uint32_t)high[3] << 24;
	read_halves(from, q);
	for (int i = 0; i < 32; i++)
		q[i] |= (int)(bits >> i & 1) << 4;
}

/* y = d (q - zero) */
static void scale(float d, const int q[32], int zero, float *y)
{
	for (int i = 0; i < 32; i++)
		y[i] = d * (float)(q[i] - zero);
}

/* y = d q + m */
static void scale_and_add(float d, float m, const int q[32], float *y)
{
	for (int i = 0; i < 32; i++)
		y[i] = d * (float)q[i] + m;
}

static void read_q4_0(const unsigned char *b, float *y)
{
	int q[32];
	read_halves(b + 2, q);
	scale(matrix_half(b), q, 8, y);
}

static void read_q4_1(const unsigned char *b, float *y)
{
	int q[32];
	read_halves(b + 4, q);
	scale_and_add(matrix_half(b), matrix_half(b + 2), q, y);
}

static void read_q5_0(const unsigned char *b, float *y)
{
	int q[32];
	read_fifths(b + 2, b + 6, q);
	scale(matrix_half(b), q, 16, y);
}

static void read_q5_1(const unsigned char *b, float *y)
{
	int q[32];
	read_fifths(b + 4, b + 8, q);
	scale_and_add(matrix_half(b), matrix_half(b + 2), q, y);
}

static void read_q8_0(const unsigned char *b, float *y)
{
	float d = matrix_half(b);
	for (int i = 0; i < 32; i++)
		y[i] = d * (float)(int8_t)b[2 + i];
}

static const signed char iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
					   1,    13,   25,  38,  53,  69,  89,  113};

/* Twice the numbers that four bits of E2M1 stand for. */
static const signed char e2m1_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* y = d table[q] */
static void look_up(float d, const unsigned char *from, const signed char table[16], float *y)
{
	int q[32];
	read_halves(from, q);
	for (int i = 0; i < 32; i++)
		y[i] = d * (float)table[q[i]];
}

static void read_iq4_nl(const unsigned char *b, float *y)
{
	look_up(matrix_half(b), b + 2, iq4_values, y);
}

/* The scale is a power of two by its exponent, E8M0. */
static void read_mxfp4(const unsigned char *b, float *y)
{
	look_up(ldexpf(1, b[0] - 128), b + 1, e2m1_values, y);
}

/* --- blocks of 256 --------------------------------------------------------------------- */

/* Where group `g` of 16 numbers of two bits each begins, and how far up: quarters of 128 numbers stand
 * in the same 32 bytes. */
static const unsigned char *find_pairs(const unsigned char *q, int g, int *shift)
{
	*shift = g / 2 % 4 * 2;
	return q + g / 8 * 32 + g % 2 * 16;
}

/* scales (16), q (64), d, m: groups of 16, each with four bits of scale and of minimum. */
static void read_q2_k(const unsigned char *b, float *y)
{
	float d = matrix_half(b + 80), m = matrix_half(b + 82);
	for (int g = 0; g < 16; g++, y += 16) {
		int shift;
		const unsigned char *q = find_pairs(b + 16, g, &shift);
		float by = d * (float)(b[g] & 15), least = m * (float)(b[g] >> 4);
		for (int i = 0; i < 16; i++)
			y[i] = by * (float)(q[i] >> shift & 3) - least;
	}
}

/* high (32), q (64), scales (12), d: a third bit, whose absence stands for -4; scales of six bits, less
 * 32: the lower four of all, then the upper two. */
static void read_q3_k(const unsigned char *b, float *y)
{
	const unsigned char *scales = b + 96;
	float d = matrix_half(b + 108);
	for (int g = 0; g < 16; g++, y += 16) {
		int shift, low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;
		int high = scales[8 + g % 4] >> g / 4 * 2 & 3;
		const unsigned char *q = find_pairs(b + 32, g, &shift), *third = b + g % 2 * 16;
		float by = d * (float)((low | high << 4) - 32);
		for (int i = 0; i < 16; i++)
			y[i] = by * (float)((q[i] >> shift & 3) + (third[i] >> g / 2 & 1) * 4 - 4);
	}
}

/* Scale and minimum of group `g`, of six bits each, of Q4_K and Q5_K. */
static void read_group(const unsigned char *scales, int g, int *by, int *least)
{
	if (g < 4) {
		*by = scales[g] & 63;
		*least = scales[g + 4] & 63;
	} else {
		*by = (scales[g + 4] & 15) | scales[g - 4] >> 6 << 4;
		*least = scales[g + 4] >> 4 | scales[g] >> 6 << 4;
	}
}

/* Groups of 32: two share 32 bytes, the first their lower halves.  `high` has a fifth bit, or is
 * NULL. */
static void read_groups(const unsigned char *b, const unsigned char *high, const unsigned char *q, float *y)
{
	float d = matrix_half(b), m = matrix_half(b + 2);
	for (int g = 0; g < 8; g++) {
		int scale_bits, least_bits;
		read_group(b + 4, g, &scale_bits, &least_bits);
		float by = d * (float)scale_bits, least = m * (float)least_bits;
		for (int i = 0; i < 32; i++) {
			int number = q[g / 2 * 32 + i] >> g % 2 * 4 & 15;
			if (high)
				number |= (high[i] >> g & 1) << 4;
			y[g * 32 + i] = by * (float)number - least;
		}
	}
}

static void read_q4_k(const unsigned char *b, float *y)
{
	read_groups(b, NULL, b + 16, y);
}

static void read_q5_k(const unsigned char *b, float *y)
{
	read_groups(b, b + 16, b + 48, y);
}

/* low (128), high (64), scales (16), d: of 128 numbers, quarters 0 and 2 are in the lower and upper
 * halves of the same 32 bytes, 1 and 3 in those of the next; two more bits of all in 32 bytes. */
static void read_q6_k(const unsigned char *b, float *y)
{
	float d = matrix_half(b + 208);
	for (int g = 0; g < 16; g++, y += 16) {
		int half = g / 8, quarter = g / 2 % 4, in = g % 2 * 16;
		const unsigned char *low = b + half * 64 + quarter % 2 * 32 + in,
				    *high = b + 128 + half * 32 + in;
		float by = d * (float)(int8_t)b[192 + g];
		for (int i = 0; i < 16; i++) {
			int q = (low[i] >> quarter / 2 * 4 & 15) | (high[i] >> quarter * 2 & 3) << 4;
			y[i] = by * (float)(q - 32);
		}
	}
}

/* d, upper two bits of scales (2), lower four (4), q (128): groups of 32, each as a block of IQ4_NL. */
static void read_iq4_xs(const unsigned char *b, float *y)
{
	float d = matrix_half(b);
	int upper = b[2] | b[3] << 8;
	for (int g = 0; g < 8; g++) {
		int bits = (b[4 + g / 2] >> g % 2 * 4 & 15) | (upper >> 2 * g & 3) << 4;
		look_up(d * (float)(bits - 32), b + 8 + g * 16, iq4_values, y + g * 32);
	}
}

/* --- types ----------------------------------------------------------------------------- */

#define DEFINE_TYPE(name, label, count_of_block, size_of_block)                                              \
	static void widen_##name(const struct kernels *kernels, const void *data, size_t count, float *out)  \
	{                                                                                                    \
		const unsigned char *block = data;                                                           \
		(void)kernels;                                                                               \
		for (size_t i = 0; i < count; i += (count_of_block), block += (size_of_block))               \
			read_##name(block, out + i);                                                         \
	}                                                                                                    \
	const struct matrix_type matrix_##name = {(label), (count_of_block), (size_of_block), widen_##name};

DEFINE_TYPE(q4_0, "Q4_0", 32, 18)
DEFINE_TYPE(q4_1, "Q4_1", 32, 20)
DEFINE_TYPE(q5_0, "Q5_0", 32, 22)
DEFINE_TYPE(q5_1, "Q5_1", 32, 24)
DEFINE_TYPE(q8_0, "Q8_0", 32, 34)
DEFINE_TYPE(iq4_nl, "IQ4_NL", 32, 18)
DEFINE_TYPE(mxfp4, "MXFP4", 32, 17)
DEFINE_TYPE(q2_k, "Q2_K", 256, 84)
DEFINE_TYPE(q3_k, "Q3_K", 256, 110)
DEFINE_TYPE(q4_k, "Q4_K", 256, 144)
DEFINE_TYPE(q5_k, "Q5_K", 256, 176)
DEFINE_TYPE(q6_k, "Q6_K", 256, 210)
DEFINE_TYPE(iq4_xs, "IQ4_XS", 256, 136)
