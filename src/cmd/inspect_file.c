#include <stdio.h>
#include <string.h>

#include "cmd/ranking_output.h"
#include "files/input.h"
#include "util/buffer.h"

static const char usage[] =
    "usage: attn inspect file [options] FILE\n"
    "\n"
    "List what a file holds: tensors with their types and shapes, tokens, settings,\n"
    "and metadata that is no setting.\n"
    "FILE is JSON, npy, npz, safetensors, GGUF or text; '-' is standard input.\n"
    "\n"
    "      --text            aligned text [on a terminal]\n"
    "      --tsv             a table: kind name type shape value [elsewhere]\n"
    "      --json            one document\n"
    "      --jsonl           a line an item, with the table's names\n"
    "      --columns LIST    only these columns, in this order, such as name,shape [all]\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "attn inspect file samples/animal.safetensors\n";

static const struct option table[] = {TABLE_OPTIONS, QUIET_OPTION, HELP_OPTION, END_OPTION};

/* One thing in a file; empty strings where a column does not apply. */
struct item {
	const char *kind, *name;
	const char *type;
	const char *shape; /* "14,512": indices as JSON and NumPy list them */
	const char *value; /* a setting's, or a list as JSON */
	bool value_is_json;
};

/* A table in the making. */
struct listing {
	struct buffer text;
	enum table_format format;
	struct table_columns columns;
	struct table_row cells;
	size_t items; /* so far */
};

static void add_text_item(struct buffer *out, const struct item *item)
{
	buffer_printf(out, "%-8s ", item->kind);
	size_t start = out->length;
	buffer_add_clean(out, item->name);
	while (!out->failed && out->length - start < 18)
		buffer_add_char(out, ' ');
	buffer_add_char(out, ' ');
	start = out->length;
	buffer_add_clean(out, item->type);
	while (!out->failed && out->length - start < 9)
		buffer_add_char(out, ' ');
	buffer_printf(out, " %-14s ", item->shape);
	buffer_add_clean(out, item->value);
	buffer_add_char(out, '\n');
}

/* The cells as JSON; what does not apply is empty. */
static void add_json_cells(struct table_row *cells, const struct item *item)
{
	struct buffer *text = &cells->text;
	buffer_add_json_string(text, item->kind);
	table_end_cell(cells);
	buffer_add_json_string(text, item->name);
	table_end_cell(cells);
	if (item->type[0])
		buffer_add_json_string(text, item->type);
	table_end_cell(cells);
	if (strcmp(item->kind, "tensor") == 0 || (strcmp(item->kind, "other") == 0 && item->shape[0]))
		buffer_printf(text, "[%s]", item->shape);
	table_end_cell(cells);
	if (item->value_is_json)
		buffer_add_string(text, item->value);
	else if (item->value[0])
		buffer_add_json_string(text, item->value);
	table_end_cell(cells);
}

static void add_item(struct listing *l, const struct item *item)
{
	const char *const fields[] = {item->kind, item->name, item->type, item->shape, item->value};
	if (l->format == TABLE_JSON)
		buffer_add_string(&l->text, l->items ? ",\n  " : "\n  ");
	else if (l->format == TABLE_JSONL && l->items)
		buffer_add_char(&l->text, '\n');
	l->items++;
	table_row_clear(&l->cells);
	if (l->format == TABLE_TEXT) {
		add_text_item(&l->text, item);
	} else if (l->format == TABLE_TSV) {
		for (size_t i = 0; i < 5; i++) {
			buffer_add_tsv(&l->cells.text, fields[i]);
			table_end_cell(&l->cells);
		}
		table_add_tsv(&l->columns, &l->cells, &l->text);
	} else {
		add_json_cells(&l->cells, item);
		table_add_object(&l->columns, &l->cells, &l->text);
	}
}

/* "14,512" */
static void format_shape(int rank, const size_t *sizes, char *text, size_t size)
{
	size_t used = 0;
	text[0] = '\0';
	for (int axis = 0; axis < rank && used < size; axis++)
		used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? "," : "", sizes[axis]);
}

static void add_tensors(struct listing *l, const struct bundle *b)
{
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		char shape[200];
		format_shape(t->rank, t->shape, shape, sizeof shape);
		struct item item = {"tensor", t->name, dtype_name(t->dtype), shape, "", false};
		add_item(l, &item);
	}
}

