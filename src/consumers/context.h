/* The consumer that gathers contexts, heads side by side. */
#ifndef ATTN_CONSUMERS_CONTEXT_H
#define ATTN_CONSUMERS_CONTEXT_H

#include "attention/rows.h"

struct context_consumer {
	struct row_consumer consumer;
	float *context; /* (batch, queries, heads * value_size), owned, unless it was given */

	/* Private. */
	bool given;
	size_t queries, heads, value_size;
};

/* For a source whose blocks carry contexts of `value_size` numbers. */
enum attn_status context_consumer_init(struct context_consumer *s, const struct rows_shape *shape,
				       size_t value_size, struct attn_error *err);

/* The same into memory that is there, (batch, queries, heads * value_size). */
void context_consumer_into(struct context_consumer *s, const struct rows_shape *shape, size_t value_size,
			   float *context);
void context_consumer_release(struct context_consumer *s); /* safe on a zeroed consumer */

#endif
