#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attention/plan.h"
#include "cmd/options.h"
#include "consumers/context.h"
#include "kernels/kernels.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/threads.h"

static const char usage[] =
    "usage: attn bench [options]\n"
    "\n"
    "Measure the engine against this machine's own limit: GFLOP/s, and the share of the\n"
    "fused multiply-add peak that is measured in the same run.  4 H N N d operations count\n"
    "for attention, half for causal, and 6 N (H d)^2 more for projections.  Times are\n"
    "medians; each is taken between two measurements of the peak.\n"
    "\n"
    "      --shape HxNxD     heads x tokens x head size; may be repeated\n"
    "                        [12x512x64 12x2048x64 32x1024x128]\n"
    "      --mode MODE       context, weights (context and all weights in memory), projected\n"
    "                        (context from embeddings and projections), or all [all]\n"
    "      --causal          a query sees no key after its own position\n"
    "      --threads N       threads [the processors that this process may use]\n"
    "      --seconds S       how long to measure each [0.5]\n"
    "      --text, --tsv, --json\n"
    "                        form of the result [text on a terminal, else tsv]\n"
    "  -h, --help            show this help\n"
    "\n"
    "ATTN_KERNEL=scalar|avx2|avx512|neon caps the kernels.\n"
    "\n"
    "attn bench --shape 12x2048x64 --mode context --causal\n";

enum {
	OPTION_SHAPE = OPTION_OWN,
	OPTION_MODE,
	OPTION_CAUSAL,
	OPTION_SECONDS,
};

static const struct option table[] = {
    {"shape", required_argument, NULL, OPTION_SHAPE},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"causal", no_argument, NULL, OPTION_CAUSAL},
    THREADS_OPTION,
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"text", no_argument, NULL, OPTION_TEXT},
    {"tsv", no_argument, NULL, OPTION_TSV},
    {"json", no_argument, NULL, OPTION_JSON},
    HELP_OPTION,
    END_OPTION,
};

enum mode {
	MODE_CONTEXT,
	MODE_WEIGHTS,
	MODE_PROJECTED,
	MODE_COUNT
};

static const char *const mode_names[MODE_COUNT] = {"context", "weights", "projected"};

enum {
	MAX_SHAPES = 64,
	MAX_SAMPLES = 1000,
	MIN_SAMPLES = 5,
};

struct shape {
	size_t heads, tokens, head_size;
};

struct bench_command {
	bool help, causal;
	bool modes[MODE_COUNT];
	struct shape shapes[MAX_SHAPES];
	size_t shape_count;
	double seconds;
	int format;  /* an OPTION_, or 0 */
	double peak; /* GFLOP/s: median over the run */
	double peaks[MAX_SAMPLES];
	size_t peak_count;
};

