#include <stdlib.h>
#include <string.h>

#include "cmd/heads_output.h"
#include "cmd/plots.h"
#include "cmd/progress.h"
#include "cmd/scaling.h"
#include "cmd/similar_output.h"
#include "cmd/view_options.h"

static const char usage[] =
    "usage: attn inspect heads [options] INPUT...\n"
    "       attn inspect heads --scaling --sizes LIST [options]\n"
    "\n"
    "Say what kind of attention each head pays: a line for each layer and head, with the\n"
    "entropy of its rows, the shares of weight on neighbours, the first token and separators,\n"
    "distances, its strongest pair and a name for its pattern.  INPUT is a file to compute from,\n"
    "ROLE=FILE[:TENSOR], '-', or a stored result.\n"
    "\n"
    "      --similar[=D]     groups of heads instead, within which no two are more than D apart, from\n"
    "                        0 to 1: the Jensen-Shannon distance of their rows, averaged [0.5]\n"
    "      --scaling         what dividing scores by sqrt(d) does instead: variance of the scores,\n"
    "                        entropy, largest weight and gradient with and without it\n"
    "      --sizes LIST      with --scaling, of no INPUT: one head of each of these sizes, such as\n"
    "                        4,16,64,256,1024, with random queries and keys of variance 1\n"
    "      --tokens N        and how many of these [128]\n"
    "  -o, --output FILE     with --scaling, also draw it: x.png, x.svg or x.pdf; '-': instead\n"
    "      --rule            also the rule that each pattern is named by\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all [all]\n"
    "      --layer LIST      layers, such as 0,3-5; mean or max of all [all]\n" OVER_LAYERS_USAGE
    "      --mean            one mean of the heads of --head LIST, the layers of --layer LIST\n"
    "      --batch LIST      batch items [all]\n"
    "\n"
    "What is looked at:\n"
    "      --query RANGE, --key RANGE\n"
    "                          only these: A:B by index, from A to before B, negative from the\n"
    "                          end; by tokens, both ends included; or one, such as 'it'\n" WORDS_USAGE
    "                          keys to take out: the first, a query's own, those called\n"
    "                          TOKEN (may be repeated)\n"
    "      --renormalise       with these: the rest of a row adds up to 1\n"
    "\n"
    "Output:\n"
    "      --pretty          an aligned table, without columns that are empty [on a terminal]\n"
    "      --tsv             a table of all columns [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a head, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as layer,head,pattern; also\n"
    "                        rule, even_entropy and even_distance [all but these]\n"
    "\n" PLOT_USAGE "\n"
    "Patterns, of which the first that holds is named:\n"
    "  diagonal           diagonal >= 0.5: half of the weight\n"
    "  previous token     previous >= 0.5\n"
    "  next token         next >= 0.5\n"
    "  induction          induction >= 0.5, of 2 queries or more (repeats)\n"
    "  first-token sink   first >= 0.5\n"
    "  separator          separator >= 0.5\n"
    "  positional         offset_share >= 0.9, of 5 queries or more: the largest weight is at\n"
    "                     one offset\n"
    "  local              within5 >= 0.5, and distance at most half of that of even weights\n"
    "  broad              entropy at most 1 bit below that of even weights\n"
    "  mixed              none of these\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"attn inspect heads samples/hand.json\n";

enum {
	OPTION_SIMILAR = OPTION_OWN,
	OPTION_RULE,
	OPTION_SCALING,
	OPTION_SIZES,
	OPTION_TOKENS
};

static const struct option table[] = {
    {"similar", optional_argument, NULL, OPTION_SIMILAR},
    {"rule", no_argument, NULL, OPTION_RULE},
    {"scaling", no_argument, NULL, OPTION_SCALING},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    PLOT_OPTIONS,
    SELECTION_OPTIONS,
    MODEL_OPTIONS,
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"query", required_argument, NULL, OPTION_QUERY},
    VIEW_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct heads_command {
	bool help, rule, similar, scaling;
	double limit; /* of --similar */
	struct scaling_sizes sizes;
	struct plot_request plot;
	enum table_format format;
	const char *columns; /* --columns, or NULL */
	struct table_columns table;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	struct head_places places;
	struct head_consumer heads;
	struct head_similarity similarity;
};

