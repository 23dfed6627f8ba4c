/* attn compare: how two inputs, or two sides of one, differ; also as a check of one program by another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/compare_output.h"
#include "cmd/compare_picture.h"
#include "cmd/compare_sides.h"
#include "cmd/progress.h"
#include "consumers/context.h"
#include "util/memory.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn compare [options] A B\n"
    "       attn compare [options] INPUT... -b INPUT...\n"
    "       attn compare [options] A --layer-b LIST\n"
    "       attn compare [options] --model DIR --text TEXT B\n"
    "       attn compare [options] --model DIR --text TEXT --text-b TEXT\n"
    "\n"
    "Say how A and B differ: a line for each layer and head, with the largest difference and where\n"
    "it is, the mean one, and of weights the Jensen-Shannon distance of rows.  A and B are files to\n"
    "compute from, stored results, or arrays that other programs stored, such as weights=w.npy or\n"
    "context=c.npy; or models and texts.  Without B it is A but for the options that end in -b.\n"
    "\n"
    "      --what LIST       weights, context, scores, output, several with commas, or all [weights,\n"
    "                        and what a file of A or B holds]\n"
    "      --scores-stage S  of scores that are computed: product (not scaled), raw (scaled), capped\n"
    "                        (after softcap) or masked (with what masks and biases add) [raw]\n"
    "      --tolerance ABS[,REL]\n"
    "                        exit status 1 where a number a of A and b of B differ by more than\n"
    "                        ABS + REL |b| [0 for REL; any difference is fine]\n"
    "      --top K           the K cells with the largest difference instead, or all\n"
    "\n"
    "What of A and B:\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all, or of some,\n"
    "                        as in max:0,3-5 [all]\n"
    "      --layer LIST      layers; mean or max [all]\n" OVER_LAYERS_USAGE
    "      --mean            one mean of the heads of --head LIST, the layers of --layer LIST\n"
    "      --batch LIST      batch items [all]\n"
    "      --query RANGE, --key RANGE\n"
    "                        only these: A:B by index, from A to before B, negative from the end; by\n"
    "                        tokens of A, both ends included; or one, such as 'it'\n"
    "      --words           tokens of A joined to words\n"
    "      --exclude-first, --exclude-diagonal, --exclude-token TOKEN\n"
    "                        keys that --renormalise takes out: the first, a query's own, those\n"
    "                        called TOKEN (may be repeated)\n"
    "      --renormalise     let what is left of each row add up to 1\n"
    "\n"
    "What B is, or has other than A:\n"
    "  -b, --input-b INPUT   a file of B, or ROLE=FILE (may be repeated): all others are of A\n"
    "      --head-b LIST, --layer-b LIST\n"
    "      --kernel-b NAME   what computes B: scalar (the reference, in float64), avx2, avx512 or\n"
    "                        neon; --kernel NAME is of A [the best of this processor]\n"
    "      --model-b DIR, --text-b TEXT, --text-file-b FILE, --ids-b LIST,\n"
    "      --target-b TEXT, --image-b FILE, --pixels-b FILE\n";

static const char usage_end[] =
    "A picture:\n"
    "  -o, --output FILE       draw A - B with its sign: x.png, x.svg or x.pdf; x.html is a web page\n"
    "\n" PICTURE_USAGE "\n"
    "Output:\n"
    "      --pretty, --text    an aligned table, with last lines that sum up [on a terminal]\n"
    "      --tsv               a table of all columns [elsewhere]\n"
    "      --json, --jsonl     one document, or a line a row, with the same names\n"
    "      --columns LIST      only these columns, in this order, such as layer,head,largest [all]\n"
    "      --threads N         threads [the processors that this process may use]\n"
    "      --quiet             say nothing beside results but errors\n"
    "  -h, --help              show this help\n"
    "\n"
    "attn compare samples/hand.json weights=torch.npy --tolerance 1e-6\n";

enum {
	OPTION_TOLERANCE = OPTION_OWN,
	OPTION_WHAT,
	OPTION_STAGE,
	OPTION_KERNEL,
	OPTION_HEAD_B, /* to OPTION_IDS_B: what B has other than A */
	OPTION_LAYER_B,
	OPTION_KERNEL_B,
	OPTION_MODEL_B,
	OPTION_TEXT_B,
	OPTION_TEXT_FILE_B,
	OPTION_TARGET_B,
	OPTION_IMAGE_B,
	OPTION_PIXELS_B,
	OPTION_IDS_B,
};

