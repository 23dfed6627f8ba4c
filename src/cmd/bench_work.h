/* The work that attn bench times: attention of random vectors. */
#ifndef ATTN_CMD_BENCH_WORK_H
#define ATTN_CMD_BENCH_WORK_H

#include "attention/plan.h"
#include "consumers/context.h"

enum bench_mode {
	BENCH_CONTEXT,
	BENCH_WEIGHTS,   /* context, and all weights in memory */
	BENCH_PROJECTED, /* context, from embeddings and projections */
	BENCH_COUNT
};

extern const char *const bench_mode_names[BENCH_COUNT];

struct bench_shape {
	size_t heads, tokens, head_size;
};

/* Which keys a query attends to, and how. */
struct bench_kind {
	char name[40]; /* "causal" */
	bool causal, linear;
	bool windowed;
	size_t window; /* its own key and so many before it */
};

/* "full", "causal", "window:L", "linear" or "causal-linear" of `length` bytes; false: it is none. */
bool bench_kind_parse(struct bench_kind *kind, const char *text, size_t length);

/* All weights in memory. */
struct weights_consumer {
	struct row_consumer consumer;
	float *weights; /* (H, N, N) */
	size_t tokens;
};

enum {
	BENCH_ARRAYS = 4 /* embeddings and three matrices, or Q, K and V */
};

struct bench_work {
	enum bench_mode mode;
	struct bench_shape shape;
	float *arrays[BENCH_ARRAYS];
	struct attention attention;
	struct plan plan;
	struct row_source *source; /* kept over runs, unless projecting is measured too */
	struct context_consumer context;
	struct weights_consumer weights;
};

/* Plan self-attention of a shape, without its numbers.  `work` is not moved afterwards, and released also
 * after a failure. */
enum attn_status bench_work_plan(struct bench_work *work, const struct bench_shape *shape,
				 enum bench_mode mode, const struct bench_kind *kind, struct attn_error *err);
void bench_work_release(struct bench_work *work);

/* Multiply-adds, and bytes of memory for numbers: of what is planned, of all threads. */
double bench_work_multiply_adds(const struct bench_work *work);
double bench_work_bytes(const struct bench_work *work);

/* Make the numbers.  ATTN_FAILED without memory. */
enum attn_status bench_work_start(struct bench_work *work, struct attn_error *err);

/* Compute all of it once; projections only in the first run, unless they are measured. */
enum attn_status bench_work_run(struct bench_work *work, struct attn_error *err);

/* How many multiplications and additions that is, as attn-bench(1) counts them. */
double bench_operations(const struct bench_shape *shape, enum bench_mode mode, bool causal);

#endif
