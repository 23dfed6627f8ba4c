#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/pairs_output.h"
#include "cmd/progress.h"
#include "cmd/view_options.h"
#include "util/memory.h"

static const char usage[] =
    "usage: attn inspect pairs PAIRS [options] INPUT...\n"
    "       attn inspect pairs PAIRS [options] --model MODEL --text TEXT\n"
    "\n"
    "Say what every head makes of given pairs of a query and a key, and which heads link\n"
    "them best.  PAIRS is a list such as 'it:animal,#8:the street,#3-5:#1': texts of tokens,\n"
    "or of several in a row, or indices; a backslash before ',' and ':' of a text.  With\n"
    "--pairs or --conllu it is left out.\n"
    "\n"
    "      --pairs FILE      pairs from a table: a query, a tab, a key, maybe a tab and a relation;\n"
    "                        or a list, if there is no such file\n"
    "      --conllu FILE     pairs from dependency trees in CoNLL-U: each word and its head\n"
    "      --relation NAME   only those of this relation, such as nsubj, and its subtypes\n"
    "      --reverse         the other way: queries are keys, keys queries\n"
    "      --score           a line a head instead: the share of pairs whose key is the most\n"
    "                        attended one, best first, of each relation\n"
    "      --top N           only the N best heads of each pair or relation, or 'all' [all]\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all, or of\n"
    "                        some, as in max:0,3-5 [all]\n"
    "      --layer LIST      layers of a stored result or model; mean or max of all [all]\n" OVER_LAYERS_USAGE
    "      --mean            one mean of the heads of --head LIST, the layers of --layer LIST\n"
    "      --batch LIST      batch items [all]\n"
    "\n"
    "What is shown:\n"
    "      --key RANGE         only these keys: A:B by index, from A to before B, negative from\n"
    "                          the end; by tokens, both ends included; or one, such as 'it'\n" WORDS_USAGE
    "                          keys to take out: the first, a query's own, those called\n"
    "                          TOKEN (may be repeated)\n"
    "      --renormalise       with these: the rest of a row adds up to 1\n"
    "\n"
    "Output:\n"
    "      --text, --pretty  aligned columns; --pretty also beside --model, where --text is the\n"
    "                        text [on a terminal]\n"
    "      --tsv             a table [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a row, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as head,weight,rank [all]\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"Exit status 1: a text of PAIRS does not occur.\n"
				"\n"
				"attn inspect pairs blanc:white,chat:cat samples/translation.json --score\n";

enum {
	OPTION_PAIRS = OPTION_OWN,
	OPTION_CONLLU,
	OPTION_RELATION,
	OPTION_REVERSE,
	OPTION_SCORE
};

static const struct option table[] = {
    {"pairs", required_argument, NULL, OPTION_PAIRS},
    {"conllu", required_argument, NULL, OPTION_CONLLU},
    {"relation", required_argument, NULL, OPTION_RELATION},
    {"reverse", no_argument, NULL, OPTION_REVERSE},
    {"score", no_argument, NULL, OPTION_SCORE},
    {"top", required_argument, NULL, OPTION_TOP},
    SELECTION_OPTIONS,
    MODEL_OPTIONS,
    {"batch", required_argument, NULL, OPTION_BATCH},
    VIEW_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct pairs_command {
	struct pairs_request request;
	bool help, score;
	size_t top; /* 0: not given */
	enum table_format format;
	const char *columns; /* --columns, or NULL */
	struct table_columns table;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	struct pairs_list pairs;
	struct pairs_consumer found;
	bool *queries; /* (queries): of some pair */
};

static enum attn_status parse(struct pairs_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_PAIRS)
			status = option_once(o, &c->request.file, err);
		else if (id == OPTION_CONLLU)
			status = option_once(o, &c->request.conllu, err);
		else if (id == OPTION_RELATION)
			status = option_once(o, &c->request.relation, err);
		else if (id == OPTION_REVERSE)
			c->request.reverse = true;
		else if (id == OPTION_SCORE)
			c->score = true;
		else if (id == OPTION_TOP)
			status = option_top(o, &c->top, err);
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

static enum attn_status check(const struct pairs_command *c, const struct command *self, int argc,
			      struct attn_error *err)
{
	const struct pairs_request *r = &c->request;
	if (r->file && r->conllu)
		return attn_fail(err, ATTN_USAGE,
				 "'--pairs' and '--conllu' both give pairs: give one of them");
	if (!r->file && !r->conllu && r->relation)
		return attn_fail(err, ATTN_USAGE,
				 "'--relation' is for pairs that have one: give --pairs or --conllu");
	if (!r->list && !r->file && !r->conllu && argc == 0)
		return attn_fail(err, ATTN_USAGE,
				 "no pairs: give a list such as 'it:animal' (see '%s --help')", self->title);
	if (view_exclusion(&c->view) && !c->view.renormalise)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is about a scale of colours, of which a table has none: it also "
				 "requires --renormalise",
				 view_exclusion(&c->view));
	return ATTN_OK;
}

