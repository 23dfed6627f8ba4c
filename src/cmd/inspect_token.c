#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/progress.h"
#include "cmd/ranking_output.h"
#include "cmd/steps.h"
#include "cmd/view_options.h"
#include "input/given.h"
#include "result/view.h"
#include "tokens/spans.h"
#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn inspect token TOKEN [options] INPUT...\n"
    "       attn inspect token TOKEN [options] --model MODEL --text TEXT\n"
    "\n"
    "Say what TOKEN attends to, heaviest first, for each head and in the mean over heads.\n"
    "TOKEN is text, with or without its subword marker, '#8' for the token at index 8, '#3-5'\n"
    "for some, several of these as in 'it,#8', '#all' for all, or a phrase such as\n"
    "'the street'; what occurs several times is shown for each place.  INPUT is a file to\n"
    "compute from, ROLE=FILE[:TENSOR], '-', or a stored result.  Pairs such as it:animal are\n"
    "for 'attn inspect pairs'.\n"
    "\n"
    "      --to              what attends to TOKEN, instead\n"
    "      --steps           the arithmetic key by key instead: score, exponential, weight\n"
    "      --steps=full      the same from x W_Q on: also the vectors x, q and k\n"
    "      --top N           how many to list, or 'all' [5; with --steps all, in order]\n"
    "      --min-distance D  only pairs at least D tokens apart, in self-attention\n"
    "      --head LIST       heads by number or name, such as 0,3-5; no mean then; mean or max\n"
    "                        of all alone, or of some, as in max:0,3-5 [all]\n"
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
    "      --text            lines such as 'it -> animal 0.171' [on a terminal]\n"
    "      --pretty          the same, also beside --model, where --text is the text\n"
    "      --tsv             a table: layer head query query_token rank key key_token weight\n"
    "                        [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a row, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as query,key,weight [all]\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"Exit status 1: TOKEN does not occur.\n"
				"\n"
				"attn inspect token blanc samples/translation.json --top 1\n";

enum {
	OPTION_TO = OPTION_OWN,
	OPTION_STEPS
};

enum {
	RANKED = 5 /* unless --top says how many */
};

static const struct option table[] = {
    {"to", no_argument, NULL, OPTION_TO},
    {"steps", optional_argument, NULL, OPTION_STEPS},
    {"top", required_argument, NULL, OPTION_TOP},
    {"min-distance", required_argument, NULL, OPTION_MIN_DISTANCE},
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

struct token_command {
	const char *token;
	bool help, to, steps, full;
	size_t top;          /* 0: not given */
	size_t min_distance; /* 0: not given */
	enum table_format format;
	const char *columns; /* --columns, or NULL */
	struct table_columns table;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	bool *places; /* (queries or keys): where the token is */
	struct ranking ranking;
};

static enum attn_status option_steps(struct token_command *c, const struct options *o, struct attn_error *err)
{
	c->steps = true;
	c->full = o->value != NULL;
	return !o->value || strcmp(o->value, "full") == 0 ? ATTN_OK
							  : option_fail(o, "'full', or nothing", err);
}

static enum attn_status parse(struct token_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_TO)
			c->to = true;
		else if (id == OPTION_STEPS)
			status = option_steps(c, o, err);
		else if (id == OPTION_TOP)
			status = option_top(o, &c->top, err);
		else if (id == OPTION_MIN_DISTANCE)
			status = option_count(o, 1, SIZE_MAX, &c->min_distance, err);
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

static bool occurs(const char *token, const struct string_list *raw, const struct string_list *shown)
{
	for (size_t i = 0; i < raw->count; i++)
		if (token_matches(token, raw->items[i], shown->items[i]))
			return true;
	return false;
}

/* A token that the view cut away: ATTN_NO_MATCH says so; ATTN_OK: it was not there. */
static enum attn_status fail_cut(const struct token_command *c, struct attn_error *err)
{
	const struct string_list *all =
	    c->to ? &c->in.subject.whole->key_labels : &c->in.subject.whole->query_labels;
	struct string_list shown = {0};
	if (!subject_is_view(&c->in.subject) || c->view.words)
		return ATTN_OK;
	if (!tokens_shown(all, &shown))
		return attn_fail_memory(err);
	bool cut = occurs(c->token, all, &shown);
	string_list_release(&shown);
	if (!cut)
		return ATTN_OK;
	return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s that are left: '%s' cut it away",
			 c->token, c->to ? c->in.info->shape.keys : c->in.info->shape.queries,
			 c->to ? "keys" : "queries", c->to ? "--key" : "--query");
}

