/* attn bench: options, timing and output; what is timed is in bench_work.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/bench_model.h"
#include "cmd/bench_work.h"
#include "cmd/options.h"
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
    "      --causal          a query attends to no key after its own position\n"
    "      --model DIR       the forward pass of a model instead: 'forward', to the last hidden\n"
    "                        states, and 'weights', with the weights of all layers in memory\n"
    "      --tokens N        of how many tokens [512]\n"
    "      --threads N       threads [the processors that this process may use]\n"
    "      --seconds S       how long to measure each [0.5]\n"
    "      --text, --tsv, --json\n"
    "                        form of the result [text on a terminal, else tsv]\n"
    "      --quiet           say nothing beside results but errors\n"
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
	OPTION_TOKENS,
};

static const struct option table[] = {
    {"shape", required_argument, NULL, OPTION_SHAPE},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"causal", no_argument, NULL, OPTION_CAUSAL},
    {"model", required_argument, NULL, OPTION_MODEL},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    THREADS_OPTION,
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"text", no_argument, NULL, OPTION_TEXT},
    {"tsv", no_argument, NULL, OPTION_TSV},
    {"json", no_argument, NULL, OPTION_JSON},
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

enum {
	MAX_SHAPES = 64,
	MAX_SAMPLES = 1000,
	MIN_SAMPLES = 5,
};

struct bench_command {
	bool help, causal;
	bool modes[BENCH_COUNT];
	struct bench_shape shapes[MAX_SHAPES];
	size_t shape_count;
	const char *model;
	size_t tokens; /* of a model; 0: not given */
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

/* What is timed, and how its line begins. */
struct item {
	char shape[100];
	const char *mode;
	bool causal;
	double operations; /* of a run */
	enum attn_status (*run)(void *work, struct attn_error *err);
	void *work;
};

/* --- measuring ------------------------------------------------------------------ */

/* Runs that take microseconds are timed many at once. */
static enum attn_status time_runs(const struct item *item, size_t runs, double *seconds,
				  struct attn_error *err)
{
	double start = now();
	for (size_t i = 0; i < runs; i++)
		TRY(item->run(item->work, err));
	*seconds = (now() - start) / (double)runs;
	return ATTN_OK;
}

static enum attn_status measure(struct bench_command *c, const struct item *item, struct result *result,
				struct attn_error *err)
{
	const struct kernels *kernels = kernels_best();
	double times[MAX_SAMPLES], peaks[MAX_SAMPLES], once = 0;
	size_t count = 0;
	TRY(time_runs(item, 1, &once, err)); /* warm up */
	TRY(time_runs(item, 1, &once, err));
	size_t runs = once > 0 && once < 2e-3 ? (size_t)(2e-3 / once) + 1 : 1;
	double end = now() + c->seconds;
	while (count < MAX_SAMPLES && (count < MIN_SAMPLES || now() < end)) {
		peaks[count] = kernels ? measure_peak(kernels) : 0;
		TRY(time_runs(item, runs, &times[count], err));
		if (kernels && c->peak_count < MAX_SAMPLES)
			c->peaks[c->peak_count++] = peaks[count];
		count++;
	}
	double seconds = median(times, count);
	*result = (struct result){seconds * 1e3, item->operations / seconds * 1e-9, median(peaks, count)};
	return ATTN_OK;
}

/* --- options and output --------------------------------------------------------- */

