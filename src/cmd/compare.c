/* attn compare: how the weights of two inputs differ, also as a check of one program by another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/ranking_output.h"
#include "consumers/difference.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn compare [options] A B\n"
    "       attn compare [options] --model DIR --text TEXT B\n"
    "\n"
    "Say how the weights of A and B differ: a line for each layer and head, with the largest\n"
    "difference and where it is, the mean one, and the Jensen-Shannon distance of rows.  A and B\n"
    "are files to compute from, stored results, or arrays that other programs stored, such as\n"
    "weights=w.npy; A may be a model and a text.\n"
    "\n"
    "      --tolerance ABS[,REL]\n"
    "                        exit status 1 where a weight a of A and b of B differ by more than\n"
    "                        ABS + REL |b| [0 for REL; any difference is fine]\n"
    "\n"
    "Output:\n"
    "      --pretty, --text  an aligned table, with a last line that sums up [on a terminal]\n"
    "      --tsv             a table of all columns [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a head, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as layer,head,largest [all]\n"
    "\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"attn compare samples/hand.json weights=torch.npy --tolerance 1e-6\n";

enum {
	OPTION_TOLERANCE = OPTION_OWN,
};

static const struct option table[] = {
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
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
	double absolute, relative;
	enum table_format format;
	const char *columns; /* --columns, or NULL */
	struct table_columns table;
	struct inputs a, b;
	struct difference_consumer difference;
};

/* --- options ------------------------------------------------------------------------ */

static enum attn_status parse_tolerance(struct compare_command *c, const struct options *o,
					struct attn_error *err)
{
	char first[40];
	size_t length = strcspn(o->value, ",");
	bool ok = length < sizeof first;
	c->tolerated = true;
	snprintf(first, sizeof first, "%.*s", (int)(ok ? length : 0), o->value);
	ok = ok && parse_number(first, &c->absolute) && c->absolute >= 0;
	if (ok && o->value[length])
		ok = parse_number(o->value + length + 1, &c->relative) && c->relative >= 0;
	return ok ? ATTN_OK : option_fail(o, "numbers from 0, such as 1e-6 or 1e-6,1e-5", err);
}

static enum attn_status parse(struct compare_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_TOLERANCE)
			status = parse_tolerance(c, o, err);
		else if (is_model_option(id))
			status = inputs_model_option(&c->a, id, o, err);
		else if (id == OPTION_COLUMNS)
			status = option_once(o, &c->columns, err);
		else if (id == OPTION_SETTING) {
			status = inputs_setting(&c->a, o, err);
			if (status == ATTN_OK)
				status = inputs_setting(&c->b, o, err);
		} else if (id < 0)
			status = ATTN_USAGE;
		else
			c->format = table_format_of(id);
	}
	return status;
}

/* --- both sides ------------------------------------------------------------------------ */

static enum attn_status check_size(const char *what, size_t a, size_t b, struct attn_error *err)
{
	return a == b
		   ? ATTN_OK
		   : attn_fail(err, ATTN_BAD_INPUT, "A has %zu %s and B %zu, expected the same", a, what, b);
}

static enum attn_status check_shapes(const struct rows_shape *a, const struct rows_shape *b,
				     struct attn_error *err)
{
	TRY(check_size("layers", a->layers, b->layers, err));
	TRY(check_size("batch items", a->batch, b->batch, err));
	TRY(check_size("heads", a->heads, b->heads, err));
	TRY(check_size("queries", a->queries, b->queries, err));
	return check_size("keys", a->keys, b->keys, err);
}

static enum attn_status open_both(struct compare_command *c, const struct command *self, int argc,
				  char **argv, struct attn_error *err)
{
	static const struct rows_want weights = {.weights = true};
	bool model = c->a.model_options.model != NULL;
	int expected = model ? 1 : 2;
	if (argc != expected)
		return attn_fail(err, ATTN_USAGE,
				 model ? "%d inputs beside '--model', expected one, B (see '%s --help')"
				       : "%d inputs, expected two, A and B (see '%s --help')",
				 argc, self->title);
	TRY(inputs_open(&c->a, self, model ? 0 : 1, argv, err));
	TRY(inputs_open(&c->b, self, 1, argv + expected - 1, err));
	TRY(check_shapes(&c->a.info->shape, &c->b.info->shape, err));
	TRY(inputs_plan(&c->a, NULL, weights, err));
	TRY(inputs_plan(&c->b, NULL, weights, err));
	struct row_source *other = c->b.rows.source;
	return other->start ? other->start(other, err) : ATTN_OK;
}

