/* attn bench: its options; what is timed is in bench_work.c, and how in bench_measure.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bench_lengths.h"
#include "cmd/bench_shapes.h"
#include "cmd/bench_work.h"
#include "cmd/options.h"
#include "kernels/kernels.h"
#include "util/number.h"

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
    "      --lengths LIST    the cost as length grows: one line for each of these many tokens, such as\n"
    "                        512,1024,2048, and the fitted exponent; --shape is then HxD [12x64],\n"
    "                        and --mode context\n"
    "      --kind LIST       of these: full, causal, window:L (a query's own key and L before it),\n"
    "                        linear or causal-linear attention [full]\n"
    "      --dry-run         planned multiply-adds and memory alone: nothing is measured\n"
    "  -o, --output FILE     also plot it: x.png, x.svg or x.pdf; '-': instead\n" PLOT_USAGE
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
	OPTION_LENGTHS,
	OPTION_KIND,
	OPTION_DRY_RUN,
};

static const struct option table[] = {
    {"shape", required_argument, NULL, OPTION_SHAPE},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"causal", no_argument, NULL, OPTION_CAUSAL},
    {"model", required_argument, NULL, OPTION_MODEL},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    {"lengths", required_argument, NULL, OPTION_LENGTHS},
    {"kind", required_argument, NULL, OPTION_KIND},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    PLOT_OPTIONS,
    THREADS_OPTION,
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"text", no_argument, NULL, OPTION_TEXT},
    {"tsv", no_argument, NULL, OPTION_TSV},
    {"json", no_argument, NULL, OPTION_JSON},
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct bench_command {
	bool help, causal;
	bool modes[BENCH_COUNT];
	const char *shape_texts[BENCH_SHAPES]; /* as given */
	struct bench_shape shapes[BENCH_SHAPES];
	size_t shape_count;
	const char *model;
	size_t tokens; /* of a model; 0: not given */
	bool seconds_given;
	enum table_format format;
	struct bench_meter meter;
	struct bench_lengths lengths;
	struct plot_request plot;
	struct growth growth; /* of --lengths */
};

/* --- options and output --------------------------------------------------------- */

/* Heads, tokens and head size, or without tokens, where lengths are given. */
static bool parse_shape(const char *text, bool tokens, struct bench_shape *s)
{
	size_t *const parts[] = {&s->heads, &s->tokens, &s->head_size};
	char copy[64], *rest = copy;
	if (strlen(text) >= sizeof copy)
		return false;
	strcpy(copy, text);
	*s = (struct bench_shape){0};
	for (size_t i = 0; i < 3; i++) {
		const char *part = i == 1 && !tokens ? NULL : strsep(&rest, "x");
		if (i == 1 && !tokens)
			continue;
		if (!part || !parse_count(part, parts[i]) || *parts[i] == 0 ||
		    *parts[i] > (i == 1 ? BENCH_LONGEST : BENCH_WIDEST))
			return false;
	}
	return !rest;
}

static enum attn_status option_shape(struct bench_command *c, const struct options *o, struct attn_error *err)
{
	if (c->shape_count == BENCH_SHAPES)
		return option_fail(o, "at most 64 shapes", err);
	c->shape_texts[c->shape_count++] = o->value;
	return ATTN_OK;
}

/* Shapes as they were given, or those that stand for none. */
static enum attn_status find_shapes(struct bench_command *c, struct attn_error *err)
{
	static const struct bench_shape usual[] = {{12, 512, 64}, {12, 2048, 64}, {32, 1024, 128}};
	bool tokens = c->lengths.count == 0;
	for (size_t i = 0; i < c->shape_count; i++)
		if (!parse_shape(c->shape_texts[i], tokens, &c->shapes[i]))
			return attn_fail(
			    err, ATTN_USAGE,
			    "'--shape' is '%s', expected %s: at most %d heads, of at most as many numbers",
			    c->shape_texts[i],
			    tokens ? "heads x tokens x head size, such as 12x2048x64"
				   : "with --lengths heads x head size, such as 12x64",
			    BENCH_WIDEST);
	if (c->shape_count > 0)
		return ATTN_OK;
	c->shape_count = tokens ? sizeof usual / sizeof *usual : 1;
	memcpy(c->shapes, usual, c->shape_count * sizeof *usual);
	return ATTN_OK;
}

static bool any_mode(const struct bench_command *c)
{
	return c->modes[BENCH_CONTEXT] || c->modes[BENCH_WEIGHTS] || c->modes[BENCH_PROJECTED];
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

static enum attn_status option_lengths(struct bench_command *c, const struct options *o,
				       struct attn_error *err)
{
	const struct option_counts range = {1, BENCH_LONGEST, c->lengths.lengths, GROWTH_LENGTHS};
	return option_counts(o, &range, &c->lengths.count, err);
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
			status = option_shape(c, o, err);
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
			c->seconds_given = true;
			status = option_number(o, 0, 3600, &c->meter.seconds, err);
			break;
		case OPTION_LENGTHS:
			status = option_lengths(c, o, err);
			break;
		case OPTION_KIND:
			status = bench_kinds_option(&c->lengths, o, err);
			break;
		case OPTION_DRY_RUN:
			c->lengths.dry_run = true;
			break;
		case OPTION_TEXT:
		case OPTION_TSV:
		case OPTION_JSON:
			c->format = table_format_of(id);
			break;
		case 'h':
		case OPTION_HELP:
			c->help = true;
			break;
		default:
			status = plot_option(&c->plot, id, o, err);
		}
	}
	return status;
}

