#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ranking_output.h"
#include "model/summary.h"
#include "tokenizer/tokenizer.h"
#include "util/minmax.h"

static const char usage[] =
    "usage: attn inspect model [options] MODEL\n"
    "\n"
    "Say what a model is: its family, layers, heads and other sizes, its parameters and how they\n"
    "are stored, its tokenizer, and whether attention can be computed with it.\n"
    "MODEL is a folder with config.json and model.safetensors, or with shards and their index;\n"
    "or a GGUF file.\n"
    "\n"
    "      --text            aligned text [on a terminal]\n"
    "      --tsv             a table: name value [elsewhere]\n"
    "      --json            one document\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "attn inspect model samples/stories260K\n";

static const struct option table[] = {{"text", no_argument, NULL, OPTION_TEXT},
				      {"tsv", no_argument, NULL, OPTION_TSV},
				      {"json", no_argument, NULL, OPTION_JSON},
				      QUIET_OPTION,
				      HELP_OPTION,
				      END_OPTION};

struct model_view {
	const char *path;
	struct model_summary s;
	struct tokenizer *tokenizer;     /* NULL where there is none that is supported */
	struct attn_error tokenizer_why; /* and why not */
};

static const char *family_title(const struct model_view *v)
{
	const struct family *family = v->s.model_type ? family_find(v->s.model_type) : NULL;
	return family ? family->title : NULL;
}

struct size_line {
	const char *name;
	size_t value; /* 0: left out */
};

enum {
	SIZE_LINES = 13,
	FILES_SHOWN = 4 /* at most, to people */
};

/* All sizes there are, under the names that programs read. */
static size_t size_lines(const struct model_summary *s, struct size_line lines[SIZE_LINES])
{
	const struct size_line all[SIZE_LINES] = {
	    {"layers", s->layers},
	    {"decoder_layers", s->decoder_layers},
	    {"heads", s->heads},
	    {"kv_heads", s->kv_heads},
	    {"head_size", s->head_size},
	    {"width", s->width},
	    {"feed_forward", s->feed_forward},
	    {"vocabulary", s->vocabulary},
	    {"positions", s->positions},
	    {"window", s->window},
	    {"parameters", s->parameters},
	    {"tensors", s->tensors},
	    {"bytes", s->bytes},
	};
	size_t count = 0;
	for (size_t i = 0; i < SIZE_LINES; i++)
		if (all[i].value > 0)
			lines[count++] = all[i];
	return count;
}

/* --- for programs -------------------------------------------------------------------------- */

static void add_json_text(struct buffer *out, const char *name, const char *text)
{
	if (!text)
		return;
	buffer_printf(out, ",\n \"%s\": ", name);
	buffer_add_json_string(out, text);
}

static void add_json_lists(struct buffer *out, const struct model_summary *s)
{
	size_t bytes;
	buffer_add_string(out, ",\n \"types\": [");
	for (size_t i = 0; i < s->type_count; i++) {
		const struct summary_type *t = &s->types[i];
		buffer_add_string(out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
		buffer_add_json_string(out, t->name);
		buffer_printf(out, ", \"tensors\": %zu, \"parameters\": %zu, \"bytes\": %zu}", t->tensors,
			      t->parameters, t->bytes);
	}
	buffer_add_string(out, "],\n \"files\": [");
	for (size_t i = 0; i < checkpoint_files(s->checkpoint); i++) {
		buffer_add_string(out, i ? ",\n  {\"path\": " : "\n  {\"path\": ");
		buffer_add_json_string(out, checkpoint_file(s->checkpoint, i, &bytes));
		buffer_printf(out, ", \"bytes\": %zu}", bytes);
	}
	buffer_add_char(out, ']');
}

static void add_json(struct buffer *out, const struct model_view *v)
{
	struct size_line lines[SIZE_LINES];
	size_t count = size_lines(&v->s, lines);
	buffer_add_string(out, "{\"version\": 1,\n \"model\": ");
	buffer_add_json_string(out, v->path);
	add_json_text(out, "model_type", v->s.model_type);
	add_json_text(out, "family", family_title(v));
	buffer_printf(out, ",\n \"supported\": %s", v->s.model ? "true" : "false");
	add_json_text(out, "reason", v->s.model ? NULL : v->s.why.message);
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, ",\n \"%s\": %zu", lines[i].name, lines[i].value);
	add_json_lists(out, &v->s);
	if (v->tokenizer) {
		add_json_text(out, "tokenizer", tokenizer_kind(v->tokenizer));
		buffer_printf(out, ",\n \"tokens\": %zu", tokenizer_size(v->tokenizer));
	} else {
		add_json_text(out, "tokenizer_reason", v->tokenizer_why.message);
	}
	buffer_add_string(out, "}\n");
}

