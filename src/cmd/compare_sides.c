/* What of A and B is compared, whether they fit, and their rows as one source. */
#include "cmd/compare_sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/by_kernels.h"
#include "result/view.h"

const char *const difference_names[DIFFERENCE_KINDS] = {"weights", "context", "scores", "output"};

/* --- what is compared ------------------------------------------------------------------------- */

/* Why a side's kind cannot be had of the rows that are shown; NULL: it can. */
static const char *hindrance(const struct sides *s, const struct side *side, enum difference_kind kind)
{
	const struct rows_shape *shape = &side->in.info->shape;
	bool joined = side->selected.join_heads || side->selected.join_layers;
	if (kind == DIFFERENCE_WEIGHTS)
		return NULL;
	if (*s->view->option)
		return s->view->option;
	if (joined)
		return "joined heads or layers";
	if (kind != DIFFERENCE_OUTPUT)
		return NULL;
	return selection_is_whole(&side->selected, shape) ? NULL : "chosen heads or layers";
}

static enum attn_status check_kind(const struct sides *s, enum difference_kind kind, struct attn_error *err)
{
	const struct side *const sides[] = {&s->a, &s->b};
	const char *name = difference_names[kind];
	for (size_t i = 0; i < 2; i++) {
		const char *why = hindrance(s, sides[i], kind);
		if (!(sides[i]->kinds >> kind & 1))
			return attn_fail(err, ATTN_USAGE, "'--what' has '%s', which %s has not", name,
					 sides[i]->name);
		if (why)
			return attn_fail(err, ATTN_USAGE, "'--what %s' and '%s' cannot be combined", name,
					 why);
	}
	return ATTN_OK;
}

static enum attn_status parse_what(struct sides *s, unsigned both, struct attn_error *err)
{
	for (const char *at = s->what; at;) {
		size_t length = strcspn(at, ","), kind = 0;
		while (kind < DIFFERENCE_KINDS && (strlen(difference_names[kind]) != length ||
						   strncmp(at, difference_names[kind], length) != 0))
			kind++;
		if (kind < DIFFERENCE_KINDS) {
			TRY(check_kind(s, (enum difference_kind)kind, err));
			s->kinds |= 1u << kind;
		} else if (length == 3 && strncmp(at, "all", 3) == 0) {
			s->kinds |= both;
		} else {
			return attn_fail(err, ATTN_USAGE,
					 "'--what' has '%.*s', expected 'weights', 'context', 'scores', "
					 "'output', several with commas, or 'all'",
					 (int)length, at);
		}
		at = at[length] ? at + length + 1 : NULL;
	}
	return ATTN_OK;
}

/* "context and output" */
static const char *kinds_text(unsigned kinds, char text[64])
{
	size_t used = 0, left = 0;
	text[0] = '\0';
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++)
		left += kinds >> kind & 1;
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++)
		if (kinds >> kind & 1)
			used += (size_t)snprintf(text + used, 64 - used, "%s%s",
						 used == 0    ? ""
						 : --left > 1 ? ", "
							      : " and ",
						 difference_names[kind]);
	return text;
}

/* What a file holds and nobody compares. */
static void note_left(const struct sides *s, const struct side *side, const struct side *other)
{
	unsigned left = side->held & ~s->kinds;
	char text[64];
	if (s->what || left == 0)
		return;
	if (left & ~other->kinds)
		report_note(s->self, "%s has %s, and %s has not: not compared", side->name,
			    kinds_text(left & ~other->kinds, text), other->name);
	if (left & other->kinds)
		report_note(s->self, "%s of %s cannot be compared in part or joined, and is left out",
			    kinds_text(left & other->kinds, text), side->name);
}