/* --- output ------------------------------------------------------------------------------ */

static const char *const names[] = {"layer",     "head", "largest",    "query",    "query_token", "key",
				    "key_token", "mean", "js_largest", "js_query", "js_mean",     "beyond"};

static enum attn_status columns(struct compare_command *c, struct attn_error *err)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(&c->table, names[i]);
	if (c->a.info->has_batch)
		table_add_column(&c->table, "batch");
	return table_choose(&c->table, c->columns, err);
}

static void add_number(struct table_row *row, double value)
{
	if (!isnan(value))
		buffer_printf(&row->text, "%.9g", value);
	table_end_cell(row);
}

static void add_count(struct table_row *row, size_t value)
{
	buffer_printf(&row->text, "%zu", value);
	table_end_cell(row);
}

static void add_token(struct table_row *row, const char *token, bool tsv)
{
	if (tsv)
		buffer_add_tsv(&row->text, token);
	else
		buffer_add_json_string(&row->text, token);
	table_end_cell(row);
}

/* The cells of head number `i` of all, in the order of `names`. */
static void add_cells(struct table_row *row, const struct compare_command *c, size_t i, bool tsv)
{
	const struct rows_info *info = c->a.info;
	const struct head_difference *h = &c->difference.heads[i];
	size_t head = i % info->shape.heads, batch = i / info->shape.heads % info->shape.batch;
	double rows = h->rows > 0 ? (double)h->rows : (double)NAN;
	table_row_clear(row);
	add_count(row, layer_number(info, i / info->shape.heads / info->shape.batch));
	add_count(row, head_number(info, head));
	add_number(row, h->largest);
	add_count(row, query_number(info, h->query));
	add_token(row, info->query_labels.items[h->query], tsv);
	add_count(row, key_number(info, h->key));
	add_token(row, info->key_labels.items[h->key], tsv);
	add_number(row, h->sum / (double)h->cells);
	add_number(row, h->rows > 0 ? h->js_largest : (double)NAN);
	if (h->rows > 0)
		buffer_printf(&row->text, "%zu", query_number(info, h->js_query));
	table_end_cell(row);
	add_number(row, h->js_sum / rows);
	add_count(row, h->beyond);
	if (info->has_batch)
		add_count(row, batch);
}

static size_t head_count(const struct compare_command *c)
{
	const struct rows_shape *shape = &c->a.info->shape;
	return shape->layers * shape->batch * shape->heads;
}

/* The head with the largest difference, the first of equals. */
static size_t worst_head(const struct compare_command *c)
{
	size_t worst = 0;
	for (size_t i = 1; i < head_count(c); i++)
		if (c->difference.heads[i].largest > c->difference.heads[worst].largest)
			worst = i;
	return worst;
}

/* "layer 2 head 3, it -> animal" */
static void add_place(struct buffer *text, const struct compare_command *c, size_t i)
{
	const struct rows_info *info = c->a.info;
	const struct head_difference *h = &c->difference.heads[i];
	char title[200];
	if (info->layer_known || info->has_layers)
		buffer_printf(text, "layer %zu ",
			      layer_number(info, i / info->shape.heads / info->shape.batch));
	if (info->has_batch)
		buffer_printf(text, "batch item %zu ", i / info->shape.heads % info->shape.batch);
	buffer_printf(text, "%s, %s -> %s", head_title(info, i % info->shape.heads, title, sizeof title),
		      c->a.shown_queries.items[h->query], c->a.shown_keys.items[h->key]);
}

static void add_table(struct buffer *text, const struct compare_command *c, enum table_format format)
{
	struct table_row row = {0};
	bool tsv = format == TABLE_TSV;
	if (tsv)
		table_add_names(&c->table, text);
	else if (format == TABLE_JSON)
		buffer_add_char(text, '[');
	for (size_t i = 0; i < head_count(c); i++) {
		add_cells(&row, c, i, tsv);
		if (format == TABLE_JSON && i > 0)
			buffer_add_string(text, ",\n ");
		if (tsv)
			table_add_tsv(&c->table, &row, text);
		else
			table_add_object(&c->table, &row, text);
		if (format == TABLE_JSONL)
			buffer_add_char(text, '\n');
		text->failed |= row.text.failed;
	}
	if (format == TABLE_JSON)
		buffer_add_string(text, "]\n");
	table_row_release(&row);
}