static void add_tsv_line(struct buffer *out, const char *name, const char *value)
{
	if (!value)
		return;
	buffer_printf(out, "%s\t", name);
	buffer_add_tsv(out, value);
	buffer_add_char(out, '\n');
}

static void add_tsv(struct buffer *out, const struct model_view *v)
{
	struct size_line lines[SIZE_LINES];
	size_t count = size_lines(&v->s, lines), bytes;
	buffer_add_string(out, "name\tvalue\n");
	add_tsv_line(out, "model_type", v->s.model_type);
	add_tsv_line(out, "family", family_title(v));
	add_tsv_line(out, "supported", v->s.model ? "true" : "false");
	add_tsv_line(out, "reason", v->s.model ? NULL : v->s.why.message);
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s\t%zu\n", lines[i].name, lines[i].value);
	for (size_t i = 0; i < v->s.type_count; i++)
		add_tsv_line(out, "type", v->s.types[i].name);
	for (size_t i = 0; i < checkpoint_files(v->s.checkpoint); i++)
		add_tsv_line(out, "file", checkpoint_file(v->s.checkpoint, i, &bytes));
	if (v->tokenizer) {
		add_tsv_line(out, "tokenizer", tokenizer_kind(v->tokenizer));
		buffer_printf(out, "tokens\t%zu\n", tokenizer_size(v->tokenizer));
	} else {
		add_tsv_line(out, "tokenizer_reason", v->tokenizer_why.message);
	}
}

/* --- for people ---------------------------------------------------------------------------- */

/* 260,032 */
static void add_grouped(struct buffer *out, size_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%zu", value);
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			buffer_add_char(out, ',');
		buffer_add_char(out, digits[i]);
	}
}

static void add_label(struct buffer *out, const char *label)
{
	buffer_printf(out, "%-14s", label);
}

static void add_number_line(struct buffer *out, const char *label, size_t value, const char *unit)
{
	if (value == 0)
		return;
	add_label(out, label);
	add_grouped(out, value);
	buffer_printf(out, "%s\n", unit);
}

static void add_family(struct buffer *out, const struct model_view *v)
{
	const char *title = family_title(v);
	add_label(out, "family");
	buffer_add_clean(out, title ? title : v->s.model_type ? v->s.model_type : "not said");
	if (v->s.model)
		buffer_add_string(out, v->s.model->encoder            ? ", an encoder and a decoder"
				       : v->s.model->a.family->causal ? ", a decoder"
								      : ", an encoder");
	buffer_add_string(out, v->s.model ? "\nsupported     yes\n" : "\nsupported     no: ");
	if (v->s.model)
		return;
	buffer_add_clean(out, v->s.why.message);
	buffer_add_char(out, '\n');
}

