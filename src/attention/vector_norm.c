#include "attention/vector_norm.h"

#include <math.h>

double vector_squares(const float *x, size_t size)
{
	double sum = 0;
	for (size_t c = 0; c < size; c++)
		sum += (double)x[c] * (double)x[c];
	return sum;
}

bool vector_normalize_part(const struct vector_norm *norm, const float *gain, double squares, size_t whole,
			   float *x, size_t size)
{
	bool finite = true;
	double length = norm->kind == VECTOR_NORM_RMS ? sqrt(squares / (double)whole + norm->eps)
						      : fmax(sqrt(squares), norm->eps);
	double factor = length > 0 ? 1 / length : 0; /* eps 0: a vector of zeros stays one */
	for (size_t c = 0; c < size; c++) {
		x[c] = (float)((double)x[c] * factor * (gain ? (double)gain[c] : 1));
		finite &= isfinite(x[c]) != 0;
	}
	return finite;
}

bool vector_normalize(const struct vector_norm *norm, const float *gain, float *x, size_t size)
{
	return vector_normalize_part(norm, gain, vector_squares(x, size), size, x, size);
}