static enum attn_status fail_absent(const struct token_command *c, struct attn_error *err)
{
	const struct inputs *in = &c->in;
	const struct string_list *shown = c->to ? &in->shown_keys : &in->shown_queries;
	const char *among = c->to ? "keys" : "queries";
	const struct string_list *other_raw = c->to ? &in->info->query_labels : &in->info->key_labels;
	const struct string_list *other = c->to ? &in->shown_queries : &in->shown_keys;
	TRY(fail_cut(c, err));
	if (occurs(c->token, other_raw, other))
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %s but among the %s: %s",
				 c->token, among, c->to ? "queries" : "keys",
				 c->to ? "leave out --to" : "give --to");
	size_t near = token_nearest(c->token, shown), index;
	if (parse_count(c->token, &index) && index < shown->count)
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s, did you mean '#%zu'",
				 c->token, shown->count, among, index);
	if (near < shown->count)
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s, did you mean '%s'",
				 c->token, shown->count, among, shown->items[near]);
	return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s", c->token, shown->count, among);
}

static enum attn_status mark_range(struct token_command *c, size_t first, size_t last, struct attn_error *err)
{
	const struct inputs *in = &c->in;
	size_t count = c->to ? in->info->shape.keys : in->info->shape.queries;
	size_t lowest = c->to ? key_number(in->info, 0) : query_number(in->info, 0);
	size_t highest = lowest; /* numbers ascend */
	bool found_first = false, found_last = false;
	for (size_t i = 0; i < count; i++) {
		highest = c->to ? key_number(in->info, i) : query_number(in->info, i);
		c->places[i] |= highest >= first && highest <= last;
		found_first |= highest == first;
		found_last |= highest == last;
	}
	if (found_first && found_last)
		return ATTN_OK;
	return attn_fail(err, ATTN_NO_MATCH, "'%s' is beyond the %zu %s, expected '#%zu' to '#%zu'", c->token,
			 count, c->to ? "keys" : "queries", lowest, highest);
}

static bool mark_text(struct token_command *c)
{
	const struct inputs *in = &c->in;
	const struct string_list *raw = c->to ? &in->info->key_labels : &in->info->query_labels;
	const struct string_list *shown = c->to ? &in->shown_keys : &in->shown_queries;
	bool found = false;
	for (size_t i = 0; i < raw->count; i++) {
		bool here = token_matches(c->token, raw->items[i], shown->items[i]);
		c->places[i] |= here;
		found |= here;
	}
	return found;
}

static enum attn_status mark_one(struct token_command *c, struct attn_error *err)
{
	size_t first, last;
	if (span_indices(c->token, &first, &last))
		return mark_range(c, first, last, err);
	return mark_text(c) ? ATTN_OK : fail_absent(c, err);
}

/* The tokens that people see, those of each phrase with spaces between; and mark these. */
static bool show_phrases(struct token_command *c, const struct span_list *phrases)
{
	struct string_list *shown = c->to ? &c->in.shown_keys : &c->in.shown_queries, joined = {0};
	struct buffer label = BUFFER_INIT;
	size_t next = 0;
	bool ok = true;
	for (size_t i = 0, end; i < shown->count && ok; i = end) {
		bool phrase = next < phrases->count && phrases->items[next].first == i;
		end = phrase ? phrases->items[next].end : i + 1;
		c->places[joined.count] = phrase;
		while (next < phrases->count && phrases->items[next].first < end)
			next++;
		buffer_clear(&label);
		for (size_t k = i; k < end; k++)
			buffer_printf(&label, "%s%s", k > i ? " " : "", shown->items[k]);
		ok = !label.failed && string_list_add(&joined, label.data);
	}
	string_list_release(shown);
	*shown = joined;
	buffer_release(&label);
	return ok;
}

