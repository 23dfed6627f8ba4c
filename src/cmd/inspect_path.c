/* attn inspect path: the strongest links of a token from layer to layer. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/table_writer.h"
#include "cmd/view_ranges.h"
#include "consumers/path.h"
#include "util/memory.h"

static const char usage[] =
    "usage: attn inspect path TOKEN [options] --model MODEL --text TEXT\n"
    "       attn inspect path TOKEN [options] RESULT\n"
    "\n"
    "Follow the strongest links of TOKEN from the last layer to the first: a line for each layer,\n"
    "of the path whose weights have the largest product.  TOKEN is a query, as text or '#index'.\n"
    "\n"
    "      --to TOKEN        of the paths that end there [anywhere]\n"
    "      --greedy          the largest weight at each step instead, whatever comes below\n"
    "      --by-head         links of any head, not of their mean\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all [mean]\n"
    "      --layer LIST      layers, such as 0,3-5 [all]\n"
    "      --batch LIST      batch items [all]\n"
    "      --norms           weights by the lengths of values\n"
    "\n"
    "Output:\n"
    "      --pretty          an aligned table, without columns that are empty [on a terminal]\n"
    "      --tsv             a table of all columns [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a link, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as layer,key_token [all]\n";

static const char usage_end[] =
    "      --threads N       threads [the processors that this process may use]\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "attn inspect path Lily --model samples/stories260K --text 'a girl named Lily'\n";

enum {
	OPTION_TO = OPTION_OWN,
	OPTION_GREEDY,
	OPTION_BY_HEAD
};

static const struct option table[] = {
    {"to", required_argument, NULL, OPTION_TO},
    {"greedy", no_argument, NULL, OPTION_GREEDY},
    {"by-head", no_argument, NULL, OPTION_BY_HEAD},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"layer", required_argument, NULL, OPTION_LAYER},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"norms", no_argument, NULL, OPTION_NORMS},
    MODEL_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct path_command {
	bool help, greedy, by_head;
	const char *token, *to, *columns;
	enum table_format format;
	struct selection_options options;
	struct inputs in;
	struct selection selected;
	struct path_consumer path;
	struct table_writer table;
	bool *starts, *ends; /* (queries), (keys), owned; or NULL */
};

static enum attn_status parse(struct path_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_TO)
			status = option_once(o, &c->to, err);
		else if (id == OPTION_GREEDY)
			c->greedy = true;
		else if (id == OPTION_BY_HEAD)
			c->by_head = true;
		else if (is_model_option(id))
			status = inputs_model_option(&c->in, id, o, err);
		else if (is_selection_option(id))
			selection_option(&c->options, id, o->value);
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

static enum attn_status check_shape(const struct rows_shape *shape, struct attn_error *err)
{
	if (shape->cross || shape->queries != shape->keys)
		return attn_fail(
		    err, ATTN_USAGE,
		    "a path goes on from layer to layer, for which queries and keys must be the same "
		    "tokens, found %zu queries and %zu keys%s",
		    shape->queries, shape->keys, shape->cross ? " of another text" : "");
	return shape->signed_weights
		   ? attn_fail(err, ATTN_USAGE,
			       "a path is of weights of at least 0, found those of differential attention")
		   : ATTN_OK;
}

static enum attn_status find_tokens(struct path_command *c, struct attn_error *err)
{
	const struct rows_info *info = c->in.info;
	const struct range_items queries = {"TOKEN", "queries", &info->query_labels, &c->in.shown_queries};
	const struct range_items keys = {"--to", "keys", &info->key_labels, &c->in.shown_keys};
	c->starts = array_alloc(info->shape.queries, sizeof *c->starts);
	c->ends = c->to ? array_alloc(info->shape.keys, sizeof *c->ends) : NULL;
	if (!c->starts || (c->to && !c->ends))
		return attn_fail_memory(err);
	TRY(range_mark(&queries, c->token, c->starts, err));
	return c->to ? range_mark(&keys, c->to, c->ends, err) : ATTN_OK;
}

/* Heads are joined, unless they are looked at one by one, and layers chosen. */
static enum attn_status join(struct path_command *c, struct attn_error *err)
{
	struct selection *s = &c->selected;
	size_t heads = selection_count(s->heads, c->in.info->shape.heads);
	if (s->join_layers)
		return attn_fail(
		    err, ATTN_USAGE,
		    "a path goes over layers, which '--layer %s' would join: give a list of them",
		    s->largest ? "max" : "mean");
	if (c->by_head && s->join_heads)
		return attn_fail(err, ATTN_USAGE,
				 "'--by-head' and '--head %s' cannot be combined: give one of them",
				 s->largest ? "max" : "mean");
	s->join_heads |= !c->by_head && heads > 1;
	return selection_show(s, &c->in, err);
}

