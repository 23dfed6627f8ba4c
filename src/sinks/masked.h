/* The sink that counts rows in which every key is masked. */
#ifndef ATTN_SINKS_MASKED_H
#define ATTN_SINKS_MASKED_H

#include <stdatomic.h>

#include "core/rows.h"

struct masked_sink {
	struct row_sink sink;
	atomic_size_t masked, rows; /* rows seen with every key masked, and all */
};

void masked_sink_init(struct masked_sink *s); /* owns nothing */

#endif