/* A phrase, "the street", becomes one token; ATTN_NO_MATCH: it is none. */
static enum attn_status join_phrase(struct token_command *c, struct attn_error *err)
{
	struct inputs *in = &c->in;
	const struct string_list *raw = c->to ? &in->info->key_labels : &in->info->query_labels;
	struct spelling spelling;
	struct span_list phrases = {0};
	struct named_rows view;
	bool ok = spelling_init(&spelling, raw, c->to ? &in->shown_keys : &in->shown_queries) &&
		  spelling_find(&spelling, c->token, &phrases);
	enum attn_status status = !ok ? attn_fail_memory(err) : phrases.count ? ATTN_OK : ATTN_NO_MATCH;
	spelling_release(&spelling);
	if (status == ATTN_OK)
		status = view_phrases_open(&view, &in->rows, &phrases, c->to, err);
	if (status == ATTN_OK) {
		inputs_show(in, &view);
		status = show_phrases(c, &phrases) ? ATTN_OK : attn_fail_memory(err);
	}
	span_list_release(&phrases);
	return status;
}

/* Several, such as "it,#3-5": where none is called so as a whole. */
static enum attn_status mark_each(struct token_command *c, struct attn_error *err)
{
	const char *whole = c->token;
	char *copy = strdup(whole), *rest = copy, *part;
	enum attn_status status = copy ? ATTN_OK : attn_fail_memory(err);
	while (status == ATTN_OK && (part = strsep(&rest, ","))) {
		c->token = part;
		status = *part ? mark_one(c, err)
			       : attn_fail(err, ATTN_USAGE, "'%s' is not a list of tokens such as 'it,#3-5'",
					   whole);
	}
	c->token = whole;
	free(copy);
	return status;
}

/* Mark where the tokens are: every place of a text, indices. */
static enum attn_status find_places(struct token_command *c, struct attn_error *err)
{
	size_t count = c->to ? c->in.info->shape.keys : c->in.info->shape.queries;
	c->places = array_alloc(count, sizeof *c->places);
	if (!c->places)
		return attn_fail_memory(err);
	if (strcmp(c->token, "#all") == 0) {
		for (size_t i = 0; i < count; i++)
			c->places[i] = true;
		return ATTN_OK;
	}
	size_t first, last;
	if (span_indices(c->token, &first, &last))
		return mark_range(c, first, last, err);
	if (mark_text(c))
		return ATTN_OK;
	if (strlen(c->token) > 1 && strchr(c->token, ','))
		return mark_each(c, err);
	enum attn_status status = c->steps ? ATTN_NO_MATCH : join_phrase(c, err);
	return status == ATTN_NO_MATCH ? fail_absent(c, err) : status;
}

static enum attn_status rank(struct token_command *c, const struct command *self, struct attn_error *err)
{
	const struct rows_info *info = c->in.info;
	struct ranking_options options = {
	    .top = c->top, .to = c->to, .subjects = c->places, .min_distance = c->min_distance, .info = info};
	options.mean = info->shape.heads > 1 && c->selected.every_head;
	TRY(ranking_init(&c->ranking, &info->shape, &options, err));
	struct rows_selection rows = selection_rows(&c->selected);
	if (!c->to)
		rows.queries = c->places; /* the other rows need not be computed */
	struct row_consumer *consumers[] = {&c->ranking.consumer};
	return progress_stream(self, c->in.rows.source, &rows, consumers, 1, err);
}

static enum attn_status print(struct token_command *c, const struct command *self, struct attn_error *err)
{
	struct ranking_table view = {
	    .in = &c->in,
	    .ranking = &c->ranking,
	    .selection = &c->selected,
	    .mean = c->ranking.options.mean,
	    .apart = true,
	    .columns = &c->table,
	    .format = table_format_settle(c->format),
	    .top = c->top,
	};
	return ranking_write(self, "-", &view, err);
}

