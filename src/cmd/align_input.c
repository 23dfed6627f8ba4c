#include "cmd/align_input.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/progress.h"
#include "tokens/token.h"
#include "util/memory.h"

static void named_tokens_release(struct named_tokens *tokens)
{
	string_list_release(&tokens->names);
	free(tokens->met);
	tokens->met = NULL;
}

void align_request_release(struct align_request *r)
{
	named_tokens_release(&r->special);
	named_tokens_release(&r->nulls);
	view_request_release(&r->view);
}

/* --- heads ----------------------------------------------------------------------------------- */

/* Whether the heads change before their mean, which the consumer then makes. */
static bool means_later(const struct align_request *r, const struct selection *s)
{
	return r->links.method == ALIGN_MONOTONE && (r->links.standardise || r->links.median > 1) &&
	       !s->largest;
}

/* The heads and layers whose mean is aligned: unless chosen, all heads of the last layer. */
static enum attn_status select_heads(struct align_input *a, const struct align_request *r,
				     struct attn_error *err)
{
	struct selection *s = &a->selected;
	const struct rows_shape *shape = &a->in.info->shape;
	TRY(selection_open(s, &r->selection, a->in.info, err));
	if (r->by_head && (s->join_heads || s->join_layers))
		return attn_fail(err, ATTN_USAGE, "'--by-head' is of each head, and '--%s %s' joins them",
				 s->join_heads ? "head" : "layer", s->largest ? "max" : "mean");
	if (r->by_head)
		return ATTN_OK;
	if (!r->selection.layers && shape->layers > 1) {
		s->layers = array_alloc(shape->layers, sizeof *s->layers);
		if (!s->layers)
			return attn_fail_memory(err);
		s->layers[shape->layers - 1] = true;
		a->defaulted = true;
	}
	size_t heads = selection_count(s->heads, shape->heads),
	       layers = selection_count(s->layers, shape->layers);
	a->links.heads = means_later(r, s) ? heads * layers : 1;
	s->join_heads = heads > 1 || s->join_heads;
	s->join_layers = layers > 1 || s->join_layers;
	return ATTN_OK;
}

/* --- rows of a decoder ------------------------------------------------------------------------ */

/* What a row writes is read by the next one; nobody reads what the last one writes. */
static bool shift(struct string_list *labels)
{
	char *last = strdup("<end>");
	if (!last)
		return false;
	free(labels->items[0]);
	memmove(labels->items, labels->items + 1, (labels->count - 1) * sizeof *labels->items);
	labels->items[labels->count - 1] = last;
	return true;
}

/* Cross-attention of a decoder that reads <s> and the like first: of an encoder, [CLS] comes first. */
static bool reads_before_writing(const struct rows_info *info)
{
	const char *first = info->query_labels.items[0];
	return info->shape.cross && info->has_tokens && token_is_mark(first) && strcmp(first, "[CLS]") != 0;
}

static enum attn_status settle_rows(struct align_input *a, const struct align_request *r,
				    struct attn_error *err)
{
	struct inputs *in = &a->in;
	a->shifted = r->rows == ROWS_GUESSED && reads_before_writing(in->info);
	if (!a->shifted && r->rows != ROWS_WRITTEN)
		return ATTN_OK;
	return shift(&in->rows.info.query_labels) && shift(&in->shown_queries) ? ATTN_OK
									       : attn_fail_memory(err);
}

/* --- words ----------------------------------------------------------------------------------- */

static enum attn_status is_named(struct named_tokens *tokens, const char *raw, const char *shown, bool *named,
				 struct attn_error *err)
{
	*named = false;
	if (!tokens->met)
		tokens->met = array_alloc(tokens->names.count, sizeof *tokens->met);
	if (!tokens->met)
		return attn_fail_memory(err);
	for (size_t i = 0; i < tokens->names.count; i++) {
		bool met = token_matches(tokens->names.items[i], raw, shown);
		tokens->met[i] |= met;
		*named |= met;
	}
	return ATTN_OK;
}

