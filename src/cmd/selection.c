/* --head 0,3-5: lists of numbers and names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "result/view.h"
#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

struct range {
	size_t from, to; /* both included */
};

/* "3", "3-5", or a name of `names`. */
static bool parse_item(const char *item, const struct string_list *names, size_t first, struct range *range)
{
	for (size_t i = 0; names && i < names->count; i++) {
		if (strcmp(names->items[i], item) == 0) {
			*range = (struct range){first + i, first + i};
			return true;
		}
	}
	char number[24];
	size_t length = strcspn(item, "-");
	if (length >= sizeof number)
		return false;
	memcpy(number, item, length);
	number[length] = '\0';
	if (!parse_count(number, &range->from))
		return false;
	range->to = range->from;
	if (item[length] == '\0')
		return true;
	return parse_count(item + length + 1, &range->to) && range->to >= range->from;
}

static enum attn_status fail_name(const char *option, const char *name, const struct string_list *names,
				  struct attn_error *err)
{
	size_t near = token_nearest(name, names);
	if (near < names->count)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' has '%s', but no head is named '%s', did you mean '%s'", option, name,
				 name, names->items[near]);
	return attn_fail(err, ATTN_USAGE, "'%s' has '%s', but no head is named '%s'", option, name, name);
}

static enum attn_status parse_list(const char *option, char *list, size_t first, size_t count,
				   const struct string_list *names, bool *chosen, struct attn_error *err)
{
	char *rest = list, *item;
	while ((item = strsep(&rest, ","))) {
		struct range range;
		bool number = *item && item[strspn(item, "0123456789-")] == '\0';
		bool parsed = parse_item(item, names, first, &range);
		if (!parsed && !number && names && names->count)
			return fail_name(option, item, names, err);
		if (!parsed)
			return attn_fail(err, ATTN_USAGE, "'%s' has '%s', expected a list such as 0,3-5%s",
					 option, item, names && names->count ? " or a name" : "");
		if (range.from < first || range.to >= first + count) {
			if (count == 1)
				return attn_fail(err, ATTN_USAGE, "'%s' has '%s', but there is only %zu",
						 option, item, first);
			return attn_fail(err, ATTN_USAGE, "'%s' has '%s', expected numbers from %zu to %zu",
					 option, item, first, first + count - 1);
		}
		for (size_t i = range.from; i <= range.to; i++)
			chosen[i - first] = true;
	}
	return ATTN_OK;
}

/* Turn "0,3-5" (or, for heads, names) into a bool array that the caller frees.
 * NULL list: *out is NULL, which selects all.  `first` is the number of item 0.
 * ATTN_USAGE for what is malformed or out of range. */
static enum attn_status selection_parse(const char *option, const char *list, size_t first, size_t count,
					const struct string_list *names, bool **out, struct attn_error *err)
{
	*out = NULL;
	if (!list)
		return ATTN_OK;
	char *copy = strdup(list);
	bool *chosen = array_alloc(count, sizeof *chosen);
	enum attn_status status = copy && chosen ? parse_list(option, copy, first, count, names, chosen, err)
						 : attn_fail_memory(err);
	free(copy);
	if (status == ATTN_OK)
		*out = chosen;
	else
		free(chosen);
	return status;
}

void selection_option(struct selection_options *s, int id, const char *value)
{
	if (id == OPTION_HEAD)
		s->heads = value;
	else if (id == OPTION_LAYER)
		s->layers = value;
	else if (id == OPTION_BATCH)
		s->batch = value;
	else if (id == OPTION_NORMS)
		s->norms = true;
	else if (id == OPTION_ROLLOUT || id == OPTION_FLOW)
		s->over = id == OPTION_FLOW ? LAYERS_FLOW : LAYERS_ROLLOUT;
	else
		s->mean = true;
}

/* Words in the place of a list, or before it, unless a head is called so. */
enum word {
	WORD_NONE,
	WORD_ALL,
	WORD_MEAN,
	WORD_MAX
};