static enum attn_status decide(struct sides *s, struct attn_error *err)
{
	const struct side *a = &s->a, *b = &s->b;
	unsigned both = a->kinds & b->kinds;
	char of_a[64], of_b[64];
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++)
		if (hindrance(s, a, kind) || hindrance(s, b, kind))
			both &= ~(1u << kind);
	if (s->what)
		TRY(parse_what(s, both, err));
	else
		s->kinds = both & (HAS_WEIGHTS | a->held | b->held);
	if (s->kinds == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "A has %s and B %s, expected something of both",
				 kinds_text(a->kinds, of_a), kinds_text(b->kinds, of_b));
	note_left(s, a, b);
	note_left(s, b, a);
	if (s->stage_given && (!(s->kinds & HAS_SCORES) || (a->held & b->held & HAS_SCORES)))
		return attn_fail(err, ATTN_USAGE,
				 "'--scores-stage' is of scores that are computed and compared: it also "
				 "requires '--what scores', or a file with them");
	if ((s->kinds & HAS_CONTEXT) && a->context_size != b->context_size)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "a head's context has %zu numbers in A and %zu in B, expected the same",
				 a->context_size, b->context_size);
	return ATTN_OK;
}

/* --- shapes ------------------------------------------------------------------------------------- */

/* Append "8 heads", "1 head". */
static void add_size(struct buffer *text, size_t count, const char *thing, const char *things)
{
	buffer_printf(text, "%s%zu %s", text->length > 0 ? " x " : "", count, count == 1 ? thing : things);
}

/* "2 layers x 8 heads x 5 queries x 5 keys" */
static void add_shape(struct buffer *text, const struct rows_info *info, bool layers)
{
	const struct rows_shape *s = &info->shape;
	if (layers)
		add_size(text, s->layers, "layer", "layers");
	if (info->has_batch)
		add_size(text, s->batch, "batch item", "batch items");
	add_size(text, s->heads, "head", "heads");
	add_size(text, s->queries, "query", "queries");
	add_size(text, s->keys, "key", "keys");
}

/* What would explain it; "" where nothing does. */
static const char *shape_hint(const struct sides *s)
{
	const struct rows_shape *a = &s->a.in.info->shape, *b = &s->b.in.info->shape;
	bool rest = a->layers == b->layers && a->batch == b->batch && a->heads == b->heads;
	if (rest && a->queries == b->keys && a->keys == b->queries && a->queries != a->keys)
		return ": one of them looks transposed, rows are queries";
	if (a->layers * a->batch == b->layers * b->batch && a->layers != b->layers)
		return ": '--axes batch,head,query,key' takes the first axis of stored weights for batch "
		       "items";
	if (rest && side_is_model(&s->a) && side_is_model(&s->b))
		return ": texts of as many tokens can be compared";
	if (a->queries == b->queries && a->keys == b->keys && a->layers == b->layers && a->batch == b->batch)
		return ": choose with --head and --head-b, or join by '--head mean'";
	if (a->queries == b->queries && a->keys == b->keys && a->heads == b->heads && a->batch == b->batch)
		return ": choose with --layer and --layer-b, or join by '--layer mean'";
	return "";
}

static enum attn_status check_shapes(const struct sides *s, struct attn_error *err)
{
	const struct rows_info *x = &s->a.in.rows.info, *y = &s->b.in.rows.info;
	const struct rows_shape *a = &x->shape, *b = &y->shape;
	struct buffer of_a = BUFFER_INIT, of_b = BUFFER_INIT;
	bool layers = a->layers > 1 || b->layers > 1;
	if (a->layers == b->layers && a->batch == b->batch && a->heads == b->heads &&
	    a->queries == b->queries && (a->keys == b->keys || !(s->kinds & (HAS_WEIGHTS | HAS_SCORES))))
		return ATTN_OK;
	add_shape(&of_a, x, layers);
	add_shape(&of_b, y, layers);
	enum attn_status status =
	    of_a.failed || of_b.failed
		? attn_fail_memory(err)
		: attn_fail(err, ATTN_BAD_INPUT, "A has %s, B %s, expected the same shape%s", of_a.data,
			    of_b.data, shape_hint(s));
	buffer_release(&of_a);
	buffer_release(&of_b);
	return status;
}

/* --- rows --------------------------------------------------------------------------------------- */

bool side_projects(const struct sides *s, const struct side *side)
{
	return (s->kinds & HAS_OUTPUT) && !(side->held & HAS_OUTPUT);
}

