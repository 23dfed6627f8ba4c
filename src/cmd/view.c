/* attn view: one web page that shows weights. */
#include "cmd/inputs.h"
#include "cmd/page_output.h"
#include "cmd/picture_format.h"
#include "cmd/progress.h"
#include "cmd/view_options.h"

static const char usage[] =
    "usage: attn view [options] INPUT...\n"
    "       attn view [options] --model MODEL --text TEXT\n"
    "\n"
    "Make one web page that shows attention weights: tokens joined by lines, matrices, and\n"
    "all heads at a glance.  The page needs no network and no other file.  INPUT is a file\n"
    "to compute from, ROLE=FILE[:TENSOR], '-', or a stored result.\n"
    "\n"
    "  -o, --output FILE     where to write the page; '-' is standard output [page.html]\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all, or of\n"
    "                        some, as in max:0,3-5 [all]\n"
    "      --layer LIST      layers of a stored result or model; mean or max of all [all]\n" OVER_LAYERS_USAGE
    "      --mean            one mean of the heads of --head LIST, the layers of --layer LIST\n"
    "      --batch LIST      batch items [all]\n"
    "      --title TEXT      title of the page [the names of the files, or the model's and\n"
    "                        how its text begins]\n"
    "      --markers WHAT    subword markers of tokens: keep or drop [drop]\n"
    "\n"
    "What is shown:\n" MATRIX_USAGE WORDS_USAGE
    "                          keys that --renormalise takes out: the first, a query's own,\n"
    "                          those called TOKEN (may be repeated)\n"
    "      --renormalise       let what is left of each row add up to 1\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"attn view x.json -o x.html\n";

static const struct option table[] = {
    {"output", required_argument, NULL, 'o'},
    SELECTION_OPTIONS,
    MODEL_OPTIONS,
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"title", required_argument, NULL, OPTION_TITLE},
    MARKERS_OPTION,
    MATRIX_OPTIONS,
    VIEW_OPTIONS,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct view_command {
	const char *path, *title;
	bool keep_markers;
	struct selection_options selection;
	struct view_request view;
	struct inputs in;
	struct selection selected;
	struct page_output page;
};

static enum attn_status write_page(struct view_command *c, const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&c->selected);
	struct row_consumer *consumers[] = {&c->page.rows.consumer};
	const struct page_request request = {
	    .in = &c->in, .selected = &c->selected, .path = c->path, .title = c->title};
	TRY(view_top_keys(&c->view, &c->in, self, &rows, err));
	TRY(page_output_open(&c->page, &request, self, err));
	TRY(progress_stream(self, c->in.rows.source, &rows, consumers, 1, err));
	return page_output_commit(&c->page, err);
}

static enum attn_status parse(struct view_command *c, struct options *o, bool *help, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'o')
			status = option_once(o, &c->path, err);
		else if (id == 'h' || id == OPTION_HELP)
			*help = true;
		else if (is_model_option(id))
			status = inputs_model_option(&c->in, id, o, err);
		else if (is_selection_option(id))
			selection_option(&c->selection, id, o->value);
		else if (id == OPTION_TITLE)
			c->title = o->value;
		else if (id == OPTION_MARKERS)
			status = option_markers(o, &c->keep_markers, err);
		else if (is_view_option(id))
			status = view_option(&c->view, id, o, err);
		else
			status = id < 0 ? ATTN_USAGE : inputs_setting(&c->in, o, err);
	}
	return status;
}

/* Under another ending browsers would not show it. */
static enum attn_status check_ending(struct view_command *c, struct attn_error *err)
{
	if (!c->path)
		c->path = "page.html";
	const char *ending = path_ending(c->path);
	if (!ending || ending_is_page(ending))
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE, "'%s' ends in '.%s', expected .html", c->path, ending);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table};
	struct view_command c = {0};
	bool help = false;
	enum attn_status status = parse(&c, &o, &help, err);
	if (status == ATTN_OK && help)
		status = print_usage(self, err);
	else if (status == ATTN_OK) {
		status = check_ending(&c, err);
		if (status == ATTN_OK && view_exclusion(&c.view) && !c.view.renormalise)
			status = attn_fail(err, ATTN_USAGE, "'%s' in a page needs '--renormalise', too",
					   view_exclusion(&c.view));
		if (status == ATTN_OK)
			status = inputs_open(&c.in, self, argc - optind, argv + optind, err);
		if (status == ATTN_OK && c.keep_markers)
			status = view_keep_markers(&c.view, &c.in, err);
		if (status == ATTN_OK)
			status = inputs_spare(&c.in, c.path, err);
		if (status == ATTN_OK)
			status = selection_open(&c.selected, &c.selection, c.in.info, err);
		if (status == ATTN_OK)
			status = plan_weights(&c.in, &c.selected, err);
		if (status == ATTN_OK)
			status = selection_join(&c.selected, &c.in, err);
		if (status == ATTN_OK)
			status = view_apply(&c.view, &c.in, self, err);
		if (status == ATTN_OK)
			status = write_page(&c, self, err);
		if (status == ATTN_OK)
			report_written(self, c.path);
	}
	page_output_release(&c.page);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_view = {"view", run,      "attn view", "make a web page that shows weights",
				     usage,  usage_end};
