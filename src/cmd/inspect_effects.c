/* attn inspect effects: what each head does, found by taking it out. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/effects.h"
#include "cmd/effects_input.h"
#include "cmd/view_options.h"
#include "tokenizer/tokenizer.h"
#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

static const char usage[] =
    "usage: attn inspect effects [options] --model MODEL --text TEXT\n"
    "       attn inspect effects [options] INPUT...\n"
    "\n"
    "Say what each head does, by taking it out: a line for each, the most effect first.  Of a\n"
    "model: how far the last states, the predictions and the next token's probability move, and\n"
    "what that does to the loss of the text.  Of an INPUT: the head's part of context and output.\n"
    "\n"
    "      --head LIST       heads by number or name, such as 0,3-5 [all]\n"
    "      --layer LIST      layers of a model [all]\n"
    "      --batch LIST      batch items [all]\n"
    "      --sort HOW        effect, or head: by number [effect]\n"
    "      --next-token T    the token whose probability is told: of the vocabulary, or '#id'\n"
    "                        [the likeliest]\n"
    "      --prune[=N]       take out N heads of a model, the least effect first, and print what is\n"
    "                        left after each: a curve [all but one]\n"
    "      --greedy          with it: look anew after each which has the least effect\n"
    "  -o, --output FILE     with it: plot the curve too, as png, svg or pdf\n" PLOT_USAGE "\n"
    "Output:\n"
    "      --pretty          an aligned table, without columns that are empty [on a terminal]\n"
    "      --tsv             a table of all columns [elsewhere]\n"
    "      --json, --jsonl   one document, or a line a head, with the same names\n"
    "      --columns LIST    only these columns, in this order, such as layer,head,loss [all]\n";

static const char usage_end[] =
    "      --threads N       threads [the processors that this process may use]\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "attn inspect effects --model samples/stories260K --text 'Once upon a time'\n";

enum {
	OPTION_SORT = OPTION_OWN,
	OPTION_NEXT_TOKEN,
	OPTION_PRUNE,
	OPTION_GREEDY
};

static const struct option table[] = {
    {"sort", required_argument, NULL, OPTION_SORT},
    {"next-token", required_argument, NULL, OPTION_NEXT_TOKEN},
    {"prune", optional_argument, NULL, OPTION_PRUNE},
    {"greedy", no_argument, NULL, OPTION_GREEDY},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"layer", required_argument, NULL, OPTION_LAYER},
    {"batch", required_argument, NULL, OPTION_BATCH},
    MODEL_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    PLOT_OPTIONS,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

struct effects_command {
	bool help, by_head, prunes, greedy;
	size_t most; /* of --prune; SIZE_MAX: all but one */
	const char *next_token, *columns;
	enum table_format format;
	struct table_columns table;
	struct plot_request plot;
	struct selection_options options;
	struct inputs in;
	struct selection selected;
	struct effects effects;
	struct head_effects *model; /* owned; or NULL */
	bool *without;              /* (layers, heads), owned */
};

static enum attn_status option_sort(struct effects_command *c, const struct options *o,
				    struct attn_error *err)
{
	c->by_head = strcmp(o->value, "head") == 0;
	return c->by_head || strcmp(o->value, "effect") == 0 ? ATTN_OK
							     : option_fail(o, "'effect' or 'head'", err);
}

static enum attn_status option_prune(struct effects_command *c, const struct options *o,
				     struct attn_error *err)
{
	c->prunes = true;
	c->most = SIZE_MAX;
	return o->value ? option_count(o, 1, SIZE_MAX - 1, &c->most, err) : ATTN_OK;
}

static enum attn_status parse(struct effects_command *c, struct options *o, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'h' || id == OPTION_HELP)
			c->help = true;
		else if (id == OPTION_SORT)
			status = option_sort(c, o, err);
		else if (id == OPTION_NEXT_TOKEN)
			status = option_once(o, &c->next_token, err);
		else if (id == OPTION_PRUNE)
			status = option_prune(c, o, err);
		else if (id == OPTION_GREEDY)
			c->greedy = true;
		else if (is_model_option(id))
			status = inputs_model_option(&c->in, id, o, err);
		else if (is_selection_option(id))
			selection_option(&c->options, id, o->value);
		else if (is_plot_option(id))
			status = plot_option(&c->plot, id, o, err);
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

/* --- a model ----------------------------------------------------------------------------------- */

