#include "cmd/view_options.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/progress.h"
#include "cmd/view_ranges.h"
#include "result/view.h"
#include "tokens/token.h"
#include "util/memory.h"

bool is_view_option(int id)
{
	return id >= OPTION_QUERY && id <= OPTION_RENORMALISE;
}

const char *view_exclusion(const struct view_request *r)
{
	return r->exclude_first      ? "--exclude-first"
	       : r->exclude_diagonal ? "--exclude-diagonal"
	       : r->tokens.count > 0 ? "--exclude-token"
				     : NULL;
}

enum attn_status view_check_numbers(const struct view_request *r, const char *what, struct attn_error *err)
{
	if (!view_exclusion(r) || r->renormalise)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "'%s' is about a scale of colours, of which %s has none: it also requires "
			 "--renormalise",
			 view_exclusion(r), what);
}

enum attn_status view_option(struct view_request *r, int id, const struct options *o, struct attn_error *err)
{
	snprintf(r->option, sizeof r->option, "--%s", o->name);
	switch (id) {
	case OPTION_QUERY:
		return option_once(o, &r->query, err);
	case OPTION_KEY:
		return option_once(o, &r->key, err);
	case OPTION_TOP_KEYS:
		return option_count(o, 1, SIZE_MAX, &r->top_keys, err);
	case OPTION_WORDS:
		r->words = true;
		return ATTN_OK;
	case OPTION_EXCLUDE_FIRST:
		r->exclude_first = true;
		return ATTN_OK;
	case OPTION_EXCLUDE_DIAGONAL:
		r->exclude_diagonal = true;
		return ATTN_OK;
	case OPTION_EXCLUDE_TOKEN:
		return string_list_add(&r->tokens, o->value) ? ATTN_OK : attn_fail_memory(err);
	default: /* OPTION_RENORMALISE */
		r->renormalise = true;
		return ATTN_OK;
	}
}

void view_request_release(struct view_request *r)
{
	string_list_release(&r->tokens);
}

static bool show_raw(struct string_list *shown, const struct string_list *raw)
{
	struct buffer text = BUFFER_INIT;
	bool ok = true;
	string_list_release(shown);
	for (size_t i = 0; i < raw->count && ok; i++) {
		size_t length = strlen(raw->items[i]);
		buffer_clear(&text);
		token_add_visible(&text, raw->items[i], length, strspn(raw->items[i], " ") == length);
		buffer_add(&text, "", 0);
		ok = !text.failed && string_list_add(shown, text.data);
	}
	buffer_release(&text);
	return ok;
}

enum attn_status view_keep_markers(const struct view_request *r, struct inputs *in, struct attn_error *err)
{
	if (r->words)
		return attn_fail(err, ATTN_USAGE,
				 "'--markers keep' and '--words' cannot be combined: words have no markers");
	return show_raw(&in->shown_queries, &in->info->query_labels) &&
		       show_raw(&in->shown_keys, &in->info->key_labels)
		   ? ATTN_OK
		   : attn_fail_memory(err);
}

static void add_note(struct buffer *note, const char *text)
{
	if (note->length > 0)
		buffer_add_string(note, "; ");
	buffer_add_string(note, text);
}

/* The labels of a view of words are as people read them. */
static enum attn_status join_words(const struct view_request *r, struct inputs *in,
				   const struct command *self, struct buffer *note, struct attn_error *err)
{
	const struct rows_shape whole = in->info->shape;
	struct named_rows view;
	enum attn_status status = view_words_open(&view, &in->rows, err);
	if (status != ATTN_OK)
		return status;
	inputs_show(in, &view);
	string_list_release(&in->shown_queries);
	string_list_release(&in->shown_keys);
	if (!string_list_copy(&in->shown_queries, &in->info->query_labels) ||
	    !string_list_copy(&in->shown_keys, &in->info->key_labels))
		return attn_fail_memory(err);
	bool joined = in->info->shape.queries < whole.queries || in->info->shape.keys < whole.keys;
	if (joined || r->words)
		add_note(note, "tokens joined to words");
	if (!joined && r->words)
		report_note(self, "no token is a piece of a word: '--words' changes nothing");
	return ATTN_OK;
}

