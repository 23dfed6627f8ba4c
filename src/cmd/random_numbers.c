#include "cmd/random_numbers.h"

#include <math.h>

void random_fill(uint64_t *seed, float *numbers, size_t count, double scale)
{
	for (size_t i = 0; i < count; i++) {
		double sum = 0;
		for (int j = 0; j < 4; j++) {
			*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			sum += (double)(*seed >> 40) * 0x1p-24 - 0.5;
		}
		numbers[i] = (float)(sum * sqrt(3) * scale);
	}
}