/* --next-token: '#id', or a token as the vocabulary or people have it. */
static enum attn_status find_next(const struct effects_command *c, size_t *next, struct attn_error *err)
{
	const struct tokenizer *t = c->in.model.text.tokenizer;
	const char *name = c->next_token;
	*next = SIZE_MAX;
	if (!name)
		return ATTN_OK;
	if (name[0] == '#' && parse_count(name + 1, next))
		return ATTN_OK;
	struct string_list raw = {0}, shown = {0};
	bool ok = true;
	for (size_t id = 0; t && id < tokenizer_size(t) && ok; id++)
		ok = string_list_add(&raw, tokenizer_token(t, id) ? tokenizer_token(t, id) : "");
	ok = ok && tokens_shown(&raw, &shown);
	for (size_t pass = 0; pass < 2 && ok && *next == SIZE_MAX; pass++) /* as it is comes first */
		for (size_t id = 0; id < raw.count && *next == SIZE_MAX; id++)
			if (strcmp(pass ? shown.items[id] : raw.items[id], name) == 0)
				*next = id;
	string_list_release(&raw);
	string_list_release(&shown);
	if (!ok)
		return attn_fail_memory(err);
	return *next != SIZE_MAX ? ATTN_OK
				 : attn_fail(err, ATTN_NO_MATCH, "'%.100s' is not in the vocabulary", name);
}

static void report_whole(const struct effects_command *c, const struct command *self, size_t next)
{
	const struct effect whole = head_effects_whole(c->model);
	const struct model_text *text = &c->in.model.text;
	const char *token = text->tokenizer ? tokenizer_token(text->tokenizer, next) : NULL;
	if (!isnan(whole.probability))
		report_note(self, "the whole model gives token %zu%s%s%s a probability of %.4g", next,
			    token ? ", '" : "", token ? token : "", token ? "'," : "", whole.probability);
	if (!isnan(whole.loss))
		report_note(self, "the loss of the whole model is %.4g bits a token", whole.loss);
}

static bool is_chosen(const struct effects_command *c, size_t i)
{
	size_t heads = c->in.info->shape.heads;
	return rows_chosen(c->selected.layers, i / heads) && rows_chosen(c->selected.heads, i % heads);
}

/* A line of what the heads of c->without do together. */
static enum attn_status try_heads(struct effects_command *c, struct effect_line *line, struct attn_error *err)
{
	const struct effect whole = head_effects_whole(c->model);
	struct effect effect;
	TRY(head_effects_try(c->model, c->without, &effect, err));
	effect_figures(&effect, &whole, line->figures);
	return ATTN_OK;
}

/* One line for each chosen head that is not out yet, which is taken out alone. */
static enum attn_status try_each(struct effects_command *c, struct effects *to, struct attn_error *err)
{
	const struct rows_shape *shape = &c->in.info->shape;
	for (size_t i = 0; i < shape->layers * shape->heads; i++) {
		struct effect_line line = {.layer = i / shape->heads, .head = i % shape->heads};
		if (!is_chosen(c, i) || c->without[i])
			continue;
		c->without[i] = true;
		enum attn_status status = try_heads(c, &line, err);
		c->without[i] = false;
		TRY(status);
		TRY(effects_add(to, &line, err));
	}
	return ATTN_OK;
}

/* The most first; of equals in their order. */
static int by_effect(const void *a, const void *b)
{
	const struct effect_line *x = a, *y = b;
	double one = effect_size(x), other = effect_size(y);
	if (one != other)
		return one < other ? 1 : -1;
	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return (x->head > y->head) - (x->head < y->head);
}

static enum attn_status take_out(struct effects_command *c, const struct effect_line *head, size_t left,
				 struct attn_error *err)
{
	struct effect_line line = *head;
	c->without[head->layer * c->in.info->shape.heads + head->head] = true;
	line.step = c->effects.count;
	line.left = left;
	TRY(try_heads(c, &line, err));
	TRY(head_effects_take_out(c->model, c->without, err));
	return effects_add(&c->effects, &line, err);
}

/* Heads go in the order of their effect, which is found once, or each time. */
static enum attn_status prune(struct effects_command *c, struct effects *each, struct attn_error *err)
{
	const struct effect whole = head_effects_whole(c->model);
	struct effect_line first = {.whole = true, .left = each->count};
	size_t most = c->most < each->count ? c->most : each->count - (c->most == SIZE_MAX);
	effect_figures(&whole, &whole, first.figures);
	TRY(effects_add(&c->effects, &first, err));
	for (size_t step = 1; step <= most; step++) {
		if (c->greedy && step > 1) {
			each->count = 0;
			TRY(try_each(c, each, err));
			qsort(each->lines, each->count, sizeof *each->lines, by_effect);
		}
		const struct effect_line least = each->lines[each->count - 1];
		each->count--;
		TRY(take_out(c, &least, first.left - step, err));
	}
	return ATTN_OK;
}