static enum attn_status show_steps(struct token_command *c, const struct command *self,
				   struct attn_error *err)
{
	struct steps steps = {.in = &c->in,
			      .selection = &c->selected,
			      .places = c->places,
			      .full = c->full,
			      .top = c->top ? c->top : SIZE_MAX};
	enum attn_status status = steps_compute(&steps, self, err);
	if (status == ATTN_OK)
		status = steps_write(&steps, self, table_format_settle(c->format), &c->table, err);
	steps_release(&steps);
	return status;
}

static bool is_file(const char *path)
{
	return access(path, F_OK) == 0;
}

static enum attn_status inspect(struct token_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE, "no token: give its text or '#index' (see '%s --help')",
				 self->title);
	if (argc > 1 && is_file(argv[0]) && !is_file(argv[1]) && !strchr(argv[1], '=') &&
	    strcmp(argv[1], "-") != 0)
		return attn_fail(err, ATTN_USAGE, "'%s' is no file, but '%s' is: the token comes first",
				 argv[1], argv[0]);
	if (c->steps && c->to)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--steps' shows what a query does, '--to' what is done to a key: give one of "
		    "them");
	if (c->steps && c->min_distance)
		return attn_fail(err, ATTN_USAGE,
				 "'--steps' shows the whole row as it is computed: leave out "
				 "'--min-distance'");
	if (c->steps && *c->view.option)
		return attn_fail(err, ATTN_USAGE,
				 "'--steps' shows the whole row as it is computed: leave out '%s'",
				 c->view.option);
	TRY(view_check_numbers(&c->view, "a ranking", err));
	char joins[24];
	TRY(table_format_columns(&c->format, c->columns, err));
	c->token = argv[0];
	enum attn_status status = inputs_open(&c->in, self, argc - 1, argv + 1, err);
	if (status == ATTN_OK)
		status = selection_open(&c->selected, &c->selection, c->in.info, err);
	if (status == ATTN_OK && c->steps)
		status = inputs_focus(&c->in, &c->selected, "--steps", err);
	if (status == ATTN_OK)
		status = c->steps ? steps_columns(&c->table, c->in.info, c->full, c->columns, err)
				  : ranking_columns(&c->table, c->in.info, c->columns, err);
	if (status == ATTN_OK && c->steps && !c->in.subject.attention)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is a stored result: '--steps' needs the input it was made from",
				 origin_name(given_tensor(&c->in.bundle, ROLE_WEIGHTS)->origin));
	if (status == ATTN_OK)
		status = min_distance_check(c->min_distance, c->in.info, err);
	if (status == ATTN_OK && c->steps &&
	    selection_joins(&c->selected, &c->selection, joins, sizeof joins))
		return attn_fail(err, ATTN_USAGE,
				 "'--steps' and '%s' cannot be combined: each head has scores and steps of "
				 "its own, of which the weights are joined",
				 joins);
	if (status == ATTN_OK && !c->steps)
		status = plan_weights(&c->in, &c->selected, err);
	if (status == ATTN_OK)
		status = selection_join(&c->selected, &c->in, err);
	if (status == ATTN_OK)
		status = view_apply(&c->view, &c->in, self, err);
	if (status == ATTN_OK)
		status = find_places(c, err);
	if (status == ATTN_OK && c->steps)
		return show_steps(c, self, err);
	c->top = c->top ? c->top : RANKED;
	if (status == ATTN_OK)
		status = rank(c, self, err);
	return status == ATTN_OK ? print(c, self, err) : status;
}

/* Whether pairs of tokens are given rather than tokens, which is work of another command. */
static bool gives_pairs(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strncmp(*argv, "--pairs", 7) == 0 || strncmp(*argv, "--conllu", 8) == 0)
			return true;
	return false;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	if (gives_pairs(argv))
		return command_inspect_pairs.run(&command_inspect_pairs, argc, argv, err);
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct token_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	ranking_release(&c.ranking);
	free(c.places);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_token = {
    "token", run,       "attn inspect token", "what a token attends to, or what attends to it, ranked",
    usage,   usage_end,
};
