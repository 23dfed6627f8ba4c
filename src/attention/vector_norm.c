#include "attention/vector_norm.h"

#include <math.h>

bool vector_normalize(const struct vector_norm *norm, const float *gain, float *x, size_t size)
{
	double sum = 0;
	bool finite = true;
	for (size_t c = 0; c < size; c++)
		sum += (double)x[c] * (double)x[c];
	double length =
	    norm->kind == VECTOR_NORM_RMS ? sqrt(sum / (double)size + norm->eps) : fmax(sqrt(sum), norm->eps);
	double factor = length > 0 ? 1 / length : 0; /* eps 0: a vector of zeros stays one */
	for (size_t c = 0; c < size; c++) {
		x[c] = (float)((double)x[c] * factor * (gain ? (double)gain[c] : 1));
		finite &= isfinite(x[c]) != 0;
	}
	return finite;
}
