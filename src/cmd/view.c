/* attn view: one web page that shows weights. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/view_options.h"
#include "consumers/page_rows.h"
#include "draw/heatmap/colormap.h"
#include "draw/page/document.h"
#include "files/output.h"
#include "util/checked.h"

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
    "      --layer LIST      layers of a stored result or model; mean or max of all [all]\n"
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
	struct page_coding coding;
	struct page_rows rows;
	struct output out;
	char **operands;
	size_t operand_count;
};

/* The name of an operand's file: what stands after its last slash, and before its tensor. */
static void add_file_name(struct buffer *name, const char *operand)
{
	const char *equals = strchr(operand, '=');
	const char *file = equals && !memchr(operand, '/', (size_t)(equals - operand)) ? equals + 1 : operand;
	const char *slash = strrchr(file, '/');
	if (slash && slash[1])
		file = slash + 1;
	const char *colon = equals ? strchr(file, ':') : NULL;
	if (strcmp(file, "-") == 0)
		buffer_add_string(name, "standard input");
	else
		buffer_add(name, file, colon ? (size_t)(colon - file) : strlen(file));
}

/* "bert" of "models/bert/". */
static void add_folder_name(struct buffer *name, const char *path)
{
	size_t end = strlen(path);
	while (end > 1 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	buffer_add(name, path + start, end - start);
	buffer_add(name, "", 0);
}

/* Names without repetition: a checkpoint is often bound role by role. */
static bool find_names(const struct view_command *c, struct string_list *names)
{
	struct buffer name = BUFFER_INIT;
	bool ok = true;
	for (size_t i = 0; i < c->operand_count && ok; i++) {
		bool known = false;
		buffer_clear(&name);
		add_file_name(&name, c->operands[i]);
		buffer_add(&name, "", 0);
		ok = !name.failed;
		for (size_t n = 0; n < names->count && ok; n++)
			known |= strcmp(names->items[n], name.data) == 0;
		if (ok && !known)
			ok = string_list_add(names, name.data);
	}
	if (c->in.model_options.model) {
		buffer_clear(&name);
		add_folder_name(&name, c->in.model_options.model);
		ok = ok && !name.failed && string_list_add(names, name.data);
	}
	buffer_release(&name);
	return ok;
}

/* ": Once upon a time, there was ...": how the model's text begins. */
static void add_text_start(struct buffer *title, const char *text)
{
	enum {
		MOST = 80
	};
	size_t length = strcspn(text, "\n"), end = length;
	if (length > MOST)
		for (end = MOST; end > MOST / 2 && text[end] != ' '; end--)
			;
	if (length > MOST && text[end] != ' ')
		return; /* nowhere to cut */
	buffer_printf(title, ": %.*s%s", (int)end, text, end < strlen(text) ? " ..." : "");
}

static void add_strings(struct buffer *json, const char *name, const struct string_list *list)
{
	buffer_printf(json, ",\n\"%s\": [", name);
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			buffer_add_char(json, ',');
		page_add_json_string(json, list->items[i]);
	}
	buffer_add_char(json, ']');
}

static bool same_strings(const struct string_list *a, const struct string_list *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; i < a->count && same; i++)
		same = strcmp(a->items[i], b->items[i]) == 0;
	return same;
}

/* Labels as they are shown, and raw where those differ; the keys' where they are not the
 * queries'. */
static void add_tokens(struct buffer *json, const struct inputs *in)
{
	const struct rows_info *info = in->info;
	add_strings(json, "queryTokens", &in->shown_queries);
	if (!same_strings(&in->shown_queries, &info->query_labels))
		add_strings(json, "queryRaw", &info->query_labels);
	if (same_strings(&info->query_labels, &info->key_labels) && !info->shape.cross)
		return;
	add_strings(json, "keyTokens", &in->shown_keys);
	if (!same_strings(&in->shown_keys, &info->key_labels))
		add_strings(json, "keyRaw", &info->key_labels);
}

/* An axis that is joined to one: [[0, name]]. */
static void add_joined(struct buffer *json, const char *name, const char *joined)
{
	buffer_printf(json, ",\n\"%s\": [[0,", name);
	page_add_json_string(json, joined);
	buffer_add_string(json, "]]");
}

/* Items of an axis that are chosen: [[index, number or name], ...]; alone: [index, ...]. */
static void add_axis(struct buffer *json, const char *name, const bool *chosen, size_t count, size_t first,
		     const struct string_list *names, bool alone)
{
	const char *between = "";
	buffer_printf(json, ",\n\"%s\": [", name);
	for (size_t i = 0; i < count; i++) {
		if (!rows_chosen(chosen, i))
			continue;
		buffer_printf(json, alone ? "%s%zu" : "%s[%zu,", between, i);
		if (names && i < names->count)
			page_add_json_string(json, names->items[i]);
		else if (!alone)
			buffer_printf(json, names ? "\"%zu\"" : "%zu", first + i);
		if (!alone)
			buffer_add_char(json, ']');
		between = ",";
	}
	buffer_add_char(json, ']');
}

/* The colour maps, in steps fine enough to be interpolated. */
static void add_maps(struct buffer *json)
{
	enum {
		STEPS = 33
	};
	struct rgb colours[STEPS];
	buffer_add_string(json, ",\n\"maps\": {");
	for (size_t i = 0; i < colormap_count(); i++) {
		colormap_fill(colormap_find(colormap_name(i)), BACKGROUND_LIGHT, colours, STEPS);
		buffer_printf(json, "%s\"%s\": [", i ? "," : "", colormap_name(i));
		for (size_t c = 0; c < STEPS; c++)
			buffer_printf(json, "%s\"#%02x%02x%02x\"", c ? "," : "", colours[c].r, colours[c].g,
				      colours[c].b);
		buffer_add_char(json, ']');
	}
	buffer_add_char(json, '}');
}