/* `list` is what a word and a colon stand before, as in "max:0,3-5", or NULL. */
static enum word find_word(const char *value, const struct string_list *names, const char **list)
{
	static const char *const words[] = {[WORD_ALL] = "all", [WORD_MEAN] = "mean", [WORD_MAX] = "max"};
	*list = NULL;
	for (size_t i = 0; value && names && i < names->count; i++)
		if (strcmp(names->items[i], value) == 0)
			return WORD_NONE;
	for (size_t i = WORD_ALL; value && i <= WORD_MAX; i++) {
		size_t length = strlen(words[i]);
		if (strncmp(words[i], value, length) != 0 || (value[length] && value[length] != ':'))
			continue;
		if (value[length] == ':')
			*list = value + length + 1;
		return (enum word)i;
	}
	return WORD_NONE;
}

/* One axis: which of it are chosen, and whether they are joined by a word. */
static enum attn_status open_axis(const char *option, const char *value, size_t first, size_t count,
				  const struct string_list *names, bool **chosen, enum word *word,
				  struct attn_error *err)
{
	const char *list;
	*word = find_word(value, names, &list);
	if (*word == WORD_NONE || (*word > WORD_ALL && list))
		return selection_parse(option, *word == WORD_NONE ? value : list, first, count, names, chosen,
				       err);
	if (list)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is '%s', expected 'all' alone, or a list such as 0,3-5", option,
				 value);
	*chosen = array_alloc(count, sizeof **chosen);
	if (!*chosen)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		(*chosen)[i] = true;
	return ATTN_OK;
}

static const char *over_option(const struct selection *s)
{
	return s->over == LAYERS_FLOW ? "--flow" : "--rollout";
}

/* What is joined, and how: by a word, or, where a list is given of more than one, by --mean. */
static enum attn_status find_joins(struct selection *s, const struct selection_options *options,
				   const struct rows_shape *shape, enum word head, enum word layer,
				   struct attn_error *err)
{
	bool largest = head == WORD_MAX || layer == WORD_MAX;
	bool mean = head == WORD_MEAN || layer == WORD_MEAN || options->mean;
	if (largest && mean)
		return attn_fail(err, ATTN_USAGE, "'%s max' and '%s' cannot be combined: give one of them",
				 head == WORD_MAX ? "--head" : "--layer",
				 options->mean       ? "--mean"
				 : head == WORD_MEAN ? "--head mean"
						     : "--layer mean");
	if (options->mean && !options->heads && !options->layers)
		return attn_fail(err, ATTN_USAGE,
				 "'--mean' joins what '--head' or '--layer' choose: it also requires one of "
				 "them, such as '--head all'");
	s->join_heads = head > WORD_ALL ||
			(options->mean && options->heads && selection_count(s->heads, shape->heads) > 1);
	s->join_layers = layer > WORD_ALL ||
			 (options->mean && options->layers && selection_count(s->layers, shape->layers) > 1);
	s->largest = largest;
	s->over = options->over;
	s->norms = options->norms;
	if (s->over == LAYERS_APART)
		return ATTN_OK;
	if (s->join_layers)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' goes over layers, which '--layer %s' would join: give a list of them",
				 over_option(s), largest ? "max" : "mean");
	s->join_heads |= selection_count(s->heads, shape->heads) > 1;
	return ATTN_OK;
}

enum attn_status selection_open(struct selection *s, const struct selection_options *options,
				const struct rows_info *info, struct attn_error *err)
{
	enum word head, layer, batch;
	const char *list;
	*s = (struct selection){0};
	TRY(open_axis("--head", options->heads, 0, info->shape.heads, &info->head_names, &s->heads, &head,
		      err));
	TRY(open_axis("--layer", options->layers, info->first_layer, info->shape.layers, NULL, &s->layers,
		      &layer, err));
	batch = find_word(options->batch, NULL, &list);
	if (batch > WORD_ALL)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--batch' is '%s', but batch items are different texts: give a list such as "
		    "0,3-5, or 'all'",
		    options->batch);
	TRY(open_axis("--batch", options->batch, 0, info->shape.batch, NULL, &s->batch, &batch, err));
	s->every_head = !options->heads || head == WORD_ALL;
	return find_joins(s, options, &info->shape, head, layer, err);
}