struct result {
	double milliseconds, gflops, peak;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* --- the limit ---------------------------------------------------------------- */

struct spin {
	const struct kernels *kernels;
	size_t rounds;
};

static void spin_task(void *context, size_t task, size_t worker)
{
	const struct spin *s = context;
	_Alignas(64) float out[TILE] = {0};
	(void)task;
	(void)worker;
	s->kernels->spin(s->rounds, out);
}

/* All threads multiply and add for about 5 ms; GFLOP/s of all together. */
static double measure_peak(const struct kernels *kernels)
{
	struct spin s = {kernels, 200000};
	size_t threads = threads_count();
	double start = now();
	parallel_for(threads, spin_task, &s);
	double seconds = now() - start;
	return (double)s.rounds * (double)kernels->spin_operations * (double)threads / seconds * 1e-9;
}

/* --- the work ----------------------------------------------------------------- */

/* All weights in memory. */
struct weights_consumer {
	struct row_consumer consumer;
	float *weights; /* (H, N, N) */
	size_t tokens;
};

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

/* Fill numbers that are nearly normal (sums of uniform ones), with standard deviation
 * `scale`, the same in every run. */
static void fill_random(float *numbers, size_t count, double scale)
{
	static uint64_t seed = 1;
	for (size_t i = 0; i < count; i++) {
		double sum = 0;
		for (int j = 0; j < 4; j++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			sum += (double)(seed >> 40) * 0x1p-24 - 0.5;
		}
		numbers[i] = (float)(sum * sqrt(3) * scale);
	}
}

enum {
	MOST_ARRAYS = 4 /* embeddings and three matrices, or Q, K and V */
};

struct work {
	enum mode mode;
	float *arrays[MOST_ARRAYS];
	struct attention attention;
	struct plan plan;
	struct row_source *source; /* kept over runs, unless projecting is measured too */
	struct context_consumer context;
	struct weights_consumer weights;
};

static bool make_arrays(struct work *w, const struct shape *s)
{
	size_t width = s->heads * s->head_size;
	for (size_t i = 0; i < (w->mode == MODE_PROJECTED ? MOST_ARRAYS : 3); i++) {
		bool matrix = w->mode == MODE_PROJECTED && i > 0;
		size_t rows = matrix ? width : s->tokens;
		w->arrays[i] = floats_alloc4(rows, width, 1, 1);
		if (!w->arrays[i])
			return false;
		fill_random(w->arrays[i], rows * width, matrix ? 1 / sqrt((double)width) : 1);
	}
	return true;
}

static void make_attention(struct work *w, const struct shape *s, bool causal)
{
	size_t width = s->heads * s->head_size, head = s->tokens * s->head_size;
	struct attention *a = &w->attention;
	*a = (struct attention){.batch = 1,
				.heads = s->heads,
				.kv_heads = s->heads,
				.queries = s->tokens,
				.keys = {.own = s->tokens},
				.head_size = s->head_size,
				.value_size = s->head_size,
				.has_values = true,
				.projected = w->mode == MODE_PROJECTED};
	attention_set_plain(a);
	a->masking.causal = causal;
	if (a->projected) {
		a->embeddings = a->source = a->source_values =
		    (struct sequence){w->arrays[0], s->tokens, width, 0};
		a->wq = (struct matrix){w->arrays[1], width, width, width};
		a->wk = (struct matrix){w->arrays[2], width, width, width};
		a->wv = (struct matrix){w->arrays[3], width, width, width};
	} else {
		a->q = (struct heads_view){w->arrays[0], 0, head, s->head_size};
		a->k = (struct heads_view){w->arrays[1], 0, head, s->head_size};
		a->v = (struct heads_view){w->arrays[2], 0, head, s->head_size};
	}
}

static enum attn_status work_open(struct work *w, const struct shape *s, enum mode mode, bool causal,
				  struct attn_error *err)
{
	*w = (struct work){.mode = mode};
	if (!make_arrays(w, s))
		return attn_fail_memory(err);
	make_attention(w, s, causal);
	struct rows_want want = {.weights = mode == MODE_WEIGHTS, .context = true};
	enum attn_status status = plan_init(&w->plan, &w->attention, NULL, want, err);
	if (status == ATTN_OK)
		status = context_consumer_init(&w->context, &w->plan.shape, s->head_size, err);
	if (status == ATTN_OK && mode == MODE_WEIGHTS) {
		w->weights = (struct weights_consumer){
		    {.consume = keep_weights, .place = place_weights, .any_order = true},
		    floats_alloc4(s->heads, s->tokens, s->tokens, 1),
		    s->tokens};
		if (!w->weights.weights)
			status = attn_fail_memory(err);
	}
	return status;
}

static void work_stop(struct work *w)
{
	if (w->source)
		w->source->free(w->source);
	w->source = NULL;
}

static void work_release(struct work *w)
{
	work_stop(w);
	context_consumer_release(&w->context);
	free(w->weights.weights);
	plan_release(&w->plan);
	attention_release(&w->attention);
	for (size_t i = 0; i < MOST_ARRAYS; i++)
		free(w->arrays[i]);
}

static enum attn_status work_run(struct work *w, struct attn_error *err)
{
	struct row_consumer *consumers[] = {&w->context.consumer, &w->weights.consumer};
	enum attn_status status = w->source ? ATTN_OK : plan_run(&w->plan, &w->source, err);
	if (status == ATTN_OK)
		status = rows_stream(w->source, NULL, consumers, w->mode == MODE_WEIGHTS ? 2 : 1, err);
	if (w->mode == MODE_PROJECTED)
		work_stop(w);
	return status;
}

static double operations(const struct shape *s, enum mode mode, bool causal)
{
	double h = (double)s->heads, n = (double)s->tokens, d = (double)s->head_size;
	double attention = 4 * h * n * n * d / (causal ? 2 : 1);
	return mode == MODE_PROJECTED ? attention + 6 * n * h * d * h * d : attention;
}

/* Runs that take microseconds are timed many at once. */
static enum attn_status time_runs(struct work *w, size_t runs, double *seconds, struct attn_error *err)
{
	double start = now();
	for (size_t i = 0; i < runs; i++)
		TRY(work_run(w, err));
	*seconds = (now() - start) / (double)runs;
	return ATTN_OK;
}

static enum attn_status measure(struct bench_command *c, const struct shape *s, enum mode mode,
				struct result *result, struct attn_error *err)
{
	const struct kernels *kernels = kernels_best();
	double times[MAX_SAMPLES], peaks[MAX_SAMPLES], once = 0;
	size_t count = 0;
	struct work work;
	enum attn_status status = work_open(&work, s, mode, c->causal, err);
	if (status == ATTN_OK)
		status = time_runs(&work, 1, &once, err); /* warm up */
	if (status == ATTN_OK)
		status = time_runs(&work, 1, &once, err);
	size_t runs = once > 0 && once < 2e-3 ? (size_t)(2e-3 / once) + 1 : 1;
	double end = now() + c->seconds;
	while (status == ATTN_OK && count < MAX_SAMPLES && (count < MIN_SAMPLES || now() < end)) {
		peaks[count] = kernels ? measure_peak(kernels) : 0;
		status = time_runs(&work, runs, &times[count], err);
		if (kernels && c->peak_count < MAX_SAMPLES)
			c->peaks[c->peak_count++] = peaks[count];
		count++;
	}
	work_release(&work);
	if (status != ATTN_OK)
		return status;
	double seconds = median(times, count);
	*result = (struct result){seconds * 1e3, operations(s, mode, c->causal) / seconds * 1e-9,
				  median(peaks, count)};
	return ATTN_OK;
}

/* --- options and output --------------------------------------------------------- */

static enum attn_status parse_shape(struct bench_command *c, const struct options *o, struct attn_error *err)
{
	struct shape s;
	size_t *const parts[] = {&s.heads, &s.tokens, &s.head_size};
	char copy[64], *rest = copy;
	bool ok = strlen(o->value) < sizeof copy;
	if (ok)
		strcpy(copy, o->value);
	for (size_t i = 0; i < 3 && ok; i++) {
		const char *part = strsep(&rest, "x");
		ok = part && parse_count(part, parts[i]) && *parts[i] > 0 && *parts[i] < (size_t)1 << 31;
	}
	if (!ok || rest)
		return option_fail(o, "heads x tokens x head size, such as 12x2048x64", err);
	if (c->shape_count == MAX_SHAPES)
		return option_fail(o, "at most 64 shapes", err);
	c->shapes[c->shape_count++] = s;
	return ATTN_OK;
}

static enum attn_status parse_mode(struct bench_command *c, const struct options *o, struct attn_error *err)
{
	bool all = strcmp(o->value, "all") == 0, found = all;
	for (int m = 0; m < MODE_COUNT; m++) {
		bool this = strcmp(o->value, mode_names[m]) == 0;
		c->modes[m] |= all || this;
		found |= this;
	}
	return found ? ATTN_OK : option_fail(o, "context, weights, projected or all", err);
}

static enum attn_status parse(struct bench_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		switch (id) {
		case -1:
			return ATTN_USAGE;
		case OPTION_SHAPE:
			status = parse_shape(c, o, err);
			break;
		case OPTION_MODE:
			status = parse_mode(c, o, err);
			break;
		case OPTION_CAUSAL:
			c->causal = true;
			break;
		case OPTION_SECONDS:
			status = option_number(o, 0, 3600, &c->seconds, err);
			break;
		case OPTION_TEXT:
		case OPTION_TSV:
		case OPTION_JSON:
			c->format = id;
			break;
		default:
			c->help = true;
		}
	}
	return status;
}