static const struct option table[] = {
    {"what", required_argument, NULL, OPTION_WHAT},
    {"scores-stage", required_argument, NULL, OPTION_STAGE},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"top", required_argument, NULL, OPTION_TOP},
    SELECTION_OPTIONS,
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"query", required_argument, NULL, OPTION_QUERY},
    VIEW_OPTIONS,
    {"output", required_argument, NULL, 'o'},
    PICTURE_OPTIONS,
    {"input-b", required_argument, NULL, 'b'},
    {"head-b", required_argument, NULL, OPTION_HEAD_B},
    {"kernel", required_argument, NULL, OPTION_KERNEL},
    {"kernel-b", required_argument, NULL, OPTION_KERNEL_B},
    {"layer-b", required_argument, NULL, OPTION_LAYER_B},
    {"model-b", required_argument, NULL, OPTION_MODEL_B},
    {"text-b", required_argument, NULL, OPTION_TEXT_B},
    {"text-file-b", required_argument, NULL, OPTION_TEXT_FILE_B},
    {"target-b", required_argument, NULL, OPTION_TARGET_B},
    {"image-b", required_argument, NULL, OPTION_IMAGE_B},
    {"pixels-b", required_argument, NULL, OPTION_PIXELS_B},
    {"ids-b", required_argument, NULL, OPTION_IDS_B},
    MODEL_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct compare_command {
	bool help, tolerated; /* --tolerance was given */
	struct tolerance tolerance;
	size_t top; /* 0: lines are of heads */
	const char *columns;
	struct view_request view;
	struct sides sides;
	struct difference_consumer differences;
	struct top_differences cells;
	struct compare_table table;
	struct compare_picture picture;

	/* The contexts of both sides, where an output is computed of them. */
	struct context_consumer contexts[2];
	struct side_consumer sides_of[2];
};

/* --- options ------------------------------------------------------------------------ */

static enum attn_status parse_tolerance(struct compare_command *c, const struct options *o,
					struct attn_error *err)
{
	struct tolerance *t = &c->tolerance;
	char first[40];
	size_t length = strcspn(o->value, ",");
	bool ok = length < sizeof first;
	c->tolerated = true;
	snprintf(first, sizeof first, "%.*s", (int)(ok ? length : 0), o->value);
	ok = ok && parse_number(first, &t->absolute) && t->absolute >= 0;
	if (ok && o->value[length])
		ok = parse_number(o->value + length + 1, &t->relative) && t->relative >= 0;
	return ok ? ATTN_OK : option_fail(o, "numbers from 0, such as 1e-6 or 1e-6,1e-5", err);
}

static enum attn_status parse_operand(struct sides *s, const struct options *o, struct attn_error *err)
{
	struct operands *b = &s->operands_b;
	if (!b->items)
		b->items = array_alloc((size_t)o->argc, sizeof *b->items);
	if (!b->items)
		return attn_fail_memory(err);
	b->items[b->count++] = optarg;
	return ATTN_OK;
}

