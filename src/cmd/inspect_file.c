#include <stdio.h>
#include <string.h>

#include "cmd/ranking_output.h"
#include "files/input.h"
#include "util/buffer.h"

static const char usage[] = "usage: attn inspect file [options] FILE\n"
			    "\n"
			    "List what a file holds: tensors with their types and shapes, tokens, settings,\n"
			    "and metadata that is no setting.\n"
			    "FILE is JSON, npy, npz or safetensors; '-' is standard input.\n"
			    "\n"
			    "      --text            aligned text [on a terminal]\n"
			    "      --tsv             a table: kind name type shape value [elsewhere]\n"
			    "      --json            one document\n"
			    "      --jsonl           a line an item, with the table's names\n"
			    "  -h, --help            show this help\n"
			    "\n"
			    "attn inspect file samples/animal.safetensors\n";

static const struct option table[] = {TABLE_OPTIONS, HELP_OPTION, END_OPTION};

/* One thing in a file; empty strings where a column does not apply. */
struct item {
	const char *kind, *name;
	const char *type;
	const char *shape; /* "14,512": indices as JSON and NumPy list them */
	const char *value; /* a setting's, or a list as JSON */
	bool value_is_json;
};

static void add_item(struct buffer *out, const struct item *item, enum table_format format)
{
	if (format == TABLE_TSV) {
		const char *const fields[] = {item->kind, item->name, item->type, item->shape, item->value};
		for (size_t i = 0; i < 5; i++) {
			buffer_add_tsv(out, fields[i]);
			buffer_add_char(out, i < 4 ? '\t' : '\n');
		}
		return;
	}
	if (format == TABLE_TEXT) {
		buffer_printf(out, "%-8s ", item->kind);
		size_t start = out->length;
		buffer_add_clean(out, item->name);
		while (!out->failed && out->length - start < 18)
			buffer_add_char(out, ' ');
		buffer_printf(out, " %-9s %-14s ", item->type, item->shape);
		buffer_add_clean(out, item->value);
		buffer_add_char(out, '\n');
		return;
	}
	buffer_printf(out, "{\"kind\": \"%s\", \"name\": ", item->kind);
	buffer_add_json_string(out, item->name);
	if (item->type[0])
		buffer_printf(out, ", \"type\": \"%s\"", item->type);
	if (strcmp(item->kind, "tensor") == 0)
		buffer_printf(out, ", \"shape\": [%s]", item->shape);
	if (item->value_is_json)
		buffer_printf(out, ", \"value\": %s", item->value);
	else if (item->value[0]) {
		buffer_add_string(out, ", \"value\": ");
		buffer_add_json_string(out, item->value);
	}
	buffer_add_char(out, '}');
}

/* Between items, and around them. */
static void add_separator(struct buffer *out, enum table_format format, size_t before)
{
	if (format == TABLE_JSON)
		buffer_add_string(out, before ? ",\n  " : "\n  ");
	else if (format == TABLE_JSONL && before)
		buffer_add_char(out, '\n');
}

static void add_tensors(struct buffer *out, const struct bundle *b, enum table_format format, size_t *count)
{
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		char shape[200] = "";
		size_t used = 0;
		for (int axis = 0; axis < t->rank && used < sizeof shape; axis++)
			used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu", axis ? "," : "",
						 t->shape[axis]);
		struct item item = {"tensor", t->name, dtype_name(t->dtype), shape, "", false};
		add_separator(out, format, (*count)++);
		add_item(out, &item, format);
	}
}

static void add_texts(struct buffer *out, const struct bundle *b, enum table_format format, size_t *count)
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
		out->failed |= list.failed;
		add_separator(out, format, (*count)++);
		add_item(out, &item, format);
	}
	buffer_release(&list);
}

static void add_settings(struct buffer *out, const struct bundle *b, enum table_format format, size_t *count)
{
	for (size_t i = 0; i < b->setting_count; i++) {
		const struct setting *s = &b->settings[i];
		struct item item = {s->role ? "setting" : "metadata", s->name, "", "", s->value, false};
		add_separator(out, format, (*count)++);
		add_item(out, &item, format);
	}
}

static void add_file(struct buffer *out, const struct bundle *b, const char *path, enum format format,
		     enum table_format table_format)
{
	size_t count = 0;
	if (table_format == TABLE_JSON) {
		buffer_add_string(out, "{\"version\": 1, \"file\": ");
		buffer_add_json_string(out, path);
		buffer_printf(out, ", \"format\": \"%s\", \"items\": [", format_name(format));
	} else if (table_format == TABLE_TSV) {
		buffer_add_string(out, "kind\tname\ttype\tshape\tvalue\n");
	} else if (table_format == TABLE_TEXT) {
		buffer_add_clean(out, path);
		buffer_printf(out, ": %s, %zu tensor%s\n", format_name(format), b->tensor_count,
			      b->tensor_count == 1 ? "" : "s");
	}
	add_tensors(out, b, table_format, &count);
	add_texts(out, b, table_format, &count);
	add_settings(out, b, table_format, &count);
	if (table_format == TABLE_JSON)
		buffer_add_string(out, count ? "\n]}\n" : "]}\n");
	else if (table_format == TABLE_JSONL && count)
		buffer_add_char(out, '\n');
}

static enum attn_status inspect(const struct command *self, const char *path, enum table_format table_format,
				struct attn_error *err)
{
	struct bundle bundle;
	struct buffer text = BUFFER_INIT;
	enum format format;
	bundle_init(&bundle);
	enum attn_status status = input_read_file(&bundle, path, &format, err);
	if (status == ATTN_OK) {
		add_file(&text, &bundle, path, format, table_format_settle(table_format));
		status = write_text(self, "-", &text, err);
	}
	buffer_release(&text);
	bundle_release(&bundle);
	return status;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	enum table_format format = TABLE_DEFAULT;
	int id;
	while ((id = options_next(&o, err)) != 0) {
		if (id < 0)
			return ATTN_USAGE;
		if (id == 'h' || id == OPTION_HELP)
			return print_usage(self, err);
		format = table_format_of(id);
	}
	if (argc - optind != 1)
		return attn_fail(err, ATTN_USAGE, "%d files are given, expected one (see '%s --help')",
				 argc - optind, self->title);
	return inspect(self, argv[optind], format, err);
}

const struct command command_inspect_file = {"file", run, "attn inspect file", "what a file holds",
					     usage,  NULL};
