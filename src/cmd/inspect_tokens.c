#include <stdio.h>
#include <string.h>

#include "cmd/columns.h"
#include "cmd/model_options.h"
#include "cmd/ranking_output.h"
#include "tokenizer/tokenizer.h"
#include "tokens/token.h"

static const char usage[] =
    "usage: attn inspect tokens MODEL (--text TEXT | --text-file FILE) [options]\n"
    "\n"
    "Say what tokens a text becomes: their ids, what they are, and where they come from.\n"
    "MODEL is a folder with a tokenizer.json, or with a vocab.txt, or a vocab.json and a\n"
    "merges.txt; or one of these files.\n"
    "\n"
    "      --text TEXT       the text; or\n"
    "      --text-file FILE  a file with it, whose last line end is part of it; '-' for standard\n"
    "                        input\n"
    "      --text-pair TEXT  a second text, as a model of pairs has it\n"
    "      --no-special      without the special tokens that the tokenizer adds\n"
    "\n"
    "Output:\n"
    "      --pretty          an aligned table with visible spaces [on a terminal]\n"
    "      --tsv             a table: index id token start end special type [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a token, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as id,token [all]\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "start and end count code points of the text (of the pair, for its tokens).\n"
    "\n"
    "attn inspect tokens samples/stories260K --text 'Once upon a time'\n";

static const struct option table[] = {
    {"text", required_argument, NULL, OPTION_MODEL_TEXT},
    {"text-file", required_argument, NULL, OPTION_TEXT_FILE},
    {"text-pair", required_argument, NULL, OPTION_TEXT_PAIR},
    {"no-special", no_argument, NULL, OPTION_NO_SPECIAL},
    {"pretty", no_argument, NULL, OPTION_TEXT},
    {"tsv", no_argument, NULL, OPTION_TSV},
    {"json", no_argument, NULL, OPTION_JSON},
    {"jsonl", no_argument, NULL, OPTION_JSONL},
    {"columns", required_argument, NULL, OPTION_COLUMNS},
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

static const char *const names[] = {"index", "id", "token", "start", "end", "special", "type"};

enum {
	COLUMN_TOKEN = 2, /* of these */
	COLUMN_TYPE = 6,
	COLUMNS
};

struct tokens_command {
	bool help;
	struct model_options given; /* `model` is the operand */
	enum table_format format;
	const char *columns;
	struct table_columns table;
	struct encoding encoding;
	struct table_row cells;
	struct buffer out;
};

/* --- for programs -------------------------------------------------------------------- */

static void add_cells(struct tokens_command *c, size_t index)
{
	const struct token *t = &c->encoding.tokens[index];
	struct buffer *text = &c->cells.text;
	const size_t before[] = {index, t->id}, after[] = {t->start, t->end};
	table_row_clear(&c->cells);
	for (size_t i = 0; i < 2; i++) {
		buffer_printf(text, "%zu", before[i]);
		table_end_cell(&c->cells);
	}
	if (c->format == TABLE_TSV)
		buffer_add_tsv(text, t->text);
	else
		buffer_add_json_string(text, t->text);
	table_end_cell(&c->cells);
	for (size_t i = 0; i < 2; i++) {
		buffer_printf(text, "%zu", after[i]);
		table_end_cell(&c->cells);
	}
	buffer_add_string(text, t->special ? "true" : "false");
	table_end_cell(&c->cells);
	buffer_printf(text, "%u", (unsigned)t->type);
	table_end_cell(&c->cells);
}

static void add_table(struct tokens_command *c)
{
	struct buffer *out = &c->out;
	if (c->format == TABLE_TSV)
		table_add_names(&c->table, out);
	else if (c->format == TABLE_JSON)
		buffer_add_string(out, "{\"version\": 1, \"tokens\": [");
	for (size_t i = 0; i < c->encoding.count; i++) {
		add_cells(c, i);
		if (c->format == TABLE_JSON)
			buffer_add_string(out, i ? ",\n  " : "\n  ");
		if (c->format == TABLE_TSV)
			table_add_tsv(&c->table, &c->cells, out);
		else
			table_add_object(&c->table, &c->cells, out);
		if (c->format == TABLE_JSONL)
			buffer_add_char(out, '\n');
	}
	if (c->format == TABLE_JSON)
		buffer_add_string(out, c->encoding.count ? "\n]}\n" : "]}\n");
}

/* --- for people ---------------------------------------------------------------------- */

/* A token with its spaces visible, and bytes that stand for characters as these.  False: no memory. */
static bool show_token(const char *token, bool bytes, struct buffer *out)
{
	struct buffer raw = BUFFER_INIT, visible = BUFFER_INIT;
	if (bytes)
		token_add_bytes(&raw, token);
	else
		buffer_add_string(&raw, token);
	if (!raw.failed)
		token_add_visible(&visible, raw.data ? raw.data : "", raw.length, true);
	if (!visible.failed)
		buffer_add_clean(out, visible.data ? visible.data : "");
	out->failed |= raw.failed || visible.failed;
	buffer_release(&raw);
	buffer_release(&visible);
	return !out->failed;
}

/* All cells as people read them, line by line, the names first. */
static bool find_cells(const struct tokens_command *c, struct string_list *cells)
{
	struct string_list raw = {0};
	struct buffer shown = BUFFER_INIT;
	bool ok = true;
	for (size_t i = 0; i < COLUMNS && ok; i++)
		ok = string_list_add(cells, names[i]);
	for (size_t i = 0; i < c->encoding.count && ok; i++)
		ok = string_list_add(&raw, c->encoding.tokens[i].text);
	bool bytes = ok && tokens_byte_level(&raw);
	for (size_t i = 0; i < c->encoding.count && ok; i++) {
		const struct token *t = &c->encoding.tokens[i];
		const size_t numbers[COLUMNS] = {i, t->id, 0, t->start, t->end, 0, t->type};
		buffer_clear(&shown);
		ok = show_token(t->text, bytes, &shown);
		for (size_t column = 0; column < COLUMNS && ok; column++) {
			char number[24];
			snprintf(number, sizeof number, "%zu", numbers[column]);
			const char *word = column == COLUMN_TOKEN ? shown.data : t->special ? "yes" : "";
			bool counts = column != COLUMN_TOKEN && strcmp(names[column], "special") != 0;
			ok = string_list_add(cells, counts ? number : word ? word : "");
		}
	}
	string_list_release(&raw);
	buffer_release(&shown);
	return ok;
}

static void add_pretty(struct tokens_command *c)
{
	struct column columns[COLUMNS] = {[COLUMN_TOKEN] = {.left = true}};
	struct string_list cells = {0};
	bool ok = find_cells(c, &cells);
	size_t shown = c->given.pair ? COLUMNS : COLUMN_TYPE;
	for (size_t i = 0; i < cells.count && ok; i++)
		column_measure(&columns[i % COLUMNS], cells.items[i]);
	for (size_t i = 0; i < cells.count && ok; i++) {
		if (i % COLUMNS < shown)
			column_add(&columns[i % COLUMNS], &c->out, cells.items[i]);
		if (i % COLUMNS == COLUMNS - 1)
			columns_end(&c->out);
	}
	c->out.failed |= !ok;
	string_list_release(&cells);
}

/* --- the command ----------------------------------------------------------------------- */

static enum attn_status parse(struct tokens_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id < 0)
			return ATTN_USAGE;
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (is_model_option(id))
			status = model_option(&c->given, id, o, err);
		else if (id == OPTION_COLUMNS)
			status = option_once(o, &c->columns, err);
		else
			c->format = table_format_of(id);
	}
	return status;
}