static enum attn_status option_similar(struct heads_command *c, const struct options *o,
				       struct attn_error *err)
{
	c->similar = true;
	c->limit = 0.5;
	return o->value ? option_number(o, 0, 1, &c->limit, err) : ATTN_OK;
}

static enum attn_status option_sizes(struct heads_command *c, const struct options *o, struct attn_error *err)
{
	const struct option_counts range = {1, SCALING_SIZE_MOST, c->sizes.sizes, SCALING_SIZES};
	return option_counts(o, &range, &c->sizes.count, err);
}

static enum attn_status parse(struct heads_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_SIMILAR)
			status = option_similar(c, o, err);
		else if (id == OPTION_RULE)
			c->rule = true;
		else if (id == OPTION_SCALING)
			c->scaling = true;
		else if (id == OPTION_SIZES)
			status = option_sizes(c, o, err);
		else if (id == OPTION_TOKENS)
			status = option_count(o, 1, SCALING_TOKENS_MOST, &c->sizes.tokens, err);
		else if (is_plot_option(id))
			status = plot_option(&c->plot, id, o, err);
		else if (is_model_option(id))
			status = inputs_model_option(&c->in, id, o, err);
		else if (is_selection_option(id))
			selection_option(&c->selection, id, o->value);
		else if (is_view_option(id))
			status = view_option(&c->view, id, o, err);
		else if (id == OPTION_COLUMNS)
			status = option_once(o, &c->columns, err);
		else if (id == OPTION_SETTING)
			status = inputs_setting(&c->in, o, err);
		else if (id < 0)
			status = ATTN_USAGE;
		else
			c->format = table_format_of(id);
	}
	return status;
}

/* Stream the rows that are chosen past the statistics of their heads. */
static enum attn_status look(struct heads_command *c, const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&c->selected);
	struct row_consumer *consumers[] = {&c->heads.consumer, &c->similarity.consumer};
	const struct rows_shape *shape = &c->in.info->shape;
	TRY(head_places_init(&c->places, c->in.info, &c->in.shown_keys, err));
	TRY(head_consumer_init(&c->heads, shape, &c->places, err));
	if (c->similar)
		TRY(similarity_init(&c->similarity, shape, &rows, err));
	if (c->similar && c->similarity.queries < shape->queries)
		report_note(self, "heads are compared over %zu of %zu queries, evenly spaced",
			    c->similarity.queries, shape->queries);
	return progress_stream(self, c->in.rows.source, &rows, consumers, c->similar ? 2 : 1, err);
}

/* --scaling is of scores, and each head's own. */
static enum attn_status check_scaling(const struct heads_command *c, struct attn_error *err)
{
	const char *other = c->similar        ? "--similar"
			    : c->rule         ? "--rule"
			    : *c->view.option ? c->view.option
					      : NULL;
	if (other)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' and '--scaling' cannot be combined: that is of the scores of whole rows", other);
	return ATTN_OK;
}

/* The heads of an INPUT. */
static enum attn_status scale_input(struct heads_command *c, struct scaling *s, const struct command *self,
				    int argc, char **argv, struct attn_error *err)
{
	char joins[24];
	TRY(inputs_open(&c->in, self, argc, argv, err));
	if (c->plot.path)
		TRY(inputs_spare(&c->in, c->plot.path, err));
	TRY(scaling_columns(&c->table, c->in.info->has_batch, c->columns, err));
	TRY(selection_open(&c->selected, &c->selection, c->in.info, err));
	if (selection_joins(&c->selected, &c->selection, joins, sizeof joins))
		return attn_fail(err, ATTN_USAGE,
				 "'%s' and '--scaling' cannot be combined: each head has scores of its own",
				 joins);
	s->info = c->in.info;
	return scaling_add(s, &c->in, &c->selected, self, err);
}