static enum attn_status parse_other(struct sides *s, int id, const struct options *o, struct attn_error *err)
{
	const struct {
		int id;
		const char **value;
	} values[] = {
	    {OPTION_HEAD_B, &s->b.options.heads},      {OPTION_LAYER_B, &s->b.options.layers},
	    {OPTION_KERNEL_B, &s->b.kernel},           {OPTION_MODEL_B, &s->other_model.model},
	    {OPTION_TEXT_B, &s->other_model.text},     {OPTION_TEXT_FILE_B, &s->other_model.file},
	    {OPTION_TARGET_B, &s->other_model.target}, {OPTION_IMAGE_B, &s->other_model.image},
	    {OPTION_PIXELS_B, &s->other_model.pixels}, {OPTION_IDS_B, &s->other_model.ids},
	};
	s->other_option = o->name;
	if (id >= OPTION_MODEL_B)
		s->other_model.last = o->name;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i].id == id)
			return option_once(o, values[i].value, err);
	return ATTN_OK;
}

static enum attn_status parse_sides(struct sides *s, int id, const struct options *o, struct attn_error *err)
{
	if (id >= OPTION_HEAD_B && id <= OPTION_IDS_B)
		return parse_other(s, id, o, err);
	if (is_model_option(id))
		return inputs_model_option(&s->a.in, id, o, err);
	if (id == OPTION_KERNEL)
		return option_once(o, &s->a.kernel, err);
	if (id == OPTION_WHAT)
		return option_once(o, &s->what, err);
	if (id == OPTION_STAGE) {
		s->stage_given = true;
		return score_stage_find(o->value, &s->stage) ? ATTN_OK
							     : option_fail(o, SCORE_STAGES_EXPECTED, err);
	}
	if (is_selection_option(id)) {
		selection_option(&s->a.options, id, o->value);
		return ATTN_OK;
	}
	enum role_id role = option_role(o); /* OPTION_SETTING */
	s->settings[s->setting_count++] = (struct side_setting){o->name, o->value, role};
	return ATTN_OK;
}

static bool is_picture_option(int id)
{
	return (id >= OPTION_COLORMAP && id <= OPTION_MAX) || (id >= OPTION_THEME && id <= OPTION_MARKERS);
}

static enum attn_status parse_picture(struct compare_command *c, int id, const struct options *o,
				      struct attn_error *err)
{
	if (id != OPTION_MARKERS)
		c->picture.option = o->name;
	return figure_option(&c->picture.figure, id, o, err);
}

static enum attn_status parse(struct compare_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == 'o')
			status = option_once(o, &c->picture.path, err);
		else if (is_picture_option(id))
			status = parse_picture(c, id, o, err);
		else if (id == 'b')
			status = parse_operand(&c->sides, o, err);
		else if (id == OPTION_TOLERANCE)
			status = parse_tolerance(c, o, err);
		else if (id == OPTION_TOP)
			status = option_top(o, &c->top, err);
		else if (id == OPTION_COLUMNS)
			status = option_once(o, &c->columns, err);
		else if (is_view_option(id))
			status = view_option(&c->view, id, o, err);
		else if (id == OPTION_TSV || id == OPTION_JSON || id == OPTION_JSONL || id == OPTION_TEXT)
			c->table.format = table_format_of(id);
		else
			status = id < 0 ? ATTN_USAGE : parse_sides(&c->sides, id, o, err);
	}
	return status;
}

/* B has the heads, layers and batch items of A where it has no others. */
static void settle_selections(struct sides *s)
{
	struct selection_options *a = &s->a.options, *b = &s->b.options;
	b->heads = b->heads ? b->heads : a->heads;
	b->layers = b->layers ? b->layers : a->layers;
	b->batch = a->batch;
	b->mean = a->mean;
}

/* --- the work ------------------------------------------------------------------------------ */

/* The kind whose cells are ranked. */
static enum attn_status rank_cells(struct compare_command *c, struct attn_error *err)
{
	const struct sides *s = &c->sides;
	size_t kind = 0;
	while (!(s->kinds >> kind & 1))
		kind++;
	if (kind == DIFFERENCE_OUTPUT)
		return attn_fail(err, ATTN_USAGE,
				 "'--top' lists cells of weights, context or scores, found 'output' alone");
	if (s->kinds >> (kind + 1))
		report_note(s->self, "'--top' lists cells of %s alone: choose with --what",
			    difference_names[kind]);
	top_differences_init(&c->cells, c->top, (enum difference_kind)kind, s->stage, s->a.context_size);
	c->table.top = &c->cells;
	return ATTN_OK;
}