/* Whether the word may be linked; where `null` is not NULL, whether it stands for none. */
static enum attn_status look_at_word(struct align_request *r, const char *raw, const char *shown,
				     bool *allowed, bool *null, struct attn_error *err)
{
	bool is_special, is_null;
	TRY(is_named(&r->special, raw, shown, &is_special, err));
	TRY(is_named(&r->nulls, raw, shown, &is_null, err));
	*allowed = !is_special && !is_null && (r->keep_special || !token_is_mark(raw));
	if (null)
		*null = is_null;
	return ATTN_OK;
}

/* Number the words of one side that may be linked. */
static void number(const bool *allowed, size_t count, size_t *numbers, size_t *found)
{
	for (size_t i = 0; i < count; i++) {
		numbers[i] = *found;
		*found += allowed[i];
	}
}

static enum attn_status find_words(struct align_input *a, struct align_request *r, struct attn_error *err)
{
	const struct inputs *in = &a->in;
	const struct rows_info *info = in->info;
	size_t queries = info->shape.queries, keys = info->shape.keys;
	a->queries = array_alloc(queries, sizeof *a->queries);
	a->keys = array_alloc(keys, sizeof *a->keys);
	a->nulls = array_alloc(keys, sizeof *a->nulls);
	a->targets = array_alloc(queries, sizeof *a->targets);
	a->sources = array_alloc(keys, sizeof *a->sources);
	if (!a->queries || !a->keys || !a->nulls || !a->targets || !a->sources)
		return attn_fail_memory(err);
	for (size_t i = 0; i < queries; i++)
		TRY(look_at_word(r, info->query_labels.items[i], in->shown_queries.items[i], &a->queries[i],
				 NULL, err));
	for (size_t i = 0; i < keys; i++)
		TRY(look_at_word(r, info->key_labels.items[i], in->shown_keys.items[i], &a->keys[i],
				 &a->nulls[i], err));
	for (size_t i = keys - info->shape.appended_keys; i < keys; i++)
		a->keys[i] = false; /* no key of the text */
	number(a->queries, queries, a->targets, &a->target_count);
	number(a->keys, keys, a->sources, &a->source_count);
	a->links.queries = a->queries;
	a->links.keys = a->keys;
	a->links.nulls = a->nulls;
	return ATTN_OK;
}

/* --- an input -------------------------------------------------------------------------------- */

static enum attn_status copy_given(struct inputs *in, const struct inputs *given, struct attn_error *err)
{
	in->model_options = given->model_options;
	for (size_t i = 0; i < given->bundle.setting_count; i++) {
		const struct setting *s = &given->bundle.settings[i];
		TRY(bundle_override(&in->bundle, s->name, s->value, s->origin, err));
	}
	return ATTN_OK;
}

enum attn_status align_input_open(struct align_input *a, struct align_request *request,
				  const struct inputs *given, const struct command *self, int argc,
				  char **argv, struct attn_error *err)
{
	*a = (struct align_input){.links = request->links};
	TRY(copy_given(&a->in, given, err));
	TRY(inputs_open(&a->in, self, argc, argv, err));
	TRY(settle_rows(a, request, err));
	TRY(select_heads(a, request, err));
	TRY(plan_weights(&a->in, &a->selected, err));
	if (a->links.heads == 1)
		TRY(selection_show(&a->selected, &a->in, err));
	TRY(view_apply(&request->view, &a->in, self, err));
	TRY(find_words(a, request, err));
	return alignment_init(&a->alignment, &a->in.info->shape, &a->links, err);
}

void align_input_release(struct align_input *a)
{
	alignment_release(&a->alignment);
	free(a->queries);
	free(a->keys);
	free(a->nulls);
	free(a->targets);
	free(a->sources);
	selection_release(&a->selected);
	inputs_release(&a->in);
	*a = (struct align_input){0};
}

enum attn_status align_input_stream(struct align_input *a, const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&a->selected);
	struct row_consumer *consumers[] = {&a->alignment.consumer};
	return progress_stream(self, a->in.rows.source, &rows, consumers, 1, err);
}

enum attn_status align_input_links(const struct align_input *a, size_t batch, size_t layer, size_t head,
				   struct link_list *out, struct attn_error *err)
{
	*out = (struct link_list){0};
	TRY(alignment_links(&a->alignment, batch, layer, head, out, err));
	for (size_t i = 0; i < out->count; i++) {
		out->items[i].source = a->sources[out->items[i].source];
		out->items[i].target = a->targets[out->items[i].target];
	}
	return ATTN_OK;
}