const char *selection_joins(const struct selection *s, const struct selection_options *options, char *text,
			    size_t size)
{
	if (!s->norms && !s->join_heads && !s->join_layers && s->over == LAYERS_APART)
		return NULL;
	if (s->norms)
		snprintf(text, size, "--norms");
	else if (s->over != LAYERS_APART)
		snprintf(text, size, "%s", over_option(s));
	else if (options->mean)
		snprintf(text, size, "--mean");
	else
		snprintf(text, size, "%s %s", s->join_heads ? "--head" : "--layer",
			 s->largest ? "max" : "mean");
	return text;
}

/* Show what `view` says, and select all of the axes that it chose from. */
static enum attn_status show(struct selection *s, struct inputs *in, const struct view_heads *options,
			     struct attn_error *err)
{
	struct named_rows view;
	TRY(view_heads_open(&view, &in->rows, options, err));
	inputs_show(in, &view);
	if (options->heads || options->join_heads) {
		free(s->heads);
		s->heads = NULL;
	}
	if (options->layers || options->join_layers) {
		free(s->layers);
		s->layers = NULL;
	}
	return ATTN_OK;
}

/* Heads joined, layers chosen, and then these as one. */
static enum attn_status show_over(struct selection *s, struct inputs *in, struct attn_error *err)
{
	struct named_rows view;
	TRY(show(
	    s, in,
	    &(struct view_heads){
		.heads = s->heads, .layers = s->layers, .join_heads = s->join_heads, .largest = s->largest},
	    err));
	TRY(view_rollout_open(&view, &in->rows, s->over, err));
	inputs_show(in, &view);
	return ATTN_OK;
}

enum attn_status selection_join(struct selection *s, struct inputs *in, struct attn_error *err)
{
	if (s->over != LAYERS_APART)
		return show_over(s, in, err);
	if (!s->join_heads && !s->join_layers)
		return ATTN_OK;
	return show(s, in,
		    &(struct view_heads){.heads = s->join_heads ? s->heads : NULL,
					 .layers = s->join_layers ? s->layers : NULL,
					 .join_heads = s->join_heads,
					 .join_layers = s->join_layers,
					 .largest = s->largest},
		    err);
}

bool selection_has_contexts(const struct selection *s, const struct rows_shape *shape)
{
	return !s->norms && !s->join_heads && !s->join_layers && s->over == LAYERS_APART &&
	       selection_count(s->heads, shape->heads) == shape->heads;
}

bool selection_is_whole(const struct selection *s, const struct rows_shape *shape)
{
	return selection_has_contexts(s, shape) && selection_count(s->layers, shape->layers) == shape->layers;
}

enum attn_status selection_show(struct selection *s, struct inputs *in, struct attn_error *err)
{
	if (s->over != LAYERS_APART)
		return show_over(s, in, err);
	if (selection_is_whole(s, &in->info->shape))
		return ATTN_OK;
	return show(s, in,
		    &(struct view_heads){.heads = s->heads,
					 .layers = s->layers,
					 .join_heads = s->join_heads,
					 .join_layers = s->join_layers,
					 .largest = s->largest},
		    err);
}

size_t selection_count(const bool *chosen, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += rows_chosen(chosen, i);
	return found;
}

void selection_release(struct selection *s)
{
	free(s->heads);
	free(s->layers);
	free(s->batch);
	free(s->queries);
	*s = (struct selection){0};
}

struct rows_selection selection_rows(const struct selection *s)
{
	return (struct rows_selection){
	    .batch = s->batch, .layers = s->layers, .heads = s->heads, .queries = s->queries};
}