static void print_result(FILE *out, const struct bench_command *c, const struct shape *s, enum mode mode,
			 const struct result *r, bool first)
{
	const char *kernel = kernels_name(kernels_best());
	char shape[100], share[32] = "-";
	snprintf(shape, sizeof shape, "%zux%zux%zu", s->heads, s->tokens, s->head_size);
	if (r->peak > 0)
		snprintf(share, sizeof share, "%.3f", r->gflops / r->peak);
	if (c->format == OPTION_JSON) {
		fprintf(out,
			"%s\n  {\"shape\": \"%s\", \"mode\": \"%s\", \"causal\": %s, \"threads\": %zu, "
			"\"kernel\": \"%s\", "
			"\"ms\": %.6g, \"gflops\": %.6g, \"share\": %s}",
			first ? "" : ",", shape, mode_names[mode], c->causal ? "true" : "false",
			threads_count(), kernel, r->milliseconds, r->gflops, r->peak > 0 ? share : "null");
	} else if (c->format == OPTION_TSV) {
		fprintf(out, "%s\t%s\t%s\t%zu\t%s\t%.6g\t%.6g\t%s\n", shape, mode_names[mode],
			c->causal ? "true" : "false", threads_count(), kernel, r->milliseconds, r->gflops,
			share);
	} else {
		fprintf(out, "%-16s %-10s %-7s %10.4f ms %9.1f GFLOP/s  %s of the peak\n", shape,
			mode_names[mode], c->causal ? "causal" : "", r->milliseconds, r->gflops, share);
	}
	fflush(out);
}