static enum attn_status validate(struct tokens_command *c, const struct command *self, int argc, char **argv,
				 struct attn_error *err)
{
	if (argc != 1)
		return attn_fail(err, ATTN_USAGE, "%d models are given, expected one (see '%s --help')", argc,
				 self->title);
	if (!c->given.text && !c->given.file)
		return attn_fail(err, ATTN_USAGE, "no text: give --text TEXT or --text-file FILE");
	c->given.model = argv[0];
	TRY(model_options_check(&c->given, err));
	if (c->columns && c->format == TABLE_TEXT)
		return attn_fail(err, ATTN_USAGE,
				 "'--columns' is for tables, and '--pretty' is none: give --tsv, --json or "
				 "--jsonl");
	if (c->columns && c->format == TABLE_DEFAULT)
		c->format = TABLE_TSV;
	c->format = table_format_settle(c->format);
	for (size_t i = 0; i < COLUMNS; i++)
		table_add_column(&c->table, names[i]);
	return table_choose(&c->table, c->columns, err);
}

static enum attn_status encode(struct tokens_command *c, struct attn_error *err)
{
	const char *pair = c->given.pair;
	struct tokenizer *tokenizer = NULL;
	struct buffer text = BUFFER_INIT;
	enum attn_status status = tokenizer_open(&tokenizer, c->given.model, err);
	if (status == ATTN_OK)
		status = model_options_text(&c->given, &text, err);
	if (status == ATTN_OK)
		status = tokenizer_encode(tokenizer, text.data ? text.data : "", text.length, pair,
					  pair ? strlen(pair) : 0, !c->given.no_special, &c->encoding, err);
	buffer_release(&text);
	tokenizer_free(tokenizer);
	return status;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "h", .table = table};
	struct tokens_command c = {.out = BUFFER_INIT};
	TRY(parse(&c, &o, err));
	if (c.help)
		return print_usage(self, err);
	TRY(validate(&c, self, argc - optind, argv + optind, err));
	enum attn_status status = encode(&c, err);
	if (status == ATTN_OK) {
		if (c.format == TABLE_TEXT)
			add_pretty(&c);
		else
			add_table(&c);
		status = write_text(self, "-", &c.out, err);
	}
	encoding_release(&c.encoding);
	table_row_release(&c.cells);
	buffer_release(&c.out);
	return status;
}

const struct command command_inspect_tokens = {
    "tokens", run, "attn inspect tokens", "what tokens a text becomes", usage, NULL};