enum {
	SHOWN = 5 /* columns of a table for people */
};

static void figure_cells(const struct compare_command *c, size_t i, char cells[SHOWN][FIGURE_SIZE])
{
	const struct rows_info *info = c->a.info;
	const struct head_difference *h = &c->difference.heads[i];
	snprintf(cells[0], FIGURE_SIZE, "%zu", layer_number(info, i / info->shape.heads / info->shape.batch));
	snprintf(cells[1], FIGURE_SIZE, "%zu", head_number(info, i % info->shape.heads));
	figure_format(h->largest, cells[2]);
	figure_format(h->sum / (double)h->cells, cells[3]);
	if (h->rows > 0)
		figure_format(h->js_largest, cells[4]);
	else
		snprintf(cells[4], FIGURE_SIZE, "-");
}

static void add_text(struct buffer *text, const struct compare_command *c)
{
	static const char *const titles[SHOWN] = {"layer", "head", "largest", "mean", "JS"};
	struct column columns_of[SHOWN] = {{0}};
	char cells[SHOWN][FIGURE_SIZE];
	for (size_t k = 0; k < SHOWN; k++)
		column_measure(&columns_of[k], titles[k]);
	for (size_t i = 0; i < head_count(c); i++) {
		figure_cells(c, i, cells);
		for (size_t k = 0; k < SHOWN; k++)
			column_measure(&columns_of[k], cells[k]);
	}
	for (size_t k = 0; k < SHOWN; k++)
		column_add(&columns_of[k], text, titles[k]);
	columns_end(text);
	for (size_t i = 0; i < head_count(c); i++) {
		figure_cells(c, i, cells);
		for (size_t k = 0; k < SHOWN; k++)
			column_add(&columns_of[k], text, cells[k]);
		columns_end(text);
	}
	figure_format(c->difference.heads[worst_head(c)].largest, cells[0]);
	buffer_printf(text, "\nlargest difference %s: ", cells[0]);
	add_place(text, c, worst_head(c));
	buffer_add_char(text, '\n');
}

static enum attn_status write_differences(const struct compare_command *c, const struct command *self,
					  struct attn_error *err)
{
	enum table_format format = table_format_settle(c->format);
	struct buffer text = BUFFER_INIT;
	if (format == TABLE_TEXT)
		add_text(&text, c);
	else
		add_table(&text, c, format);
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}

/* --- the answer ------------------------------------------------------------------------------ */

static enum attn_status judge(const struct compare_command *c, struct attn_error *err)
{
	size_t beyond = 0, cells = 0, worst = worst_head(c);
	struct buffer place = BUFFER_INIT;
	for (size_t i = 0; i < head_count(c); i++) {
		beyond += c->difference.heads[i].beyond;
		cells += c->difference.heads[i].cells;
	}
	if (!c->tolerated || beyond == 0)
		return ATTN_OK;
	add_place(&place, c, worst);
	enum attn_status status =
	    place.failed
		? attn_fail_memory(err)
		: attn_fail(err, ATTN_NO_MATCH,
			    "%zu of %zu weights differ by more than %g + %g |b|, at most by %g: %s", beyond,
			    cells, c->absolute, c->relative, c->difference.heads[worst].largest, place.data);
	buffer_release(&place);
	return status;
}

static enum attn_status compare(struct compare_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	struct row_consumer *consumers[] = {&c->difference.consumer};
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(open_both(c, self, argc, argv, err));
	TRY(columns(c, err));
	TRY(difference_init(&c->difference, c->b.rows.source, c->absolute, c->relative, err));
	TRY(progress_stream(self, c->a.rows.source, NULL, consumers, 1, err));
	TRY(write_differences(c, self, err));
	return judge(c, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct compare_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : compare(&c, self, argc - optind, argv + optind, err);
	difference_release(&c.difference);
	inputs_release(&c.a);
	inputs_release(&c.b);
	return status;
}

const struct command command_compare = {
    "compare", run, "attn compare", "how the weights of two inputs differ", usage, usage_end,
};