static enum attn_status parse_shape(struct bench_command *c, const struct options *o, struct attn_error *err)
{
	struct bench_shape s;
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
	for (int m = 0; m < BENCH_COUNT; m++) {
		bool this = strcmp(o->value, bench_mode_names[m]) == 0;
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
		case OPTION_MODEL:
			c->model = o->value;
			break;
		case OPTION_TOKENS:
			status = option_count(o, 1, (size_t)1 << 24, &c->tokens, err);
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

static void print_result(FILE *out, const struct bench_command *c, const struct item *item,
			 const struct result *r, bool first)
{
	const char *kernel = kernels_name(kernels_best()), *causal = item->causal ? "true" : "false";
	char share[32] = "-";
	if (r->peak > 0)
		snprintf(share, sizeof share, "%.3f", r->gflops / r->peak);
	if (c->format == OPTION_JSON) {
		fprintf(out,
			"%s\n  {\"shape\": \"%s\", \"mode\": \"%s\", \"causal\": %s, \"threads\": %zu, "
			"\"kernel\": \"%s\", "
			"\"ms\": %.6g, \"gflops\": %.6g, \"share\": %s}",
			first ? "" : ",", item->shape, item->mode, causal, threads_count(), kernel,
			r->milliseconds, r->gflops, r->peak > 0 ? share : "null");
	} else if (c->format == OPTION_TSV) {
		fprintf(out, "%s\t%s\t%s\t%zu\t%s\t%.6g\t%.6g\t%s\n", item->shape, item->mode, causal,
			threads_count(), kernel, r->milliseconds, r->gflops, share);
	} else {
		fprintf(out, "%-16s %-10s %-7s %10.4f ms %9.1f GFLOP/s  %s of the peak\n", item->shape,
			item->mode, item->causal ? "causal" : "", r->milliseconds, r->gflops, share);
	}
	fflush(out);
}

static enum attn_status bench_item(FILE *out, struct bench_command *c, const struct item *item, bool first,
				   struct attn_error *err)
{
	struct result result;
	TRY(measure(c, item, &result, err));
	print_result(out, c, item, &result, first);
	return ATTN_OK;
}

static enum attn_status run_shape(void *work, struct attn_error *err)
{
	return bench_work_run(work, err);
}

static enum attn_status bench_shape(FILE *out, struct bench_command *c, const struct bench_shape *s,
				    enum bench_mode mode, bool first, struct attn_error *err)
{
	struct bench_work work;
	struct item item = {.mode = bench_mode_names[mode],
			    .causal = c->causal,
			    .operations = bench_operations(s, mode, c->causal),
			    .run = run_shape,
			    .work = &work};
	snprintf(item.shape, sizeof item.shape, "%zux%zux%zu", s->heads, s->tokens, s->head_size);
	enum attn_status status = bench_work_init(&work, s, mode, c->causal, err);
	if (status == ATTN_OK)
		status = bench_item(out, c, &item, first, err);
	bench_work_release(&work);
	return status;
}

static enum attn_status run_model(void *work, struct attn_error *err)
{
	return bench_model_run(work, err);
}

static enum attn_status bench_pass(FILE *out, struct bench_command *c, bool weights, struct attn_error *err)
{
	struct bench_model model;
	struct item item = {.mode = weights ? "weights" : "forward", .run = run_model, .work = &model};
	enum attn_status status =
	    bench_model_init(&model, c->model, c->tokens ? c->tokens : 512, weights, err);
	if (status == ATTN_OK)
		status = bench_model_operations(&model, &item.operations, err);
	if (status == ATTN_OK) {
		const struct architecture *a = &model.model->a;
		item.causal = a->family->causal;
		snprintf(item.shape, sizeof item.shape, "%zux%zux%zux%zu", a->layers, a->heads,
			 model.text.count, a->head_size);
		status = bench_item(out, c, &item, !weights, err);
	}
	bench_model_release(&model);
	return status;
}

static enum attn_status bench_all(FILE *out, struct bench_command *c, struct attn_error *err)
{
	bool first = true;
	if (c->model)
		TRY(bench_pass(out, c, false, err));
	if (c->model)
		return bench_pass(out, c, true, err);
	for (size_t i = 0; i < c->shape_count; i++)
		for (int m = 0; m < BENCH_COUNT; m++) {
			if (!c->modes[m])
				continue;
			TRY(bench_shape(out, c, &c->shapes[i], (enum bench_mode)m, first, err));
			first = false;
		}
	return ATTN_OK;
}

static enum attn_status bench(FILE *out, void *context, struct attn_error *err)
{
	struct bench_command *c = context;
	if (c->format == OPTION_TSV)
		fputs("shape\tmode\tcausal\tthreads\tkernel\tms\tgflops\tshare\n", out);
	else if (c->format == OPTION_JSON)
		fputs("{\"results\": [", out);
	TRY(bench_all(out, c, err));
	double peak = c->peak_count ? median(c->peaks, c->peak_count) : 0;
	if (c->format == OPTION_JSON)
		fprintf(out, "\n], \"peak_gflops\": %.6g}\n", peak);
	else if (c->format == OPTION_TEXT && peak > 0)
		fprintf(out, "multiply-add peak %.1f GFLOP/s with %zu thread%s\n", peak, threads_count(),
			threads_count() > 1 ? "s" : "");
	return ATTN_OK;
}

/* A model has its own shape, and is run to its end. */
static enum attn_status check_model(const struct bench_command *c, struct attn_error *err)
{
	bool mode = c->modes[BENCH_CONTEXT] || c->modes[BENCH_WEIGHTS] || c->modes[BENCH_PROJECTED];
	const char *option = c->shape_count > 0 ? "--shape" : mode ? "--mode" : c->causal ? "--causal" : NULL;
	if (c->model && option)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' and '--model' cannot be combined: a model says it itself", option);
	if (!c->model && c->tokens)
		return attn_fail(err, ATTN_USAGE, "'--tokens' is of a model: it also requires --model DIR");
	return ATTN_OK;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	static const struct bench_shape defaults[] = {{12, 512, 64}, {12, 2048, 64}, {32, 1024, 128}};
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
		status = check_model(c, err);
	if (status == ATTN_OK)
		status = kernels_check(err);
	if (c->shape_count == 0) {
		memcpy(c->shapes, defaults, sizeof defaults);
		c->shape_count = sizeof defaults / sizeof *defaults;
	}
	if (!c->modes[BENCH_CONTEXT] && !c->modes[BENCH_WEIGHTS] && !c->modes[BENCH_PROJECTED])
		c->modes[BENCH_CONTEXT] = c->modes[BENCH_WEIGHTS] = c->modes[BENCH_PROJECTED] = true;
	if (!c->format)
		c->format = isatty(STDOUT_FILENO) ? OPTION_TEXT : OPTION_TSV;
	if (status == ATTN_OK)
		status = write_file(self, "-", bench, c, err);
	free(c);
	return status;
}

const struct command command_bench = {
    "bench", run, "attn bench", "measure the engine against this machine's limit", usage, NULL};