/* Keep those of the list that are shown. */
static void keep_shown(struct string_list *list, const bool *shown)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (rows_chosen(shown, i))
			list->items[kept++] = list->items[i];
		else
			free(list->items[i]);
	}
	list->count = kept;
}

static enum attn_status crop(struct inputs *in, const struct view_options *options, struct attn_error *err)
{
	struct named_rows view;
	TRY(view_crop_open(&view, &in->rows, options, err));
	inputs_show(in, &view);
	keep_shown(&in->shown_queries, options->queries);
	keep_shown(&in->shown_keys, options->keys);
	return ATTN_OK;
}

static void add_range_note(struct buffer *note, const char *things, const bool *shown, size_t count)
{
	char text[120];
	size_t first = SIZE_MAX, last = 0;
	for (size_t i = 0; i < count && shown; i++) {
		if (shown[i]) {
			first = first == SIZE_MAX ? i : first;
			last = i;
		}
	}
	if (first == SIZE_MAX || last - first + 1 == count)
		return;
	if (first == last)
		snprintf(text, sizeof text, "%s %zu of %zu", things[0] == 'k' ? "key" : "query", first,
			 count);
	else
		snprintf(text, sizeof text, "%s %zu to %zu of %zu", things, first, last, count);
	add_note(note, text);
}

static void add_exclusion_note(struct buffer *note, const struct view_request *r)
{
	if (!view_exclusion(r))
		return;
	bool more = false;
	add_note(note, r->renormalise ? "weights add up to 1 without " : "not counted for the scale: ");
	if (r->exclude_first) {
		buffer_add_string(note, "the first key");
		more = true;
	}
	if (r->exclude_diagonal) {
		buffer_printf(note, "%sthe diagonal", more ? ", " : "");
		more = true;
	}
	for (size_t i = 0; i < r->tokens.count; i++) {
		buffer_printf(note, "%s'", more || i > 0 ? ", " : "");
		buffer_add_clean(note, r->tokens.items[i]);
		buffer_add_char(note, '\'');
	}
}

static enum attn_status check(const struct view_request *r, const struct inputs *in, struct attn_error *err)
{
	if (r->renormalise && !view_exclusion(r))
		return attn_fail(err, ATTN_USAGE,
				 "'--renormalise' divides by what exclusions leave: it also requires "
				 "--exclude-first, --exclude-diagonal or --exclude-token");
	if (r->renormalise && in->info->shape.signed_weights)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--renormalise' is for weights that add up to 1, found those of differential "
		    "attention, which may be negative");
	if (r->exclude_diagonal && in->info->shape.cross)
		return attn_fail(err, ATTN_USAGE,
				 "'--exclude-diagonal' is for self-attention, found cross-attention, which "
				 "has no diagonal");
	return ATTN_OK;
}

/* The arrays of a view from what is asked for. */
static enum attn_status find_options(const struct view_request *r, const struct inputs *in,
				     struct view_options *options, bool *arrays[3], struct attn_error *err)
{
	const struct range_items queries = {"--query", "queries", &in->info->query_labels,
					    &in->shown_queries};
	const struct range_items keys = {"--key", "keys", &in->info->key_labels, &in->shown_keys};
	const struct range_items tokens = {"--exclude-token", "keys", keys.raw, keys.shown};
	enum attn_status status = r->query ? range_parse(&queries, r->query, &arrays[0], err) : ATTN_OK;
	if (status == ATTN_OK && r->key)
		status = range_parse(&keys, r->key, &arrays[1], err);
	if (status == ATTN_OK && (r->exclude_first || r->tokens.count > 0)) {
		arrays[2] = array_alloc(in->info->shape.keys, sizeof **arrays);
		status = arrays[2] ? ATTN_OK : attn_fail_memory(err);
	}
	for (size_t i = 0; i < r->tokens.count && status == ATTN_OK; i++)
		status = range_mark(&tokens, r->tokens.items[i], arrays[2], err);
	if (status == ATTN_OK && r->exclude_first)
		arrays[2][0] = true;
	*options = (struct view_options){.queries = arrays[0],
					 .keys = arrays[1],
					 .excluded = arrays[2],
					 .exclude_diagonal = r->exclude_diagonal,
					 .renormalise = r->renormalise};
	return status;
}