/* Heads that are made up. */
static enum attn_status scale_sizes(struct heads_command *c, struct scaling *s, const struct command *self,
				    int argc, char **argv, struct attn_error *err)
{
	const struct selection_options *o = &c->selection;
	if (argc > 0 || c->in.model_options.model)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' and '--sizes' cannot be combined: it makes its own input",
				 argc > 0 ? argv[0] : "--model");
	if (o->heads || o->layers || o->batch)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' and '--sizes' cannot be combined: there is one head of each size",
				 o->heads    ? "--head"
				 : o->layers ? "--layer"
					     : "--batch");
	if (!c->sizes.tokens)
		c->sizes.tokens = SCALING_TOKENS;
	TRY(model_options_check(&c->in.model_options, err));
	TRY(scaling_columns(&c->table, false, c->columns, err));
	return scaling_add_sizes(s, &c->sizes, &c->in.bundle, self, err);
}

static enum attn_status inspect_scaling(struct heads_command *c, const struct command *self, int argc,
					char **argv, struct attn_error *err)
{
	struct scaling s = {0};
	TRY(check_scaling(c, err));
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(plot_open(&c->plot, err));
	enum attn_status status = c->sizes.count ? scale_sizes(c, &s, self, argc, argv, err)
						 : scale_input(c, &s, self, argc, argv, err);
	if (status == ATTN_OK && !scaling_changes(&s))
		report_note(self, "scores are not scaled here: nothing changes without it");
	if (status == ATTN_OK && c->plot.path)
		status = scaling_draw(&s, &c->sizes, &c->plot, self, err);
	if (status == ATTN_OK && !plot_replaces_table(&c->plot))
		status = scaling_write(&s, &c->table, table_format_settle(c->format), self, err);
	scaling_release(&s);
	return status;
}

/* Options that another one asks for. */
static enum attn_status check_asked(const struct heads_command *c, struct attn_error *err)
{
	if (c->sizes.count && !c->scaling)
		return attn_fail(err, ATTN_USAGE, "'--sizes' also requires '--scaling'");
	if ((c->plot.path || c->plot.option) && !c->scaling)
		return attn_fail(err, ATTN_USAGE, "'%s' also requires '--scaling'",
				 c->plot.path ? "--output" : "--theme");
	if (c->sizes.tokens && !c->sizes.count)
		return attn_fail(err, ATTN_USAGE, "'--tokens' also requires '--sizes'");
	return ATTN_OK;
}

static enum attn_status inspect(struct heads_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	TRY(check_asked(c, err));
	if (c->scaling)
		return inspect_scaling(c, self, argc, argv, err);
	if (c->similar && c->rule)
		return attn_fail(err, ATTN_USAGE,
				 "'--rule' is of each head, and '--similar' of groups: give one of them");
	TRY(view_check_numbers(&c->view, "a table", err));
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(inputs_open(&c->in, self, argc, argv, err));
	if (c->similar)
		TRY(similar_columns(&c->table, c->columns, err));
	else
		TRY(heads_columns(&c->table, c->in.info, c->rule, c->columns, err));
	TRY(selection_open(&c->selected, &c->selection, c->in.info, err));
	TRY(plan_weights(&c->in, &c->selected, err));
	TRY(selection_join(&c->selected, &c->in, err));
	TRY(view_apply(&c->view, &c->in, self, err));
	TRY(look(c, self, err));
	struct heads_table view = {.in = &c->in,
				   .selection = &c->selected,
				   .heads = &c->heads,
				   .columns = &c->table,
				   .format = table_format_settle(c->format),
				   .rule = c->rule};
	return c->similar ? similar_write(&view, &c->similarity, c->limit, self, err)
			  : heads_write(&view, self, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table};
	struct heads_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	head_consumer_release(&c.heads);
	similarity_release(&c.similarity);
	head_places_release(&c.places);
	selection_release(&c.selected);
	view_request_release(&c.view);
	plot_release(&c.plot);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_heads = {
    "heads", run, "attn inspect heads", "what kind of attention each head pays", usage, usage_end,
};