static enum attn_status open_rows(struct pairs_command *c, const struct command *self, int argc, char **argv,
				  struct attn_error *err)
{
	TRY(inputs_open(&c->in, self, argc, argv, err));
	TRY(selection_open(&c->selected, &c->selection, c->in.info, err));
	TRY(plan_weights(&c->in, &c->selected, err));
	TRY(selection_join(&c->selected, &c->in, err));
	return view_apply(&c->view, &c->in, self, err);
}

static enum attn_status stream(struct pairs_command *c, const struct command *self, struct attn_error *err)
{
	const struct rows_shape *shape = &c->in.info->shape;
	c->queries = array_alloc(shape->queries, sizeof *c->queries);
	if (!c->queries)
		return attn_fail_memory(err);
	for (size_t i = 0; i < c->pairs.count; i++)
		for (size_t q = c->pairs.items[i].query.first; q < c->pairs.items[i].query.end; q++)
			c->queries[q] = true;
	TRY(pairs_consumer_init(&c->found, shape, c->pairs.items, c->pairs.count, err));
	struct rows_selection rows = selection_rows(&c->selected);
	rows.queries = c->queries; /* the other rows need not be computed */
	struct row_consumer *consumers[] = {&c->found.consumer};
	return progress_stream(self, c->in.rows.source, &rows, consumers, 1, err);
}

/* --pairs may give the list itself, if no file is called so. */
static void take_list(struct pairs_request *r)
{
	if (!r->file || !strchr(r->file, ':') || access(r->file, F_OK) == 0)
		return;
	r->list = r->file;
	r->file = NULL;
}

static enum attn_status inspect(struct pairs_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	take_list(&c->request);
	TRY(check(c, self, argc, err));
	TRY(table_format_columns(&c->format, c->columns, err));
	bool operand = !c->request.list && !c->request.file && !c->request.conllu;
	if (operand)
		c->request.list = *argv;
	TRY(open_rows(c, self, argc - operand, argv + operand, err));
	TRY(pairs_list_open(&c->pairs, &c->request, &c->in, err));
	TRY(pairs_columns(&c->table, c->in.info, c->pairs.relations.count > 0, c->score, c->columns, err));
	TRY(stream(c, self, err));
	struct pairs_table view = {.in = &c->in,
				   .pairs = &c->pairs,
				   .found = &c->found,
				   .selection = &c->selected,
				   .score = c->score,
				   .top = c->top ? c->top : SIZE_MAX,
				   .format = table_format_settle(c->format),
				   .columns = &c->table};
	return pairs_write(self, &view, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct pairs_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	pairs_consumer_release(&c.found);
	free(c.queries);
	pairs_list_release(&c.pairs);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_pairs = {
    "pairs", run,       "attn inspect pairs", "what each head makes of given pairs, and which link them best",
    usage,   usage_end,
};