static enum attn_status inspect_model(struct effects_command *c, const struct command *self,
				      struct attn_error *err)
{
	struct model_input *in = &c->in.model;
	const struct text_ids source = model_text_ids(&in->source), text = model_text_ids(&in->text);
	const struct rows_shape *shape = &c->in.info->shape;
	struct effects each = {.info = c->in.info};
	size_t next;
	TRY(find_next(c, &next, err));
	c->without = array_alloc(shape->layers, shape->heads);
	if (!c->without)
		return attn_fail_memory(err);
	TRY(head_effects_open(&c->model, in->model, &text, in->model->encoder ? &source : NULL, in->crossing,
			      &next, err));
	report_whole(c, self, next);
	if (in->without) {
		memcpy(c->without, in->without, shape->layers * shape->heads);
		TRY(head_effects_take_out(c->model, c->without, err));
	}
	if (!c->prunes)
		return try_each(c, &c->effects, err);
	enum attn_status status = try_each(c, &each, err);
	if (status == ATTN_OK && each.count > 0)
		qsort(each.lines, each.count, sizeof *each.lines, by_effect);
	if (status == ATTN_OK)
		status = prune(c, &each, err);
	effects_release(&each);
	return status;
}

/* --- both ------------------------------------------------------------------------------------- */

static enum attn_status check(const struct effects_command *c, struct attn_error *err)
{
	bool model = c->in.model_options.model != NULL;
	const char *option = c->prunes ? "--prune" : c->next_token ? "--next-token" : NULL;
	if (c->greedy && !c->prunes)
		return attn_fail(err, ATTN_USAGE, "'--greedy' is of --prune: it also requires that");
	if ((c->plot.path || c->plot.option) && !c->prunes)
		return attn_fail(err, ATTN_USAGE, "a plot is of a curve: it also requires --prune");
	if (c->by_head && c->prunes)
		return attn_fail(err, ATTN_USAGE,
				 "'--sort' and '--prune' cannot be combined: a curve has an order");
	if (option && !model)
		return attn_fail(err, ATTN_USAGE, "'%s' is of a model: it also requires --model", option);
	return ATTN_OK;
}

static enum attn_status inspect(struct effects_command *c, const struct command *self, int argc, char **argv,
				struct attn_error *err)
{
	char joins[24];
	bool model = c->in.model_options.model != NULL;
	TRY(check(c, err));
	TRY(table_format_columns(&c->format, c->columns, err));
	TRY(plot_open(&c->plot, err));
	TRY(inputs_open(&c->in, self, argc, argv, err));
	if (c->plot.path)
		TRY(inputs_spare(&c->in, c->plot.path, err));
	c->effects = (struct effects){.info = c->in.info, .curve = c->prunes};
	TRY(effects_columns(&c->table, &c->effects, model, c->columns, err));
	TRY(selection_open(&c->selected, &c->options, c->in.info, err));
	if (selection_joins(&c->selected, &c->options, joins, sizeof joins))
		return attn_fail(err, ATTN_USAGE, "'%s' joins heads, which are taken out one by one here",
				 joins);
	TRY(model ? inspect_model(c, self, err)
		  : effects_of_input(&c->effects, &c->in, &c->selected, self, err));
	if (!c->prunes && !c->by_head)
		qsort(c->effects.lines, c->effects.count, sizeof *c->effects.lines, by_effect);
	if (!plot_replaces_table(&c->plot))
		TRY(effects_write(&c->effects, &c->table, table_format_settle(c->format), self, err));
	return c->plot.path ? effects_plot(&c->effects, &c->plot, self, err) : ATTN_OK;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table};
	struct effects_command c = {0};
	enum attn_status status = parse(&c, &o, err);
	if (status == ATTN_OK)
		status =
		    c.help ? print_usage(self, err) : inspect(&c, self, argc - optind, argv + optind, err);
	head_effects_free(c.model);
	free(c.without);
	effects_release(&c.effects);
	plot_release(&c.plot);
	selection_release(&c.selected);
	inputs_release(&c.in);
	return status;
}

const struct command command_inspect_effects = {
    "effects", run, "attn inspect effects", "what each head does, by taking it out", usage, usage_end,
};