static enum attn_status stream(struct compare_command *c, struct attn_error *err)
{
	struct sides *s = &c->sides;
	const struct rows_shape *shape = &s->in.rows.info.shape;
	const struct side *const sides[] = {&s->a, &s->b};
	struct row_consumer *consumers[5] = {&c->differences.consumer};
	size_t count = 1;
	for (size_t i = 0; i < 2; i++) {
		if (!side_projects(s, sides[i]))
			continue;
		TRY(context_consumer_init(&c->contexts[i], shape, sides[i]->context_size, err));
		memset(c->contexts[i].context, 0,
		       shape->batch * shape->queries * shape->heads * sides[i]->context_size *
			   sizeof(float)); /* batch items that are not chosen */
		side_consumer_init(&c->sides_of[i], &c->contexts[i].consumer, i);
		consumers[count++] = &c->sides_of[i].consumer;
	}
	if (c->top > 0)
		consumers[count++] = &c->cells.consumer;
	if (c->picture.path)
		TRY(compare_picture_open(&c->picture, s, &consumers[count++], err));
	TRY(progress_stream(s->self, s->in.rows.source, &s->rows, consumers, count, err));
	top_differences_sort(&c->cells);
	if (c->top > 0 && c->cells.count == 0)
		report_note(s->self, "no cell of %s differs", difference_names[c->cells.kind]);
	if (!c->differences.heads[DIFFERENCE_OUTPUT])
		return ATTN_OK;
	const float *const contexts[] = {c->contexts[0].context, c->contexts[1].context};
	return sides_outputs(s, contexts, &c->tolerance, c->differences.heads[DIFFERENCE_OUTPUT], err);
}

static enum attn_status compare(struct compare_command *c, int argc, char **argv, struct attn_error *err)
{
	struct sides *s = &c->sides;
	TRY(table_format_columns(&c->table.format, c->columns, err));
	TRY(compare_picture_check(&c->picture, err));
	TRY(view_check_numbers(&c->view, "a table", err));
	settle_selections(s);
	s->view = &c->view;
	s->keep_markers = c->picture.figure.keep_markers;
	TRY(sides_open(s, argc, argv, err));
	if (c->top > 0)
		TRY(rank_cells(c, err));
	c->table.sides = s;
	c->table.differences = &c->differences;
	TRY(compare_table_init(&c->table, c->columns, err));
	TRY(difference_init(&c->differences, &s->in.rows.info.shape, s->kinds, s->stage, s->a.context_size,
			    c->tolerance, err));
	TRY(stream(c, err));
	TRY(compare_picture_commit(&c->picture, s, err));
	TRY(compare_table_write(&c->table, s->self, err));
	return c->tolerated ? compare_judge(&c->table, &c->tolerance, err) : ATTN_OK;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	static const int lists[] = {'b', 0};
	struct options o = {
	    .self = self, .argc = argc, .argv = argv, .letters = "b:ho:", .table = table, .lists_own = lists};
	struct compare_command c = {.sides = {.self = self, .stage = SCORES_RAW}};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status = c.help ? print_usage(self, err) : compare(&c, argc - optind, argv + optind, err);
	compare_picture_release(&c.picture);
	compare_table_release(&c.table);
	top_differences_release(&c.cells);
	difference_release(&c.differences);
	context_consumer_release(&c.contexts[0]);
	context_consumer_release(&c.contexts[1]);
	sides_release(&c.sides);
	view_request_release(&c.view);
	return status;
}

const struct command command_compare = {
    "compare", run, "attn compare", "how two inputs, or two sides of one, differ", usage, usage_end,
};
