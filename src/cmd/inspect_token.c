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
#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn inspect token TOKEN [options] INPUT...\n"
    "\n"
    "Say what TOKEN attends to, heaviest first, for each head and in the mean over heads.\n"
    "TOKEN is text, with or without its subword marker, or '#8' for the token at index 8; a\n"
    "token that occurs several times is shown for each place.  INPUT is a file to compute\n"
    "from, ROLE=FILE[:TENSOR], '-', or a stored result.\n"
    "\n"
    "      --to              what attends to TOKEN, instead\n"
    "      --steps           the arithmetic key by key instead: score, exponential, weight\n"
    "      --top N           how many to list, or 'all' [5; with --steps all, in order]\n"
    "      --head LIST       heads by number or name, such as 0,3-5; no mean then [all]\n"
    "      --layer LIST      layers of a stored result [all]\n"
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
    "      --tsv             a table: layer head query query_token rank key key_token weight\n"
    "                        [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a row, with the same names\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
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
    {"steps", no_argument, NULL, OPTION_STEPS},
    {"top", required_argument, NULL, OPTION_TOP},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"layer", required_argument, NULL, OPTION_LAYER},
    {"batch", required_argument, NULL, OPTION_BATCH},
    VIEW_OPTIONS,
    TABLE_OPTIONS,
    THREADS_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct job {
	const char *token;
	bool help, to, steps;
	size_t top; /* 0: not given */
	enum table_format format;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	bool *places; /* (queries or keys): where the token is */
	struct ranking ranking;
};

static enum attn_status parse(struct job *job, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			job->help = true;
		else if (id == OPTION_TO)
			job->to = true;
		else if (id == OPTION_STEPS)
			job->steps = true;
		else if (id == OPTION_TOP)
			status = option_top(o, &job->top, err);
		else if (id == OPTION_HEAD || id == OPTION_LAYER || id == OPTION_BATCH)
			selection_option(&job->selection, id, o->value);
		else if (is_view_option(id))
			status = view_option(&job->view, id, o, err);
		else if (id == OPTION_SETTING)
			status = inputs_setting(&job->in, o, err);
		else if (id < 0)
			status = ATTN_USAGE;
		else
			job->format = table_format_of(id);
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

static enum attn_status fail_absent(const struct job *job, struct attn_error *err)
{
	const struct inputs *in = &job->in;
	const struct string_list *shown = job->to ? &in->shown_keys : &in->shown_queries;
	const char *among = job->to ? "keys" : "queries";
	const struct string_list *other_raw = job->to ? &in->info->query_labels : &in->info->key_labels;
	const struct string_list *other = job->to ? &in->shown_queries : &in->shown_keys;
	if (occurs(job->token, other_raw, other))
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %s but among the %s: %s",
				 job->token, among, job->to ? "queries" : "keys",
				 job->to ? "leave out --to" : "give --to");
	size_t near = token_nearest(job->token, shown), index;
	if (parse_count(job->token, &index) && index < shown->count)
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s, did you mean '#%zu'",
				 job->token, shown->count, among, index);
	if (near < shown->count)
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s, did you mean '%s'",
				 job->token, shown->count, among, shown->items[near]);
	return attn_fail(err, ATTN_NO_MATCH, "'%s' is not among the %zu %s", job->token, shown->count, among);
}

/* Mark where the token is: every place of a text, or one "#index". */
static enum attn_status find_places(struct job *job, struct attn_error *err)
{
	const struct inputs *in = &job->in;
	const struct string_list *raw = job->to ? &in->info->key_labels : &in->info->query_labels;
	const struct string_list *shown = job->to ? &in->shown_keys : &in->shown_queries;
	size_t index;
	bool found = false;
	job->places = array_alloc(raw->count, sizeof *job->places);
	if (!job->places)
		return attn_fail_memory(err);
	if (job->token[0] == '#' && parse_count(job->token + 1, &index)) {
		size_t first = job->to ? key_number(in->info, 0) : query_number(in->info, 0);
		size_t last = first; /* numbers ascend */
		for (size_t i = 0; i < raw->count; i++) {
			last = job->to ? key_number(in->info, i) : query_number(in->info, i);
			job->places[i] = last == index;
			found |= last == index;
		}
		if (found)
			return ATTN_OK;
		return attn_fail(err, ATTN_NO_MATCH, "'%s' is beyond the %zu %s, expected '#%zu' to '#%zu'",
				 job->token, raw->count, job->to ? "keys" : "queries", first, last);
	}
	for (size_t i = 0; i < raw->count; i++) {
		job->places[i] = token_matches(job->token, raw->items[i], shown->items[i]);
		found |= job->places[i];
	}
	return found ? ATTN_OK : fail_absent(job, err);
}

