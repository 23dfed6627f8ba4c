/* Who is A and who B of attn compare, and opening both. */
#include <stdio.h>
#include <string.h>

#include "cmd/compare_sides.h"
#include "input/given.h"

/* --- who is A, and who B ---------------------------------------------------------------------- */

/* B is A but for what its own options say. */
static enum attn_status copy_model(struct model_options *b, const struct model_options *a,
				   const struct model_options *other, struct attn_error *err)
{
	*b = *a;
	if (other->model)
		b->model = other->model;
	if (other->target) {
		b->target = other->target;
		b->target_ids = NULL;
	}
	if (other->image || other->pixels) {
		b->image = other->image;
		b->pixels = other->pixels;
	}
	if (other->text || other->file || other->ids) {
		b->text = other->text;
		b->file = other->file;
		b->ids = other->ids;
	} else if (b->file && strcmp(b->file, "-") == 0) {
		return attn_fail(err, ATTN_USAGE,
				 "standard input is read once, expected '--text-file-b' beside "
				 "'--text-file -'");
	}
	return ATTN_OK;
}

/* B is what its options say, and for the rest A. */
static enum attn_status derive(struct sides *s, struct operands *a, struct operands *b,
			       struct attn_error *err)
{
	const struct model_options *other = &s->other_model;
	if (!s->other_option)
		return attn_fail(err, ATTN_USAGE,
				 "B is missing: give a file, or what of it is other than of A, such as "
				 "--text-b or --layer-b (see '%s --help')",
				 s->self->title);
	if (s->a.in.model_options.model || other->model)
		return copy_model(&s->b.in.model_options, &s->a.in.model_options, other, err);
	if (other->last)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a model: it also requires --model MODEL",
				 other->last);
	for (int i = 0; i < a->count; i++)
		if (strcmp(a->items[i], "-") == 0 || strstr(a->items[i], "=-"))
			return attn_fail(err, ATTN_USAGE,
					 "standard input is read once, expected a file beside '--%s'",
					 s->other_option);
	*b = *a;
	s->b.in.told = true;
	return ATTN_OK;
}

/* Which operands are of A, and which of B. */
static enum attn_status assign(struct sides *s, int argc, char **argv, struct operands *a, struct operands *b,
			       struct attn_error *err)
{
	bool model = s->a.in.model_options.model != NULL;
	*a = (struct operands){argv, argc};
	*b = s->operands_b;
	if (b->count == 0 && argc == (model ? 1 : 2)) {
		*b = (struct operands){argv + argc - 1, 1};
		a->count--;
	}
	if (b->count > 0 && s->other_model.last)
		return attn_fail(err, ATTN_USAGE, "'--%s' and '%s' cannot be combined: both are B",
				 s->other_model.last, b->items[0]);
	if (a->count > 0 && model)
		return attn_fail(err, ATTN_USAGE,
				 b->items
				     ? "'%s' and '--model' cannot be combined: both are A"
				     : "'%s' and others beside '--model', expected one, B: give more by -b",
				 a->items[0]);
	if (b->count == 0 && argc > 2 && !s->other_option)
		return attn_fail(err, ATTN_USAGE,
				 "%d inputs, expected two, A and B: where one is of several files, give "
				 "those of B by -b",
				 argc);
	if (a->count == 0 && !model)
		return attn_fail(err, ATTN_USAGE,
				 "A is missing: give a file, or --model and a text (see '%s --help')",
				 s->self->title);
	return b->count > 0 ? ATTN_OK : derive(s, a, b, err);
}

/* --- opening ---------------------------------------------------------------------------------- */

static unsigned held_kinds(const struct bundle *b)
{
	static const enum role_id results[DIFFERENCE_KINDS] = {ROLE_NONE, ROLE_CONTEXT, ROLE_SCORES,
							       ROLE_OUTPUT};
	unsigned held = 0;
	for (unsigned kind = DIFFERENCE_CONTEXT; kind < DIFFERENCE_KINDS; kind++)
		held |= given_tensor(b, results[kind]) ? 1u << kind : 0;
	return held;
}

bool side_is_stored(const struct side *side)
{
	return !side->arrays && given_tensor(&side->in.bundle, ROLE_WEIGHTS) != NULL;
}

static bool computes(const struct side *side)
{
	return !side_is_model(side) && !side->arrays && !side_is_stored(side);
}

