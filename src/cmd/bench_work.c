/* What attn bench times: attention of random vectors, made without a file. */
#include "cmd/bench_work.h"
#include "attention/matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/random_numbers.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/threads.h"

const char *const bench_mode_names[BENCH_COUNT] = {"context", "weights", "projected"};

static void place_weights(struct row_consumer *consumer, struct row_block *block)
{
	struct weights_consumer *s = (struct weights_consumer *)consumer;
	block->weights_place = s->weights + (block->head * s->tokens + block->query) * s->tokens;
}

static enum attn_status keep_weights(struct row_consumer *consumer, const struct row_block *block,
				     struct attn_error *err)
{
	const struct weights_consumer *s = (const struct weights_consumer *)consumer;
	float *place = s->weights + (block->head * s->tokens + block->query) * s->tokens;
	(void)err;
	if (block->weights != place) /* the reference has its own memory */
		memcpy(place, block->weights, block->count * block->keys * sizeof *place);
	return ATTN_OK;
}

bool bench_kind_parse(struct bench_kind *kind, const char *text, size_t length)
{
	static const char window[] = "window:";
	*kind = (struct bench_kind){0};
	if (length >= sizeof kind->name)
		return false;
	memcpy(kind->name, text, length);
	kind->linear = strcmp(kind->name, "linear") == 0 || strcmp(kind->name, "causal-linear") == 0;
	kind->causal = strcmp(kind->name, "causal") == 0 || strcmp(kind->name, "causal-linear") == 0;
	kind->windowed = strncmp(kind->name, window, sizeof window - 1) == 0 &&
			 parse_count(kind->name + sizeof window - 1, &kind->window) &&
			 kind->window <= MASKING_DISTANCE_MAX;
	return kind->linear || kind->causal || kind->windowed || strcmp(kind->name, "full") == 0;
}

/* --- sizes ------------------------------------------------------------------------------ */

static size_t array_count(const struct bench_work *w)
{
	return w->mode == BENCH_PROJECTED ? BENCH_ARRAYS : 3;
}

/* Rows and columns of an array: embeddings and matrices, or Q, K and V. */
static size_t array_rows(const struct bench_work *w, size_t i)
{
	return w->mode == BENCH_PROJECTED && i > 0 ? w->shape.heads * w->shape.head_size : w->shape.tokens;
}

static void make_attention(struct bench_work *w, const struct bench_kind *kind)
{
	const struct bench_shape *s = &w->shape;
	struct attention *a = &w->attention;
	*a = (struct attention){.batch = 1,
				.heads = s->heads,
				.kv_heads = s->heads,
				.queries = s->tokens,
				.keys = {.own = s->tokens},
				.head_size = s->head_size,
				.value_size = s->head_size,
				.has_values = true,
				.projected = w->mode == BENCH_PROJECTED};
	attention_set_plain(a);
	a->masking.causal = kind->causal;
	if (kind->windowed) {
		a->masking.left_bound = a->masking.right_bound = true;
		a->masking.left = kind->window;
	}
	if (kind->linear)
		a->normalization.normalizer = &normalizer_linear;
}

/* Point to the numbers, where they are. */
static void set_arrays(struct bench_work *w)
{
	size_t width = w->shape.heads * w->shape.head_size, head = w->shape.tokens * w->shape.head_size;
	struct attention *a = &w->attention;
	if (a->projected) {
		a->embeddings = a->source = a->source_values =
		    (struct sequence){w->arrays[0], w->shape.tokens, width, 0};
		a->wq = matrix_plain(w->arrays[1], width, width, width);
		a->wk = matrix_plain(w->arrays[2], width, width, width);
		a->wv = matrix_plain(w->arrays[3], width, width, width);
	} else {
		a->q = (struct heads_view){w->arrays[0], 0, head, w->shape.head_size};
		a->k = (struct heads_view){w->arrays[1], 0, head, w->shape.head_size};
		a->v = (struct heads_view){w->arrays[2], 0, head, w->shape.head_size};
	}
}