static enum attn_status bench(FILE *out, void *context, struct attn_error *err)
{
	struct bench_command *c = context;
	bool first = true;
	if (c->format == OPTION_TSV)
		fputs("shape\tmode\tcausal\tthreads\tkernel\tms\tgflops\tshare\n", out);
	else if (c->format == OPTION_JSON)
		fputs("{\"results\": [", out);
	for (size_t i = 0; i < c->shape_count; i++) {
		for (int m = 0; m < MODE_COUNT; m++) {
			struct result result;
			if (!c->modes[m])
				continue;
			TRY(measure(c, &c->shapes[i], (enum mode)m, &result, err));
			print_result(out, c, &c->shapes[i], (enum mode)m, &result, first);
			first = false;
		}
	}
	double peak = c->peak_count ? median(c->peaks, c->peak_count) : 0;
	if (c->format == OPTION_JSON)
		fprintf(out, "\n], \"peak_gflops\": %.6g}\n", peak);
	else if (c->format == OPTION_TEXT && peak > 0)
		fprintf(out, "multiply-add peak %.1f GFLOP/s with %zu thread%s\n", peak, threads_count(),
			threads_count() > 1 ? "s" : "");
	return ATTN_OK;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	static const struct shape defaults[] = {{12, 512, 64}, {12, 2048, 64}, {32, 1024, 128}};
	static const int lists[] = {OPTION_SHAPE, OPTION_MODE, 0};
	struct options o = {
	    .self = self, .argc = argc, .argv = argv, .letters = "h", .table = table, .lists_own = lists};
	struct bench_command *c = calloc(1, sizeof *c);
	if (!c)
		return attn_fail_memory(err);
	c->seconds = 0.5;
	enum attn_status status = parse(c, &o, err);
	if (status == ATTN_OK && !c->help && optind < argc)
		status = attn_fail(err, ATTN_USAGE, "'%s' is not expected: bench makes its own input",
				   argv[optind]);
	if (status == ATTN_OK && c->help) {
		free(c);
		return print_usage(self, err);
	}
	if (status == ATTN_OK)
		status = kernels_check(err);
	if (c->shape_count == 0) {
		memcpy(c->shapes, defaults, sizeof defaults);
		c->shape_count = sizeof defaults / sizeof *defaults;
	}
	if (!c->modes[MODE_CONTEXT] && !c->modes[MODE_WEIGHTS] && !c->modes[MODE_PROJECTED])
		c->modes[MODE_CONTEXT] = c->modes[MODE_WEIGHTS] = c->modes[MODE_PROJECTED] = true;
	if (!c->format)
		c->format = isatty(STDOUT_FILENO) ? OPTION_TEXT : OPTION_TSV;
	if (status == ATTN_OK)
		status = write_file(self, "-", bench, c, err);
	free(c);
	return status;
}

const struct command command_bench = {
    "bench", run, "attn bench", "measure the engine against this machine's limit", usage, NULL};
