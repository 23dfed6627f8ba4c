#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/far_output.h"
#include "cmd/progress.h"
#include "cmd/view_options.h"
#include "util/minmax.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn inspect far [options] INPUT...\n"
    "\n"
    "Say what a window would lose: for each layer, head and window of W tokens, the share of\n"
    "weight on keys outside of it; and, with --links, the strongest links between tokens that\n"
    "are far apart.  INPUT is a file to compute from, ROLE=FILE[:TENSOR], '-', or a stored\n"
    "result, of self-attention.\n"
    "\n"
    "      --windows W,...   windows, up to 32: a query's own key and W-1 on either side, as\n"
    "                        --window W-1,W-1 [powers of 2 below the number of keys, the 10 largest]\n"
    "      --links           a line a link instead, the strongest of each head\n"
    "      --distance D      links are longer than D tokens [what the smallest of --windows would\n"
    "                        lose; else a quarter of the keys]\n"
    "      --top N           only the N strongest links of each head, with --links [10]\n"
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
    "      --pretty          an aligned table, a line a head [on a terminal]\n"
    "      --tsv             a table of all columns [elsewhere]\n"
    "      --json, --jsonl   one document, or one object a line, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as head,window,lost [all]\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"attn inspect far samples/hand.json --causal --windows 2\n";

enum {
	OPTION_WINDOWS = OPTION_OWN,
	OPTION_LINKS,
	OPTION_DISTANCE,
	WINDOWS_MADE = 10, /* where none are given, at most */
	TOP_DEFAULT = 10,
};

static const struct option table[] = {
    {"windows", required_argument, NULL, OPTION_WINDOWS},
    {"links", no_argument, NULL, OPTION_LINKS},
    {"distance", required_argument, NULL, OPTION_DISTANCE},
    {"top", required_argument, NULL, OPTION_TOP},
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

struct far_command {
	bool help, links, has_distance, masks;
	struct far_options options; /* top 0: not given */
	enum table_format format;
	const char *columns; /* --columns, or NULL */
	struct table_columns table;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	struct head_places places;
	struct far_consumer far;
};

/* --- options ------------------------------------------------------------------------------- */

/* Put a window among the others, in ascending order.  False: it is there. */
static bool add_window(struct far_options *f, size_t window)
{
	size_t i = f->window_count;
	for (; i > 0 && f->windows[i - 1] > window; i--)
		f->windows[i] = f->windows[i - 1];
	f->windows[i] = window;
	f->window_count++;
	return i == 0 || f->windows[i - 1] < window;
}

static enum attn_status option_windows(const struct options *o, struct far_options *f, struct attn_error *err)
{
	f->window_count = 0;
	for (const char *at = o->value;; at++) {
		char text[32];
		size_t length = strcspn(at, ","), window;
		snprintf(text, sizeof text, "%.*s", (int)size_min(length, sizeof text), at);
		if (length >= sizeof text || !parse_count(text, &window) || window == 0)
			return option_fail(o, "whole numbers from 1, such as 512,4096", err);
		if (f->window_count == FAR_WINDOWS)
			return option_fail(o, "at most 32 windows", err);
		if (!add_window(f, window))
			return option_fail(o, "each window once", err);
		at += length;
		if (!*at)
			return ATTN_OK;
	}
}

static enum attn_status parse(struct far_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP) {
			c->help = true;
		} else if (id == OPTION_WINDOWS) {
			status = option_windows(o, &c->options, err);
		} else if (id == OPTION_LINKS) {
			c->links = true;
		} else if (id == OPTION_DISTANCE) {
			c->has_distance = true;
			status = option_count(o, 0, SIZE_MAX, &c->options.distance, err);
		} else if (id == OPTION_TOP) {
			status = option_count(o, 1, FAR_LINKS, &c->options.top, err);
		} else if (is_model_option(id)) {
			status = inputs_model_option(&c->in, id, o, err);
		} else if (is_selection_option(id)) {
			selection_option(&c->selection, id, o->value);
		} else if (is_view_option(id)) {
			status = view_option(&c->view, id, o, err);
		} else if (id == OPTION_COLUMNS) {
			status = option_once(o, &c->columns, err);
		} else if (id == OPTION_SETTING) {
			c->masks |= option_role(o) == ROLE_WINDOW;
			status = inputs_setting(&c->in, o, err);
		} else if (id < 0) {
			status = ATTN_USAGE;
		} else {
			c->format = table_format_of(id);
		}
	}
	return status;
}

/* --- the work ------------------------------------------------------------------------------ */

/* What was not given, once the number of positions is known. */
static void settle_options(struct far_options *f, const struct far_command *c, size_t positions)
{
	size_t largest = 1;
	if (!c->has_distance)
		f->distance = f->window_count > 0 ? f->windows[0] - 1 : positions / 4;
	if (f->top == 0)
		f->top = TOP_DEFAULT;
	if (f->window_count > 0)
		return;
	while (largest < positions - largest) /* so that 2 * largest is below, too */
		largest *= 2;
	for (size_t w = largest; w > 0 && f->window_count < WINDOWS_MADE; w /= 2)
		add_window(f, w);
}

/* Links are for lines of their own, and for text, which has the strongest. */
static enum attn_status check(const struct far_command *c, struct attn_error *err)
{
	if (c->options.top > 0 && !c->links)
		return attn_fail(err, ATTN_USAGE, "'--top' is for links: it also requires --links");
	if (c->links && c->options.window_count > 0 && c->has_distance)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--windows' and '--distance' both say which links to list: give one of them");
	if (!c->links && c->has_distance && c->format != TABLE_TEXT && c->format != TABLE_DEFAULT)
		return attn_fail(err, ATTN_USAGE,
				 "'--distance' is for links, of which this table has none: it also requires "
				 "--links");
	return view_check_numbers(&c->view, "a table", err);
}

static enum attn_status inspect(struct far_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	TRY(check(c, err));
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(inputs_open(&c->in, self, argc, argv, err));
	if (c->in.info->shape.cross)
		return attn_fail(err, ATTN_USAGE,
				 "'inspect far' is for self-attention, found cross-attention, whose queries "
				 "have no place among its keys, and so no distance");
	TRY(far_columns(&c->table, c->in.info, c->links, c->columns, err));
	TRY(selection_open(&c->selected, &c->selection, c->in.info, err));
	TRY(plan_weights(&c->in, &c->selected, err));
	TRY(selection_join(&c->selected, &c->in, err));
	TRY(view_apply(&c->view, &c->in, self, err));
	if (c->masks)
		report_note(self, "'--window' masks keys before anything is looked at: windows to look at "
				  "are those of --windows");
	TRY(head_places_init(&c->places, c->in.info, &c->in.shown_keys, err));
	settle_options(&c->options, c, c->places.positions);
	TRY(far_consumer_init(&c->far, &c->in.info->shape, &c->places, &c->options, err));
	struct rows_selection rows = selection_rows(&c->selected);
	struct row_consumer *consumers[] = {&c->far.consumer};
	TRY(progress_stream(self, c->in.rows.source, &rows, consumers, 1, err));
	struct far_table view = {.in = &c->in,
				 .selection = &c->selected,
				 .far = &c->far,
				 .options = &c->options,
				 .links = c->links,
				 .columns = &c->table,
				 .format = table_format_settle(c->format)};
	return far_write(&view, self, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct far_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	far_consumer_release(&c.far);
	head_places_release(&c.places);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_far = {
    "far", run, "attn inspect far", "what a window would lose, and which far links matter", usage, usage_end,
};