/* --- output ------------------------------------------------------------------------------------ */

static enum attn_status open_table(struct path_command *c, struct attn_error *err)
{
	static const char *const names[] = {"path", "layer",     "head",   "query",  "query_token",
					    "key",  "key_token", "weight", "product"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(&c->table.columns, names[i]);
	if (c->in.info->has_batch)
		table_add_column(&c->table.columns, "batch");
	TRY(table_choose(&c->table.columns, c->columns, err));
	c->table.format = table_format_settle(c->format);
	table_writer_begin(&c->table, "links");
	return ATTN_OK;
}

static void add_link(struct path_command *c, size_t path, size_t layer, size_t batch, size_t query,
		     const struct path_link *link, double product)
{
	const struct rows_info *info = c->in.info;
	struct table_writer *w = &c->table;
	bool people = w->format == TABLE_TEXT;
	const struct string_list *queries = people ? &c->in.shown_queries : &info->query_labels;
	const struct string_list *keys = people ? &c->in.shown_keys : &info->key_labels;
	table_writer_count(w, path);
	table_writer_count(w, layer_number(info, layer));
	table_writer_name(w, head_number(info, link->head), info->joined_heads);
	table_writer_count(w, query_number(info, query));
	table_writer_text(w, queries->items[query]);
	table_writer_count(w, key_number(info, link->key));
	table_writer_text(w, keys->items[link->key]);
	table_writer_figure(w, (double)link->weight);
	table_writer_figure(w, product);
	if (info->has_batch)
		table_writer_count(w, batch);
	table_writer_end_row(w);
}

/* From the last layer down; the product is of the weights so far.  False: the token attends to nothing that
 * leads to the end. */
static bool add_path(struct path_command *c, size_t path, size_t batch, size_t query)
{
	double product = 1;
	for (size_t layer = c->in.info->shape.layers; layer-- > 0;) {
		const struct path_link *link = path_link_of(&c->path, layer, batch, query);
		if (link->key == SIZE_MAX)
			return false;
		product *= (double)link->weight;
		add_link(c, path, layer, batch, query, link, product);
		query = link->key;
	}
	return true;
}

static enum attn_status write_paths(struct path_command *c, const struct command *self,
				    struct attn_error *err)
{
	const struct rows_shape *shape = &c->in.info->shape;
	size_t paths = 0;
	for (size_t b = 0; b < shape->batch; b++)
		for (size_t q = 0; q < shape->queries && rows_chosen(c->selected.batch, b); q++)
			if (c->starts[q])
				paths += add_path(c, paths, b, q);
	table_writer_end(&c->table);
	TRY(c->table.out.failed ? attn_fail_memory(err) : write_text(self, "-", &c->table.out, err));
	return paths > 0
		   ? ATTN_OK
		   : attn_fail(err, ATTN_NO_MATCH, "no links lead from '%.100s' down to %s%.100s%s", c->token,
			       c->to ? "'" : "the first layer", c->to ? c->to : "", c->to ? "'" : "");
}

static enum attn_status inspect(struct path_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	struct row_consumer *consumers[] = {&c->path.consumer};
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE, "no token: give a token or '#index' (see '%s --help')",
				 self->title);
	if (c->greedy && c->to)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--greedy' and '--to' cannot be combined: where it ends is seen at the end");
	c->token = argv[0];
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(inputs_open(&c->in, self, argc - 1, argv + 1, err));
	TRY(check_shape(&c->in.info->shape, err));
	TRY(open_table(c, err));
	TRY(find_tokens(c, err));
	TRY(selection_open(&c->selected, &c->options, c->in.info, err));
	TRY(plan_weights(&c->in, &c->selected, err));
	TRY(join(c, err));
	const struct rows_selection rows = {.batch = c->selected.batch};
	TRY(path_consumer_init(&c->path, &c->in.info->shape, c->greedy, c->ends, err));
	TRY(progress_stream(self, c->in.rows.source, &rows, consumers, 1, err));
	return write_paths(c, self, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct path_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	path_consumer_release(&c.path);
	table_writer_release(&c.table);
	free(c.starts);
	free(c.ends);
	selection_release(&c.selected);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_path = {
    "path", run, "attn inspect path", "the strongest links of a token from layer to layer", usage, usage_end,
};