/* The rows of a side that is computed, by the kernels that it is to be computed by. */
static enum attn_status plan_computed(struct side *side, struct rows_want want, struct attn_error *err)
{
	const struct rows_selection rows = selection_rows(&side->selected);
	const struct kernels *before = kernels_swap(side->kernels);
	want.values |= side->selected.norms;
	enum attn_status status = inputs_plan(&side->in, &rows, want, err);
	kernels_swap(before);
	if (status == ATTN_OK && side->kernel)
		status = rows_by_kernels(&side->in.rows.source, side->kernels, err);
	side->in.all = side->in.rows.source;
	return status == ATTN_OK && side->selected.norms ? inputs_show_norms(&side->in, &side->selected, err)
							 : status;
}

static enum attn_status plan_side(struct sides *s, struct side *side, struct attn_error *err)
{
	const struct rows_want want = {.weights = true,
				       .context = (s->kinds & HAS_CONTEXT) || side_projects(s, side),
				       .scores = s->kinds & HAS_SCORES ? 1u << s->stage : 0};
	if (side->kernel && (side->arrays || side_is_stored(side)))
		return attn_fail(err, ATTN_USAGE, "'--kernel%s' has no effect: %s is read, not computed",
				 side == &s->b ? "-b" : "", side->name);
	if (side->arrays)
		return ATTN_OK;
	if (!side_is_stored(side))
		return plan_computed(side, want, err);
	const struct arrays_want held = {
	    .context = s->kinds & HAS_CONTEXT, .scores = s->kinds & HAS_SCORES, .stage = s->stage};
	struct named_rows view;
	if (!held.context && !held.scores)
		return ATTN_OK;
	TRY(arrays_open(&view, &side->in.rows, &side->in.bundle, NULL, &held, err));
	inputs_show(&side->in, &view);
	return ATTN_OK;
}

/* Put copies of `from` in the place of what the list has. */
static bool replace(struct string_list *to, const struct string_list *from)
{
	string_list_release(to);
	return string_list_copy(to, from);
}

/* "2 of 9 queries differ in their tokens: the first, 7 is 'tired' in A and 'wide' in B" */
static void note_labels(const struct sides *s)
{
	const struct string_list *a = &s->a.in.shown_queries, *b = &s->b.in.shown_queries;
	size_t count = 0, first = 0;
	const char *of = "queries";
	if (string_list_same(a, b)) {
		a = &s->a.in.shown_keys;
		b = &s->b.in.shown_keys;
		of = "keys";
	}
	for (size_t i = a->count; i-- > 0;)
		if (strcmp(a->items[i], b->items[i]) != 0) {
			count++;
			first = i;
		}
	if (count > 0)
		report_note(s->self, "%zu of %zu %s differ in their tokens: %s%zu is '%s' in A and '%s' in B",
			    count, a->count, of, count > 1 ? "the first, " : "", first, a->items[first],
			    b->items[first]);
}

/* B is shown by the labels of A: what they choose and join is then the same of both.  Where only B has
 * tokens, A is shown by those. */
