#include "input/unused.h"

#include <stdio.h>
#include <string.h>

#include "input/given.h"
#include "util/number.h"

/* --- names that are no role ---------------------------------------------------------- */

/* The masks of other libraries are called alike, and true means either in them. */
static enum attn_status fail_unknown(const char *origin, const char *name, const char *near,
				     struct attn_error *err)
{
	enum role_id role = role_find(near);
	if (role == ROLE_MASK || role == ROLE_KEY_PADDING)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': '%.100s' is not a role, did you mean 'mask' (queries x keys, true = "
				 "attend) or 'key_padding' (keys, true = a real key)",
				 origin_name(origin), name);
	if (role_is_setting(&roles[role]))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%.100s' is not a setting, did you mean '%s'",
				 origin_name(origin), name, near);
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s': '%.100s' is not a role, did you mean '%s' (%s=FILE:%.100s binds it)",
			 origin_name(origin), name, near, near, name);
}

static bool given_as_any(const struct bundle *b, const char *name)
{
	return bundle_tensor(b, name) || bundle_text(b, name) || bundle_setting(b, name);
}

/* Texts and metadata may be of any name, so only slips of the pen are refused. */
static enum attn_status check_slip(const struct bundle *b, enum role_id role, const char *name,
				   const char *origin, struct attn_error *err)
{
	const char *near = role == ROLE_NONE ? role_suggest_slip(name) : NULL;
	return near && !given_as_any(b, near) ? fail_unknown(origin, name, near, err) : ATTN_OK;
}

static enum attn_status check_slips(const struct bundle *b, struct attn_error *err)
{
	for (size_t i = 0; i < b->setting_count; i++)
		TRY(check_slip(b, b->settings[i].role, b->settings[i].name, b->settings[i].origin, err));
	for (size_t i = 0; i < b->text_count; i++)
		TRY(check_slip(b, b->texts[i].role, b->texts[i].name, b->texts[i].origin, err));
	return ATTN_OK;
}

enum attn_status unknown_check(const struct bundle *b, struct string_list *notes, struct attn_error *err)
{
	size_t ignored = 0;
	const struct tensor *first = NULL;
	char note[400];
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		if (t->role)
			continue;
		const char *near = role_suggest(t->name);
		if (near && !given_as_any(b, near))
			return fail_unknown(t->origin, t->name, near, err);
		first = first ? first : t;
		ignored++;
	}
	TRY(check_slips(b, err));
	ignored += b->other_count;
	if (ignored == 0)
		return ATTN_OK;
	snprintf(note, sizeof note,
		 "'%s': ignored '%s'%s: not a role (bind what you need with ROLE=FILE:TENSOR)",
		 origin_name(first ? first->origin : b->others[0].origin),
		 first ? first->name : b->others[0].name, ignored > 1 ? " and others" : "");
	return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
}

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

/* What the weights were computed with, head by head, as a file may keep it beside them. */
static bool is_kept_beside(const struct bundle *b, enum role_id role, const char *origin)
{
	return roles[role].kind == KIND_PER_HEAD && strcmp(origin_name(origin), weights_origin(b)) == 0;
}

static enum attn_status note_beside(const struct bundle *b, const char *first, size_t count,
				    struct string_list *notes, struct attn_error *err)
{
	char note[300];
	if (count == 0 || given_setting(b, ROLE_VERSION))
		return ATTN_OK;
	snprintf(note, sizeof note, "'%.100s': '%s'%s left out beside stored weights", weights_origin(b),
		 first, count > 1 ? " and others are" : " is");
	return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status unused_check_stored(const struct bundle *b, struct string_list *notes,
				     struct attn_error *err)
{
	const char *beside = NULL;
	size_t count = 0;
	for (size_t i = 0; i < b->setting_count; i++) {
		const struct setting *s = &b->settings[i];
		if (s->used)
			continue;
		if (s->from_command || !is_kept_beside(b, s->role, s->origin))
			TRY(check_stored_setting(b, s, err));
		else
			beside = count++ ? beside : s->name;
	}
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		if (t->used || t->role == ROLE_NONE || roles[t->role].kind == KIND_RESULT)
			continue;
		if (!is_kept_beside(b, t->role, t->origin))
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'weights' of '%s' is a stored result, '%s' of '%s' is an input: give one of "
			    "them (choose with ROLE=FILE:TENSOR)",
			    weights_origin(b), t->name, origin_name(t->origin));
		beside = count++ ? beside : t->name;
	}
	return note_beside(b, beside, count, notes, err);
}