static enum attn_status rank(struct job *job, const struct command *self, struct attn_error *err)
{
	const struct rows_info *info = job->in.info;
	struct ranking_options options = {.top = job->top, .to = job->to, .subjects = job->places};
	options.mean = info->shape.heads > 1 && !job->selection.heads;
	enum attn_status status = ranking_init(&job->ranking, &info->shape, &options, err);
	if (status != ATTN_OK)
		return status;
	struct rows_selection rows = selection_rows(&job->selected);
	if (!job->to)
		rows.queries = job->places; /* the other rows need not be computed */
	struct row_consumer *consumers[] = {&job->ranking.consumer};
	return progress_stream(self, job->in.rows.source, &rows, consumers, 1, err);
}

static enum attn_status print(struct job *job, const struct command *self, struct attn_error *err)
{
	struct ranking_view view = {
	    .in = &job->in,
	    .ranking = &job->ranking,
	    .selection = &job->selected,
	    .mean = job->ranking.options.mean,
	    .apart = true,
	    .format = table_format_settle(job->format),
	    .top = job->top,
	};
	return ranking_write(self, "-", &view, err);
}

static enum attn_status show_steps(struct job *job, const struct command *self, struct attn_error *err)
{
	struct steps steps = {.in = &job->in,
			      .selection = &job->selected,
			      .places = job->places,
			      .top = job->top ? job->top : SIZE_MAX};
	enum attn_status status = steps_compute(&steps, self, err);
	if (status == ATTN_OK)
		status = steps_write(&steps, self, table_format_settle(job->format), err);
	steps_release(&steps);
	return status;
}

static bool is_file(const char *path)
{
	return access(path, F_OK) == 0;
}

static enum attn_status inspect(struct job *job, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE, "no token: give its text or '#index' (see '%s --help')",
				 self->title);
	if (argc > 1 && is_file(argv[0]) && !is_file(argv[1]) && !strchr(argv[1], '=') &&
	    strcmp(argv[1], "-") != 0)
		return attn_fail(err, ATTN_USAGE, "'%s' is no file, but '%s' is: the token comes first",
				 argv[1], argv[0]);
	if (job->steps && job->to)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--steps' shows what a query does, '--to' what is done to a key: give one of "
		    "them");
	if (job->steps && *job->view.option)
		return attn_fail(err, ATTN_USAGE,
				 "'--steps' shows the whole row as it is computed: leave out '%s'",
				 job->view.option);
	if (view_exclusion(&job->view) && !job->view.renormalise)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is about a scale of colours, of which a ranking has none: it also "
				 "requires --renormalise",
				 view_exclusion(&job->view));
	job->token = argv[0];
	enum attn_status status = inputs_open(&job->in, self, argc - 1, argv + 1, err);
	if (status == ATTN_OK && job->steps && !job->in.subject.attention)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is a stored result: '--steps' needs the input it was made from",
				 origin_name(given_tensor(&job->in.bundle, ROLE_WEIGHTS)->origin));
	if (status == ATTN_OK)
		status = selection_open(&job->selected, &job->selection, job->in.info, err);
	if (status == ATTN_OK && !job->steps)
		status = plan_weights(&job->in, &job->selected, err);
	if (status == ATTN_OK)
		status = view_apply(&job->view, &job->in, self, err);
	if (status == ATTN_OK)
		status = find_places(job, err);
	if (status == ATTN_OK && job->steps)
		return show_steps(job, self, err);
	job->top = job->top ? job->top : RANKED;
	if (status == ATTN_OK)
		status = rank(job, self, err);
	return status == ATTN_OK ? print(job, self, err) : status;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct job job = {0};
	enum attn_status status = parse(&job, &o, err);
	if (status == ATTN_OK)
		status = job.help ? print_usage(self, err)
				  : inspect(&job, self, argc - optind, argv + optind, err);
	ranking_release(&job.ranking);
	free(job.places);
	selection_release(&job.selected);
	view_request_release(&job.view);
	inputs_release(&job.in);
	return status;
}

const struct command command_inspect_token = {
    "token", run,       "attn inspect token", "what a token attends to, or what attends to it, ranked",
    usage,   usage_end,
};