static enum attn_status give_setting(struct sides *s, const struct side_setting *setting,
				     struct attn_error *err)
{
	struct side *const sides[] = {&s->a, &s->b};
	bool (*const wants[])(const struct side *) = {computes, side_is_stored};
	size_t first = roles[setting->role].about & ABOUT_RESULT ? 1 : 0;
	bool given = false;
	for (size_t w = 0; w < 2 && !given; w++)
		for (size_t i = 0; i < 2; i++) {
			if (!wants[(first + w) % 2](sides[i]))
				continue;
			TRY(inputs_set(&sides[i]->in, setting->name, setting->role, setting->value, err));
			given = true;
		}
	for (size_t i = 0; i < 2 && !given && s->a.arrays && s->b.arrays; i++)
		if (setting->role == ROLE_NUM_HEADS)
			TRY(inputs_set(&sides[i]->in, setting->name, setting->role, setting->value, err));
	if (given || (s->a.arrays && s->b.arrays && setting->role == ROLE_NUM_HEADS))
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE, "'--%s' has no effect: neither A nor B is computed from a file",
			 setting->name);
}

/* What a side that is no array can give. */
static enum attn_status find_kinds(struct side *side, struct attn_error *err)
{
	const struct attention *a = side->in.subject.attention;
	if (side_is_model(side)) {
		side->kinds = HAS_WEIGHTS | HAS_CONTEXT | HAS_SCORES;
		side->context_size = side->in.model.output.context_size / side->in.info->shape.heads;
	} else if (side_is_stored(side)) {
		side->kinds = HAS_WEIGHTS | side->held;
		if (side->held & HAS_CONTEXT)
			TRY(arrays_context_size(&side->in.bundle, &side->in.info->shape, &side->context_size,
						err));
	} else {
		side->held = 0;
		side->context_size = a->value_size;
		side->kinds = HAS_WEIGHTS | (a->has_values ? HAS_CONTEXT : 0);
		side->kinds |= a->has_values && subject_output_size(&side->in.subject) > 0 ? HAS_OUTPUT : 0;
		side->kinds |= side->in.info->shape.signed_weights ? 0 : HAS_SCORES;
	}
	return ATTN_OK;
}

static enum attn_status open_side(struct sides *s, struct side *side, struct attn_error *err)
{
	TRY(side_is_model(side) ? inputs_open(&side->in, s->self, 0, NULL, err)
				: inputs_open_read(&side->in, s->self, err));
	return find_kinds(side, err);
}

/* After the other side, whose shape it has. */
static enum attn_status open_arrays(struct sides *s, struct side *side, const struct side *other,
				    struct attn_error *err)
{
	const struct rows_info *like = other->in.info; /* NULL: not open yet, arrays too */
	const struct arrays_want want = {
	    .context = side->held & HAS_CONTEXT, .scores = side->held & HAS_SCORES, .stage = s->stage};
	side->kinds = side->held;
	TRY(inputs_open_arrays(&side->in, s->self, like, &want, err));
	if (side->held & HAS_CONTEXT)
		TRY(arrays_context_size(&side->in.bundle, &side->in.info->shape, &side->context_size, err));
	return ATTN_OK;
}

enum attn_status sides_open_inputs(struct sides *s, int argc, char **argv, struct attn_error *err)
{
	struct side *const sides[] = {&s->a, &s->b};
	struct operands operands[2];
	TRY(assign(s, argc, argv, &operands[0], &operands[1], err));
	TRY(kernels_check(err));
	for (size_t i = 0; i < 2; i++) {
		sides[i]->kernels = kernels_best();
		if (sides[i]->kernel)
			TRY(kernels_find(i == 0 ? "--kernel" : "--kernel-b", sides[i]->kernel,
					 &sides[i]->kernels, err));
		TRY(model_options_check(&sides[i]->in.model_options, err));
		if (side_is_model(sides[i]))
			continue;
		TRY(inputs_read(&sides[i]->in, s->self, operands[i].count, operands[i].items, err));
		sides[i]->arrays = inputs_are_arrays(&sides[i]->in);
		sides[i]->held = held_kinds(&sides[i]->in.bundle);
	}
	for (size_t i = 0; i < s->setting_count; i++)
		TRY(give_setting(s, &s->settings[i], err));
	for (size_t i = 0; i < 2; i++)
		if (!sides[i]->arrays)
			TRY(open_side(s, sides[i], err));
	for (size_t i = 0; i < 2; i++)
		if (sides[i]->arrays)
			TRY(open_arrays(s, sides[i], sides[1 - i], err));
	return ATTN_OK;
}
