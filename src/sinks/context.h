/* The sink that gathers contexts, heads side by side. */
#ifndef ATTN_SINKS_CONTEXT_H
#define ATTN_SINKS_CONTEXT_H

#include "core/rows.h"

struct context_sink {
	struct row_sink sink;
	float *context; /* (batch, queries, heads * value_size), owned */

	/* Private. */
	size_t queries, heads, value_size;
};

/* For a source whose blocks carry contexts of `value_size` numbers. */
enum attn_status context_sink_init(struct context_sink *s, const struct rows_info *info, size_t value_size,
				   struct attn_error *err);
void context_sink_release(struct context_sink *s); /* safe on a zeroed sink */

#endif
