/* Numbers for input that is made up, the same in every run and on every machine. */
#ifndef ATTN_CMD_RANDOM_NUMBERS_H
#define ATTN_CMD_RANDOM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define RANDOM_SEED UINT64_C(1)

/* Fill numbers that are nearly normal, of mean 0 and standard deviation `scale`: sqrt(3) times the sum of
 * four that are uniform between -1/2 and 1/2, each the upper 24 bits of
 * *seed = 6364136223846793005 *seed + 1442695040888963407 mod 2^64 (Knuth's MMIX). */
void random_fill(uint64_t *seed, float *numbers, size_t count, double scale);

#endif
