/* The consumer that counts fully masked rows: those in which every key is masked. */
#ifndef ATTN_CONSUMERS_MASKED_H
#define ATTN_CONSUMERS_MASKED_H

#include <stdatomic.h>

#include "attention/rows.h"

struct masked_count {
	struct row_consumer consumer;
	atomic_size_t masked, rows; /* rows with every key masked, and all rows */
};

void masked_count_init(struct masked_count *s); /* owns nothing */

#endif