enum attn_status view_apply(const struct view_request *r, struct inputs *in, const struct command *self,
			    struct attn_error *err)
{
	struct view_options options;
	bool *arrays[3] = {NULL, NULL, NULL};
	struct buffer note = BUFFER_INIT;
	if (!*r->option && !r->words_default)
		return ATTN_OK;
	if (in->note) /* of a view below */
		add_note(&note, in->note);
	free(in->note);
	in->note = NULL;
	enum attn_status status = check(r, in, err);
	if (status == ATTN_OK && (r->words || r->words_default))
		status = join_words(r, in, self, &note, err);
	if (status == ATTN_OK)
		status = find_options(r, in, &options, arrays, err);
	if (status == ATTN_OK && (r->query || r->key || view_exclusion(r))) {
		add_range_note(&note, "queries", options.queries, in->info->shape.queries);
		add_range_note(&note, "keys", options.keys, in->info->shape.keys);
		add_exclusion_note(&note, r);
		status = crop(in, &options, err);
	}
	in->subject.same_rows =
	    !r->words && !r->words_default && !r->query && !r->key && !r->renormalise && !r->top_keys;
	if (status == ATTN_OK && note.length > 0) {
		in->note = buffer_detach(&note);
		status = in->note ? ATTN_OK : attn_fail_memory(err);
	}
	for (size_t i = 0; i < 3; i++)
		free(arrays[i]);
	buffer_release(&note);
	return status;
}

/* The consumer that sums up what each key gets of what is shown. */
struct key_sums {
	struct row_consumer consumer;
	struct key_sum {
		double sum;
		size_t key;
	} * keys;
};

static enum attn_status add_rows(struct row_consumer *consumer, const struct row_block *block,
				 struct attn_error *err)
{
	struct key_sums *s = (struct key_sums *)consumer;
	(void)err;
	for (size_t i = 0; i < block->count * block->keys; i++)
		s->keys[i % block->keys].sum += fabs((double)block->weights[i]);
	return ATTN_OK;
}

/* The largest first; of equals the lower key. */
static int compare_sums(const void *a, const void *b)
{
	const struct key_sum *x = a, *y = b;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static enum attn_status add_top_note(struct inputs *in, size_t kept, size_t keys, struct attn_error *err)
{
	struct buffer note = BUFFER_INIT;
	buffer_printf(&note, "%s%sthe %zu keys of %zu with the most weight", in->note ? in->note : "",
		      in->note ? "; " : "", kept, keys);
	free(in->note);
	in->note = buffer_detach(&note);
	return in->note ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status view_top_keys(const struct view_request *r, struct inputs *in, const struct command *self,
			       const struct rows_selection *selection, struct attn_error *err)
{
	size_t keys = in->info->shape.keys;
	if (r->top_keys == 0 || r->top_keys >= keys)
		return ATTN_OK;
	struct key_sums sums = {.consumer = {.consume = add_rows},
				.keys = array_alloc(keys, sizeof *sums.keys)};
	bool *shown = array_alloc(keys, sizeof *shown);
	struct row_consumer *consumers[] = {&sums.consumer};
	enum attn_status status = sums.keys && shown ? ATTN_OK : attn_fail_memory(err);
	for (size_t k = 0; k < keys && status == ATTN_OK; k++)
		sums.keys[k].key = k;
	if (status == ATTN_OK)
		status = progress_stream(self, in->rows.source, selection, consumers, 1, err);
	if (status == ATTN_OK) {
		qsort(sums.keys, keys, sizeof *sums.keys, compare_sums);
		for (size_t i = 0; i < r->top_keys; i++)
			shown[sums.keys[i].key] = true;
		status = crop(in, &(struct view_options){.keys = shown}, err);
	}
	if (status == ATTN_OK)
		status = add_top_note(in, r->top_keys, keys, err);
	free(sums.keys);
	free(shown);
	return status;
}
