#include "attention/rotary.h"

#include <math.h>

/* Not in C11. */
#define PI 3.14159265358979323846

double rotary_ntk_base(double base, double factor, size_t dims)
{
	return base * pow(factor, (double)dims / (double)(dims - 2));
}

static double llama3_frequency(const struct rotary *r, double frequency)
{
	double waves = r->original * frequency / (2 * PI); /* in a text of the original length */
	if (waves > r->high)
		return frequency;
	if (waves < r->low)
		return frequency / r->factor;
	double share = (waves - r->low) / (r->high - r->low);
	return (1 - share) * frequency / r->factor + share * frequency;
}

/* The pair, not rounded, that makes so many waves in a text of the original length. */
static double yarn_pair(const struct rotary *r, double waves)
{
	return (double)r->dims * log(r->original / (2 * PI * waves)) / (2 * log(r->base));
}

static double yarn_frequency(const struct rotary *r, size_t c, double frequency)
{
	double first = yarn_pair(r, r->high), last = yarn_pair(r, r->low);
	first = fmax(r->exact_bounds ? first : floor(first), 0);
	last = fmin(r->exact_bounds ? last : ceil(last), (double)r->dims - 1);
	if (first == last)
		last += 0.001; /* as published: a step, not a division by 0 */
	double share = fmin(fmax(((double)c - first) / (last - first), 0), 1);
	return frequency / r->factor * share + frequency * (1 - share);
}

/* What an angle is a position divided by, of frequencies that are not scaled pair by pair. */
static double wavelength(const struct rotary *r, size_t c)
{
	double length =
	    r->inv_freq ? 1 / (double)r->inv_freq[c] : pow(r->base, (double)(2 * c) / (double)r->dims);
	return r->factors ? length * (double)r->factors[c] : length;
}

double rotary_frequency(const struct rotary *r, size_t c)
{
	double frequency = 1 / wavelength(r, c) / r->divisor;
	switch (r->scaling) {
	case ROTARY_LLAMA3:
		return llama3_frequency(r, frequency);
	case ROTARY_YARN:
		return yarn_frequency(r, c, frequency);
	default:
		return frequency;
	}
}

void rotary_table(const struct rotary *r, const double *positions, size_t count, float *table)
{
	size_t pairs = r->dims / 2;
	double magnitude = r->magnitude > 0 ? r->magnitude : 1;
	for (size_t c = 0; c < pairs; c++) {
		double length = wavelength(r, c), frequency = rotary_frequency(r, c);
		for (size_t t = 0; t < count; t++) {
			/* One rounding less than by the frequency. */
			double angle = r->scaling == ROTARY_PLAIN ? positions[t] / r->divisor / length
								  : positions[t] * frequency;
			table[t * r->dims + c] = (float)(cos(angle) * magnitude);
			table[t * r->dims + pairs + c] = (float)(sin(angle) * magnitude);
		}
	}
}

/* Pairs (c, c + r/2): two runs of numbers. */
static void rotate_halves(float *restrict x, float *restrict y, const float *restrict cosines,
			  const float *restrict sines, size_t pairs)
{
	for (size_t c = 0; c < pairs; c++) {
		double a = x[c], b = y[c], cosine = cosines[c], sine = sines[c];
		x[c] = (float)(a * cosine - b * sine);
		y[c] = (float)(b * cosine + a * sine);
	}
}

static void rotate_interleaved(float *x, const float *cosines, const float *sines, size_t pairs)
{
	for (size_t c = 0; c < pairs; c++) {
		double a = x[2 * c], b = x[2 * c + 1], cosine = cosines[c], sine = sines[c];
		x[2 * c] = (float)(a * cosine - b * sine);
		x[2 * c + 1] = (float)(b * cosine + a * sine);
	}
}

void rotary_rotate(const struct rotary *r, const float *table, float *rows, size_t stride, size_t count)
{
	size_t pairs = r->dims / 2;
	for (size_t t = 0; t < count; t++) {
		float *x = rows + t * stride + r->first;
		const float *cosines = table + t * r->dims, *sines = cosines + pairs;
		if (r->interleaved)
			rotate_interleaved(x, cosines, sines, pairs);
		else
			rotate_halves(x, x + pairs, cosines, sines, pairs);
	}
}