static enum attn_status take_labels(struct sides *s, struct attn_error *err)
{
	struct inputs *a = &s->a.in, *b = &s->b.in;
	if (!a->info->has_tokens && b->info->has_tokens) {
		a->rows.info.has_tokens = true;
		if (!replace(&a->rows.info.query_labels, &b->rows.info.query_labels) ||
		    !replace(&a->rows.info.key_labels, &b->rows.info.key_labels) ||
		    !replace(&a->shown_queries, &b->shown_queries) ||
		    !replace(&a->shown_keys, &b->shown_keys))
			return attn_fail_memory(err);
	}
	struct string_list *queries = &b->rows.info.query_labels, *keys = &b->rows.info.key_labels;
	bool tokens = a->info->has_tokens && b->info->has_tokens;
	s->labels_differ = tokens && !(string_list_same(&a->rows.info.query_labels, queries) &&
				       string_list_same(&a->rows.info.key_labels, keys));
	if (s->labels_differ)
		note_labels(s);
	s->b.query_labels = *queries;
	s->b.key_labels = *keys;
	s->b.shown_queries = b->shown_queries;
	s->b.shown_keys = b->shown_keys;
	*queries = *keys = b->shown_queries = b->shown_keys = (struct string_list){0};
	bool ok = replace(queries, &a->rows.info.query_labels) && replace(keys, &a->rows.info.key_labels) &&
		  replace(&b->shown_queries, &a->shown_queries) && replace(&b->shown_keys, &a->shown_keys);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* The labels of A, "tired (wide)" where B has another. */
static bool add_labels(const struct sides *s, struct string_list *to, const struct string_list *a,
		       const struct string_list *b, const size_t *numbers)
{
	struct buffer text = BUFFER_INIT;
	bool ok = true;
	for (size_t i = 0; i < a->count && ok; i++) {
		const char *other = a->items[i];
		if (s->labels_differ && !s->view->words)
			other = b->items[numbers ? numbers[i] : i];
		buffer_clear(&text);
		buffer_add_string(&text, a->items[i]);
		if (strcmp(a->items[i], other) != 0)
			buffer_printf(&text, " (%s)", other);
		buffer_add(&text, "", 0);
		ok = !text.failed && string_list_add(to, text.data);
	}
	buffer_release(&text);
	return ok;
}

/* One source of both, in s->in, as pictures and pages take it. */
static enum attn_status join_sides(struct sides *s, struct attn_error *err)
{
	struct inputs *in = &s->in, *a = &s->a.in, *b = &s->b.in;
	bool scores = !(s->kinds & HAS_WEIGHTS) && (s->kinds & HAS_SCORES);
	TRY(view_difference_open(&in->rows, &a->rows, &b->rows, scores ? &s->stage : NULL, err));
	a->rows.source = b->rows.source = NULL;
	in->info = &in->rows.info;
	in->all = in->rows.source;
	in->note = a->note;
	a->note = NULL;
	s->rows = (struct rows_selection){.batch = s->a.selected.batch};
	bool ok = add_labels(s, &in->shown_queries, &a->shown_queries, &s->b.shown_queries,
			     in->info->query_numbers) &&
		  add_labels(s, &in->shown_keys, &a->shown_keys, &s->b.shown_keys, in->info->key_numbers);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* Options are called after those of A: the message says whose they are. */
static enum attn_status select_side(struct side *side, struct attn_error *err)
{
	enum attn_status status = selection_open(&side->selected, &side->options, side->in.info, err);
	if (status != ATTN_OK)
		attn_error_prefix(err, side->name);
	return status;
}

enum attn_status sides_open(struct sides *s, int argc, char **argv, struct attn_error *err)
{
	struct side *const sides[] = {&s->a, &s->b};
	s->a.name = "A";
	s->b.name = "B";
	TRY(sides_open_inputs(s, argc, argv, err));
	for (size_t i = 0; i < 2; i++)
		TRY(select_side(sides[i], err));
	TRY(decide(s, err));
	for (size_t i = 0; i < 2; i++) {
		TRY(plan_side(s, sides[i], err));
		TRY(selection_show(&sides[i]->selected, &sides[i]->in, err));
	}
	TRY(check_shapes(s, err));
	for (size_t i = 0; i < 2 && s->keep_markers; i++)
		TRY(view_keep_markers(s->view, &sides[i]->in, err));
	TRY(take_labels(s, err));
	for (size_t i = 0; i < 2; i++)
		TRY(view_apply(s->view, &sides[i]->in, s->self, err));
	return join_sides(s, err);
}

void sides_release(struct sides *s)
{
	struct side *const sides[] = {&s->a, &s->b};
	inputs_release(&s->in);
	free(s->operands_b.items);
	for (size_t i = 0; i < 2; i++) {
		selection_release(&sides[i]->selected);
		string_list_release(&sides[i]->query_labels);
		string_list_release(&sides[i]->key_labels);
		string_list_release(&sides[i]->shown_queries);
		string_list_release(&sides[i]->shown_keys);
		inputs_release(&sides[i]->in);
	}
}