enum attn_status bench_work_plan(struct bench_work *w, const struct bench_shape *s, enum bench_mode mode,
				 const struct bench_kind *kind, struct attn_error *err)
{
	*w = (struct bench_work){.mode = mode, .shape = *s};
	make_attention(w, kind);
	set_arrays(w);
	struct rows_want want = {.weights = mode == BENCH_WEIGHTS, .context = true};
	return plan_init(&w->plan, &w->attention, NULL, want, err);
}

double bench_work_multiply_adds(const struct bench_work *w)
{
	return w->plan.cost.projections + w->plan.cost.attention;
}

double bench_work_bytes(const struct bench_work *w)
{
	double width = (double)w->shape.heads * (double)w->shape.head_size, tokens = (double)w->shape.tokens;
	double numbers = tokens * width; /* of the contexts */
	for (size_t i = 0; i < array_count(w); i++)
		numbers += (double)array_rows(w, i) * width;
	if (w->mode == BENCH_WEIGHTS)
		numbers += (double)w->shape.heads * tokens * tokens;
	return numbers * sizeof(float) + (double)w->plan.cost.projected +
	       (double)w->plan.cost.workspace * (double)threads_count();
}

/* --- numbers ---------------------------------------------------------------------------- */

static bool make_arrays(struct bench_work *w)
{
	static uint64_t seed = RANDOM_SEED;
	size_t width = w->shape.heads * w->shape.head_size;
	for (size_t i = 0; i < array_count(w); i++) {
		bool matrix = w->mode == BENCH_PROJECTED && i > 0;
		size_t rows = array_rows(w, i);
		w->arrays[i] = floats_alloc4(rows, width, 1, 1);
		if (!w->arrays[i])
			return false;
		random_fill(&seed, w->arrays[i], rows * width, matrix ? 1 / sqrt((double)width) : 1);
	}
	return true;
}

enum attn_status bench_work_start(struct bench_work *w, struct attn_error *err)
{
	const struct bench_shape *s = &w->shape;
	if (!make_arrays(w))
		return attn_fail_memory(err);
	set_arrays(w);
	TRY(context_consumer_init(&w->context, &w->plan.shape, s->head_size, err));
	if (w->mode != BENCH_WEIGHTS)
		return ATTN_OK;
	w->weights =
	    (struct weights_consumer){{.consume = keep_weights, .place = place_weights, .any_order = true},
				      floats_alloc4(s->heads, s->tokens, s->tokens, 1),
				      s->tokens};
	return w->weights.weights ? ATTN_OK : attn_fail_memory(err);
}

static void work_stop(struct bench_work *w)
{
	if (w->source)
		w->source->free(w->source);
	w->source = NULL;
}

void bench_work_release(struct bench_work *w)
{
	work_stop(w);
	context_consumer_release(&w->context);
	free(w->weights.weights);
	plan_release(&w->plan);
	attention_release(&w->attention);
	for (size_t i = 0; i < BENCH_ARRAYS; i++)
		free(w->arrays[i]);
}

enum attn_status bench_work_run(struct bench_work *w, struct attn_error *err)
{
	struct row_consumer *consumers[] = {&w->context.consumer, &w->weights.consumer};
	enum attn_status status = w->source ? ATTN_OK : plan_run(&w->plan, &w->source, err);
	if (status == ATTN_OK)
		status = rows_stream(w->source, NULL, consumers, w->mode == BENCH_WEIGHTS ? 2 : 1, err);
	if (w->mode == BENCH_PROJECTED)
		work_stop(w);
	return status;
}

double bench_operations(const struct bench_shape *s, enum bench_mode mode, bool causal)
{
	double h = (double)s->heads, n = (double)s->tokens, d = (double)s->head_size;
	double attention = 4 * h * n * n * d / (causal ? 2 : 1);
	return mode == BENCH_PROJECTED ? attention + 6 * n * h * d * h * d : attention;
}
