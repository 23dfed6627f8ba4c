#include "attention/rotary.h"

#include <math.h>

double rotary_ntk_base(double base, double factor, size_t dims)
{
	return base * pow(factor, (double)dims / (double)(dims - 2));
}

void rotary_table(const struct rotary *r, const double *positions, size_t count, float *table)
{
	size_t pairs = r->dims / 2;
	for (size_t c = 0; c < pairs; c++) {
		double wavelength = pow(r->base, (double)(2 * c) / (double)r->dims);
		for (size_t t = 0; t < count; t++) {
			double angle = positions[t] / r->divisor / wavelength;
			table[t * r->dims + c] = (float)cos(angle);
			table[t * r->dims + pairs + c] = (float)sin(angle);
		}
	}
}

void rotary_rotate(const struct rotary *r, const float *table, float *rows, size_t stride, size_t count)
{
	size_t pairs = r->dims / 2;
	size_t step = r->interleaved ? 2 : 1, other = r->interleaved ? 1 : pairs;
	for (size_t t = 0; t < count; t++) {
		float *x = rows + t * stride + r->first;
		const float *cosines = table + t * r->dims, *sines = cosines + pairs;
		for (size_t c = 0; c < pairs; c++) {
			float *at = x + c * step;
			double a = at[0], b = at[other], cosine = cosines[c], sine = sines[c];
			at[0] = (float)(a * cosine - b * sine);
			at[other] = (float)(b * cosine + a * sine);
		}
	}
}
