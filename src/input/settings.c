#include "input/settings.h"

#include <stdio.h>
#include <string.h>

#include "input/axes.h"
#include "input/given.h"
#include "util/number.h"

enum attn_status setting_fail(const struct setting *s, const char *expected, struct attn_error *err)
{
	if (s->from_command)
		return attn_fail(err, ATTN_USAGE, "'%s' is '%.200s', expected %s", s->origin, s->value,
				 expected);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': setting '%s' is '%.200s', expected %s",
			 origin_name(s->origin), s->name, s->value, expected);
}

enum attn_status setting_count(const struct bundle *b, enum role_id role, size_t least, size_t *out,
			       struct attn_error *err)
{
	const struct setting *s = use_setting(b, role);
	size_t value;
	if (!s)
		return ATTN_OK;
	if (!parse_count(s->value, &value) || value < least)
		return setting_fail(s, least ? "a whole number from 1" : "a whole number from 0", err);
	*out = value;
	return ATTN_OK;
}

enum attn_status setting_bool(const struct bundle *b, enum role_id role, bool *out, struct attn_error *err)
{
	const struct setting *s = use_setting(b, role);
	if (!s || parse_bool(s->value, out))
		return ATTN_OK;
	return setting_fail(s, "true or false", err);
}

enum attn_status setting_number(const struct bundle *b, enum role_id role, double *out,
				struct attn_error *err)
{
	const struct setting *s = use_setting(b, role);
	if (!s || parse_number(s->value, out))
		return ATTN_OK;
	return setting_fail(s, "a finite number", err);
}

enum attn_status setting_choice(const struct bundle *b, enum role_id role, size_t *out,
				struct attn_error *err)
{
	const struct setting *s = use_setting(b, role);
	char word[ROLE_NAME];
	if (!s)
		return ATTN_OK;
	for (size_t i = 0; role_word(&roles[role], i, word); i++) {
		if (strcmp(s->value, word) == 0) {
			*out = i;
			return ATTN_OK;
		}
	}
	return setting_fail(s, roles[role].form, err);
}

enum attn_status setting_axes(const struct bundle *b, bool *layer, bool *batch, bool *set,
			      struct attn_error *err)
{
	struct axis_list list;
	TRY(axis_list_read(b, &list, err));
	*set = list.setting != NULL;
	*layer = axis_list_has(&list, AXIS_LAYER);
	*batch = axis_list_has(&list, AXIS_BATCH);
	return ATTN_OK;
}
