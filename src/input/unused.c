#include "input/unused.h"

#include <stdio.h>

#include "input/given.h"
#include "util/number.h"

/* --- beside an input ---------------------------------------------------------------- */

static enum attn_status fail_unused(const struct role *role, const char *origin, bool from_command,
				    struct attn_error *err)
{
	const char *without = role->without ? role->without : "what it belongs to";
	if (from_command)
		return attn_fail(err, ATTN_USAGE, "'%s' has no effect without %s", origin, without);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' has no effect without %s", origin_name(origin),
			 role->name, without);
}

/* Whether an option turned off what the role belongs to. */
static bool turned_off(const struct bundle *b, const struct role *role)
{
	const struct setting *choice = given_setting(b, role->choice);
	return role->choice != ROLE_NONE && choice && choice->from_command;
}

static enum attn_status note_turned_off(const struct bundle *b, const struct role *role, const char *origin,
					struct string_list *notes, struct attn_error *err)
{
	char note[300];
	snprintf(note, sizeof note, "'%.100s': '%s' is left out: '%s' turns it off", origin_name(origin),
		 role->name, given_setting(b, role->choice)->origin);
	return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status note_results(const struct tensor *first, size_t count, struct string_list *notes,
				     struct attn_error *err)
{
	char note[300];
	if (count == 0)
		return ATTN_OK;
	snprintf(note, sizeof note, "'%.100s': '%s'%s left out beside an input", origin_name(first->origin),
		 first->name, count > 1 ? " and other results are" : ", a result, is");
	return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status check_tensors(const struct bundle *b, struct string_list *notes,
				      struct attn_error *err)
{
	const struct tensor *result = NULL;
	size_t results = 0;
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		const struct role *role = &roles[t->role];
		if (t->used || t->role == ROLE_NONE)
			continue;
		if (role->kind == KIND_RESULT)
			result = results++ ? result : t;
		else if (turned_off(b, role))
			TRY(note_turned_off(b, role, t->origin, notes, err));
		else
			return fail_unused(role, t->origin, false, err);
	}
	return note_results(result, results, notes, err);
}

/* What need not be used: metadata of others, what is false, and what attn says of its results. */
static bool is_idle(const struct bundle *b, const struct setting *s)
{
	const struct role *role = &roles[s->role];
	bool value;
	if (s->role == ROLE_NONE || (!role_is_setting(role) && role->kind != KIND_PER_HEAD))
		return true;
	if (role->kind == KIND_BOOL && parse_bool(s->value, &value) && !value)
		return true;
	return s->role == ROLE_VERSION ||
	       ((role->about & ABOUT_RESULT) && !s->from_command && given_setting(b, ROLE_VERSION));
}

static enum attn_status check_settings(const struct bundle *b, struct string_list *notes,
				       struct attn_error *err)
{
	for (size_t i = 0; i < b->setting_count; i++) {
		const struct setting *s = &b->settings[i];
		const struct role *role = &roles[s->role];
		if (s->used || is_idle(b, s))
			continue;
		if (!s->from_command && turned_off(b, role))
			TRY(note_turned_off(b, role, s->origin, notes, err));
		else
			return fail_unused(role, s->origin, s->from_command, err);
	}
	return ATTN_OK;
}

enum attn_status unused_check(const struct bundle *b, struct string_list *notes, struct attn_error *err)
{
	TRY(check_tensors(b, notes, err));
	return check_settings(b, notes, err);
}

/* --- beside stored weights ----------------------------------------------------------- */

static const char *weights_origin(const struct bundle *b)
{
	return origin_name(given_tensor(b, ROLE_WEIGHTS)->origin);
}

/* A result keeps the settings that it was computed with; those of another program are taken
 * for an input's. */
static enum attn_status check_stored_setting(const struct bundle *b, const struct setting *s,
					     struct attn_error *err)
{
	if (s->from_command)
		return attn_fail(err, ATTN_USAGE, "'%s' has no effect on a stored result: '%s'", s->origin,
				 weights_origin(b));
	if (is_idle(b, s) || given_setting(b, ROLE_VERSION))
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' has no effect on stored weights, those of '%s'",
			 origin_name(s->origin), s->name, weights_origin(b));
}

enum attn_status unused_check_stored(const struct bundle *b, struct attn_error *err)
{
	for (size_t i = 0; i < b->setting_count; i++)
		if (!b->settings[i].used)
			TRY(check_stored_setting(b, &b->settings[i], err));
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		if (!t->used && t->role != ROLE_NONE && roles[t->role].kind != KIND_RESULT)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'weights' of '%s' is a stored result, '%s' of '%s' is an input: give one of "
			    "them (choose with ROLE=FILE:TENSOR)",
			    weights_origin(b), t->name, origin_name(t->origin));
	}
	return ATTN_OK;
}