/* Shapes, or a model: a line for each. */
static enum attn_status bench_shapes(FILE *out, void *context, struct attn_error *err)
{
	struct bench_command *c = context;
	const struct bench_shapes b = {.shapes = c->shapes,
				       .count = c->shape_count,
				       .modes = c->modes,
				       .causal = c->causal,
				       .model = c->model,
				       .tokens = c->tokens,
				       .format = c->format,
				       .meter = &c->meter};
	return bench_shapes_run(&b, out, err);
}

/* --lengths: a table, and perhaps a plot. */
static enum attn_status bench_growth(FILE *out, void *context, struct attn_error *err)
{
	struct bench_command *c = context;
	return bench_lengths_run(&c->lengths, &c->meter, &c->growth, out, err);
}

static enum attn_status run_lengths(struct bench_command *c, const struct command *self,
				    struct attn_error *err)
{
	struct bench_lengths *b = &c->lengths;
	b->shapes = c->shapes;
	b->shape_count = c->shape_count;
	b->modes = c->modes;
	b->model = c->model;
	if (b->kind_count == 0)
		bench_kind_parse(&b->kinds[b->kind_count++], c->causal ? "causal" : "full",
				 c->causal ? 6 : 4);
	c->growth.format = c->format;
	TRY(plot_open(&c->plot, err));
	if (plot_replaces_table(&c->plot))
		TRY(bench_growth(NULL, c, err));
	else
		TRY(write_file(self, "-", bench_growth, c, err));
	return c->plot.path ? growth_draw(&c->growth, &c->plot, self, err) : ATTN_OK;
}

static enum attn_status fail_pair(const char *a, const char *b, const char *why, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE, "'%s' and '%s' cannot be combined: %s", a, b, why);
}

/* A model has its own shape, and is run to its end. */
static enum attn_status check_model(const struct bench_command *c, struct attn_error *err)
{
	const char *option = c->shape_count > 0          ? "--shape"
			     : any_mode(c)               ? "--mode"
			     : c->causal                 ? "--causal"
			     : c->lengths.kind_count > 0 ? "--kind"
							 : NULL;
	if (c->model && option)
		return fail_pair(option, "--model", "a model says it itself", err);
	if (!c->model && c->tokens)
		return attn_fail(err, ATTN_USAGE, "'--tokens' is of a model: it also requires --model DIR");
	return ATTN_OK;
}

static enum attn_status check_lengths(const struct bench_command *c, struct attn_error *err)
{
	const struct bench_lengths *b = &c->lengths;
	const char *option = b->kind_count > 0 ? "--kind"
			     : b->dry_run      ? "--dry-run"
			     : c->plot.path    ? "--output"
					       : NULL;
	if (b->count == 0 && option)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is of growing lengths: it also requires --lengths LIST", option);
	if (b->count > 0 && c->tokens)
		return fail_pair("--tokens", "--lengths", "both say how many tokens", err);
	if (b->kind_count > 0 && c->causal)
		return fail_pair("--causal", "--kind", "it is a kind, 'causal'", err);
	if (b->dry_run && c->seconds_given)
		return fail_pair("--seconds", "--dry-run", "nothing is measured", err);
	return ATTN_OK;
}

static enum attn_status run_command(struct bench_command *c, const struct command *self, int argc,
				    char **argv, struct attn_error *err)
{
	if (optind < argc)
		return attn_fail(err, ATTN_USAGE, "'%s' is not expected: bench makes its own input",
				 argv[optind]);
	TRY(check_model(c, err));
	TRY(check_lengths(c, err));
	TRY(find_shapes(c, err));
	TRY(kernels_check(err));
	if (!any_mode(c)) {
		c->modes[BENCH_CONTEXT] = true;
		c->modes[BENCH_WEIGHTS] = c->modes[BENCH_PROJECTED] = c->lengths.count == 0;
	}
	c->format = table_format_settle(c->format);
	if (c->lengths.count > 0)
		return run_lengths(c, self, err);
	TRY(plot_open(&c->plot, err)); /* which refuses options of a plot */
	return write_file(self, "-", bench_shapes, c, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	static const int lists[] = {OPTION_SHAPE, OPTION_MODE, OPTION_KIND, 0};
	struct options o = {
	    .self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table, .lists_own = lists};
	struct bench_command *c = calloc(1, sizeof *c);
	if (!c)
		return attn_fail_memory(err);
	c->meter.seconds = 0.5;
	enum attn_status status = parse(c, &o, err);
	if (status == ATTN_OK)
		status = c->help ? print_usage(self, err) : run_command(c, self, argc, argv, err);
	plot_release(&c->plot);
	free(c);
	return status;
}

const struct command command_bench = {
    "bench", run, "attn bench", "measure the engine against this machine's limit", usage, NULL};