static void add_texts(struct listing *l, const struct bundle *b)
{
	struct buffer list = BUFFER_INIT;
	char shape[32];
	for (size_t i = 0; i < b->text_count; i++) {
		const struct text *text = &b->texts[i];
		buffer_clear(&list);
		buffer_add_char(&list, '[');
		for (size_t j = 0; j < text->list.count; j++) {
			buffer_add_string(&list, j ? ", " : "");
			buffer_add_json_string(&list, text->list.items[j]);
		}
		buffer_add_char(&list, ']');
		snprintf(shape, sizeof shape, "%zu", text->list.count);
		struct item item = {"text", text->name, "string", shape, list.failed ? "" : list.data, true};
		l->text.failed |= list.failed;
		add_item(l, &item);
	}
	buffer_release(&list);
}

static void add_settings(struct listing *l, const struct bundle *b)
{
	for (size_t i = 0; i < b->setting_count; i++) {
		const struct setting *s = &b->settings[i];
		struct item item = {s->role ? "setting" : "metadata", s->name, "", "", s->value, false};
		add_item(l, &item);
	}
}

/* What the file holds and no role can be; what is called as one says why. */
static void add_others(struct listing *l, const struct bundle *b)
{
	for (size_t i = 0; i < b->other_count; i++) {
		const struct other *other = &b->others[i];
		char shape[200];
		format_shape(other->rank, other->shape, shape, sizeof shape);
		struct item item = {
		    "other", other->name, other->type, shape, other->value ? other->value : "", false};
		add_item(l, &item);
	}
}

static void add_file(struct listing *l, const struct bundle *b, const char *path, enum format format)
{
	struct buffer *out = &l->text;
	if (l->format == TABLE_JSON) {
		buffer_add_string(out, "{\"version\": 1, \"file\": ");
		buffer_add_json_string(out, path);
		buffer_printf(out, ", \"format\": \"%s\", \"items\": [", format_name(format));
	} else if (l->format == TABLE_TSV) {
		table_add_names(&l->columns, out);
	} else if (l->format == TABLE_TEXT) {
		buffer_add_clean(out, path);
		buffer_printf(out, ": %s, %zu tensor%s\n", format_name(format), b->tensor_count,
			      b->tensor_count == 1 ? "" : "s");
	}
	add_tensors(l, b);
	add_texts(l, b);
	add_settings(l, b);
	add_others(l, b);
	if (l->format == TABLE_JSON)
		buffer_add_string(out, l->items ? "\n]}\n" : "]}\n");
	else if (l->format == TABLE_JSONL && l->items)
		buffer_add_char(out, '\n');
}

static enum attn_status inspect(const struct command *self, const char *path, struct listing *l,
				struct attn_error *err)
{
	struct bundle bundle;
	enum format format;
	bundle_init(&bundle);
	enum attn_status status = input_read_file(&bundle, path, &format, err);
	if (status == ATTN_OK) {
		add_file(l, &bundle, path, format);
		status = write_text(self, "-", &l->text, err);
	}
	buffer_release(&l->text);
	table_row_release(&l->cells);
	bundle_release(&bundle);
	return status;
}

/* The table as it is asked for. */
static enum attn_status open_listing(struct listing *l, enum table_format format, const char *columns,
				     struct attn_error *err)
{
	static const char *const names[] = {"kind", "name", "type", "shape", "value"};
	*l = (struct listing){.text = BUFFER_INIT};
	TRY(table_format_columns(&format, columns, err));
	l->format = table_format_settle(format);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(&l->columns, names[i]);
	return table_choose(&l->columns, columns, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	enum table_format format = TABLE_DEFAULT;
	const char *columns = NULL;
	struct listing listing;
	int id;
	while ((id = options_next(&o, err)) != 0) {
		if (id < 0)
			return ATTN_USAGE;
		if (id == 'h' || id == OPTION_HELP)
			return print_usage(self, err);
		if (id == OPTION_COLUMNS)
			TRY(option_once(&o, &columns, err));
		else
			format = table_format_of(id);
	}
	if (argc - optind != 1)
		return attn_fail(err, ATTN_USAGE, "%d files are given, expected one (see '%s --help')",
				 argc - optind, self->title);
	TRY(open_listing(&listing, format, columns, err));
	return inspect(self, argv[optind], &listing, err);
}

const struct command command_inspect_file = {"file", run, "attn inspect file", "what a file holds",
					     usage,  NULL};