static const char *flag(bool value)
{
	return value ? "true" : "false";
}

/* What the page knows before its weights. */
static void add_meta(struct buffer *json, const struct view_command *c, const char *title,
		     const struct string_list *names)
{
	const struct rows_info *info = c->in.info;
	const struct page_coding *coding = &c->coding;
	buffer_add_string(json, "{\"title\": ");
	page_add_json_string(json, title);
	buffer_printf(json, ",\n\"program\": \"attn %s\"", ATTN_VERSION);
	add_strings(json, "inputs", names);
	buffer_printf(json, ",\n\"queries\": %zu, \"keys\": %zu, \"cross\": %s, \"signed\": %s",
		      info->shape.queries, info->shape.keys, flag(info->shape.cross),
		      flag(info->shape.signed_weights));
	buffer_printf(json, ", \"hasTokens\": %s, \"hasBatch\": %s, \"layerKnown\": %s",
		      flag(info->has_tokens), flag(info->has_batch),
		      flag(info->layer_known || info->joined_layers));
	if (info->joined_heads)
		buffer_add_string(json, ", \"joinedHeads\": true");
	buffer_printf(json, ",\n\"bits\": %zu, \"levels\": %zu, \"top\": %zu, \"error\": %.8f", coding->bits,
		      page_levels(coding), coding->top, page_error(coding));
	if (info->joined_layers)
		add_joined(json, "layers", info->joined_layers);
	else
		add_axis(json, "layers", c->selected.layers, info->shape.layers, info->first_layer, NULL,
			 false);
	add_axis(json, "batches", c->selected.batch, info->shape.batch, 0, NULL, true);
	if (info->joined_heads)
		add_joined(json, "heads", info->joined_heads);
	else
		add_axis(json, "heads", c->selected.heads, info->shape.heads, 0, &info->head_names, false);
	add_tokens(json, &c->in);
	add_maps(json);
	buffer_add_string(json, "}");
}

/* The page up to its weights. */
static enum attn_status begin(struct view_command *c, struct buffer *page, struct attn_error *err)
{
	struct string_list names = {0};
	struct buffer title = BUFFER_INIT, meta = BUFFER_INIT;
	bool ok = find_names(c, &names);
	if (c->title)
		buffer_add_string(&title, c->title);
	for (size_t i = 0; i < names.count && !c->title; i++)
		buffer_printf(&title, "%s%s", i ? ", " : "", names.items[i]);
	if (!c->title && c->in.model_options.text)
		add_text_start(&title, c->in.model_options.text);
	buffer_add(&title, "", 0);
	if (ok && !title.failed)
		add_meta(&meta, c, title.data, &names);
	enum attn_status status = ok && !title.failed && !meta.failed
				      ? page_begin(page, title.data, meta.data, err)
				      : attn_fail_memory(err);
	string_list_release(&names);
	buffer_release(&title);
	buffer_release(&meta);
	return status;
}

static size_t count_chosen(const bool *chosen, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += rows_chosen(chosen, i);
	return found;
}

static enum attn_status choose_coding(struct view_command *c, const struct command *self,
				      struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&c->selected);
	enum attn_status status = view_top_keys(&c->view, &c->in, self, &rows, err);
	if (status != ATTN_OK)
		return status;
	const struct rows_info *info = c->in.info;
	size_t heads = count_chosen(c->selected.heads, info->shape.heads);
	if (!size_mul(heads, count_chosen(c->selected.layers, info->shape.layers), &heads) ||
	    !size_mul(heads, count_chosen(c->selected.batch, info->shape.batch), &heads))
		return attn_fail_memory(err);
	status = page_coding_choose(&c->coding, &info->shape, heads, err);
	if (status == ATTN_OK && c->coding.top > 0)
		report_note(
		    self,
		    "%zu head%s of %zu x %zu weights: of each query the page keeps the %zu keys with the "
		    "largest",
		    heads, heads == 1 ? "" : "s", info->shape.queries, info->shape.keys, c->coding.top);
	return status;
}

static enum attn_status write_page(struct view_command *c, const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	struct rows_selection rows = selection_rows(&c->selected);
	struct row_consumer *consumers[] = {&c->rows.consumer};
	uint64_t before = 0;
	enum attn_status status = begin(c, &text, err);
	if (status == ATTN_OK)
		status = output_write(&c->out, text.data, text.length, err);
	before = text.length;
	if (status == ATTN_OK) {
		page_rows_init(&c->rows, &c->coding, &c->in.info->shape, c->out.stream);
		status = progress_stream(self, c->in.rows.source, &rows, consumers, 1, err);
	}
	buffer_clear(&text);
	if (status == ATTN_OK)
		status = page_end(&text, before + c->rows.written, err);
	if (status == ATTN_OK)
		status = output_write(&c->out, text.data, text.length, err);
	buffer_release(&text);
	return status == ATTN_OK ? output_commit(&c->out, err) : status;
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
	const char *slash = strrchr(c->path, '/');
	const char *name = slash ? slash + 1 : c->path;
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE, "'%s' ends in '%s', expected .html", c->path, dot);
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
		c.operands = argv + optind;
		c.operand_count = (size_t)(argc - optind);
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
			status = choose_coding(&c, self, err);
		if (status == ATTN_OK)
			status = output_open(&c.out, c.path, true, err);
		if (status == ATTN_OK)
			status = write_page(&c, self, err);
		if (status == ATTN_OK)
			report_written(self, c.path);
	}
	output_abort(&c.out);
	page_rows_release(&c.rows);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_view = {"view", run,      "attn view", "make a web page that shows weights",
				     usage,  usage_end};