static void add_sizes(struct buffer *out, const struct model_summary *s)
{
	add_number_line(out, "layers", s->layers, s->decoder_layers ? " of the encoder" : "");
	add_number_line(out, "", s->decoder_layers, " of the decoder");
	if (s->heads > 0) {
		add_label(out, "heads");
		add_grouped(out, s->heads);
		if (s->kv_heads != s->heads)
			buffer_printf(out, " of queries, %zu of keys and values", s->kv_heads);
		if (s->head_size > 0)
			buffer_printf(out, ", each of %zu dimensions", s->head_size);
		buffer_add_char(out, '\n');
	}
	add_number_line(out, "width", s->width, "");
	add_number_line(out, "feed-forward", s->feed_forward, "");
	add_number_line(out, "positions", s->positions, "");
	add_number_line(out, "window", s->window, "");
	add_number_line(out, "vocabulary", s->vocabulary, "");
}

static void add_weights(struct buffer *out, const struct model_summary *s)
{
	size_t files = checkpoint_files(s->checkpoint), bytes;
	add_label(out, "parameters");
	add_grouped(out, s->parameters);
	buffer_printf(out, " in %zu tensor%s\n", s->tensors, s->tensors == 1 ? "" : "s");
	for (size_t i = 0; i < s->type_count; i++) {
		add_label(out, i ? "" : "weights");
		buffer_add_clean(out, s->types[i].name);
		buffer_add_string(out, ", ");
		buffer_add_size(out, (double)s->types[i].bytes);
		buffer_add_char(out, '\n');
	}
	for (size_t i = 0; i < files; i++) {
		bool some = files > FILES_SHOWN && i == 1; /* and then the last */
		add_label(out, i ? "" : files == 1 ? "file" : "files");
		if (some)
			buffer_printf(out, "... (%zu more)", files - 2);
		else
			buffer_add_clean(out, checkpoint_file(s->checkpoint, i, &bytes));
		buffer_add_char(out, '\n');
		i = some ? files - 2 : i;
	}
}

static void add_text(struct buffer *out, const struct model_view *v)
{
	add_family(out, v);
	add_sizes(out, &v->s);
	add_weights(out, &v->s);
	add_label(out, "tokenizer");
	if (v->tokenizer) {
		buffer_printf(out, "%s of ", tokenizer_kind(v->tokenizer));
		add_grouped(out, tokenizer_size(v->tokenizer));
		buffer_add_string(out, " tokens\n");
	} else {
		buffer_add_clean(out, v->tokenizer_why.message);
		buffer_add_char(out, '\n');
	}
}

/* --- the command --------------------------------------------------------------------------- */

/* Beside config.json, or in the GGUF file. */
static void open_tokenizer(struct model_view *v)
{
	const char *config = config_origin(checkpoint_config(v->s.checkpoint)), *slash = strrchr(config, '/');
	size_t length = checkpoint_is_gguf(v->s.checkpoint) ? strlen(config)
			: slash                             ? size_max((size_t)(slash - config), 1)
							    : 0;
	char *path = length ? strndup(config, length) : strdup(".");
	if (path)
		tokenizer_open(&v->tokenizer, path, &v->tokenizer_why);
	else
		attn_fail_memory(&v->tokenizer_why);
	free(path);
}

static enum attn_status inspect(const struct command *self, struct model_view *v, enum table_format format,
				struct attn_error *err)
{
	struct buffer out = BUFFER_INIT;
	enum attn_status status = model_summary_open(&v->s, v->path, err);
	if (status == ATTN_OK) {
		open_tokenizer(v);
		if (format == TABLE_JSON)
			add_json(&out, v);
		else if (format == TABLE_TSV)
			add_tsv(&out, v);
		else
			add_text(&out, v);
		status = write_text(self, "-", &out, err);
	}
	buffer_release(&out);
	tokenizer_free(v->tokenizer);
	model_summary_release(&v->s);
	return status;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct model_view view = {0};
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
		return attn_fail(err, ATTN_USAGE, "%d models are given, expected one (see '%s --help')",
				 argc - optind, self->title);
	view.path = argv[optind];
	return inspect(self, &view, table_format_settle(format), err);
}

const struct command command_inspect_model = {
    "model", run, "attn inspect model", "what a model is, and whether it is supported", usage, NULL};
