/* The sink that makes contexts: weights times values, heads side by side. */
#ifndef ATTN_SINKS_CONTEXT_H
#define ATTN_SINKS_CONTEXT_H

#include "core/engine.h"

struct context_sink {
	struct row_sink sink;
	float *context; /* (batch, queries, heads * value_size), owned */

	/* Private. */
	const struct engine *engine;
	const struct problem *problem;
	double *sums;
};

/* The engine and problem must outlive the sink; the problem must have values. */
enum attn_status context_sink_init(struct context_sink *s, const struct engine *engine,
				   const struct problem *p, struct attn_error *err);
void context_sink_release(struct context_sink *s); /* safe on a zeroed sink */

#endif
