#include "input/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "input/axes.h"

bool parse_count(const char *text, size_t *out)
{
	char *end;
	if (!isdigit((unsigned char)text[0]))
		return false; /* strtoull takes signs and spaces */
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || value > SIZE_MAX)
		return false;
	*out = (size_t)value;
	return true;
}

bool parse_number(const char *text, double *out)
{
	char *end;
	/* What JSON takes: no spaces, hexadecimal, inf or nan. */
	if (!text[0] || text[strspn(text, "+-.0123456789eE")])
		return false;
	double value = strtod(text, &end);
	if (*end || end == text || !isfinite(value))
		return false;
	*out = value;
	return true;
}

bool parse_bool(const char *text, bool *out)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
		*out = true;
	else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
		*out = false;
	else
		return false;
	return true;
}

enum attn_status setting_fail(const struct setting *s, const char *expected, struct attn_error *err)
{
	if (s->from_command)
		return attn_fail(err, ATTN_USAGE, "'%s' is '%.200s', expected %s", s->origin, s->value,
				 expected);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': setting '%s' is '%.200s', expected %s",
			 origin_name(s->origin), s->name, s->value, expected);
}

enum attn_status setting_count(const struct bundle *b, const char *name, size_t least, size_t *out,
			       struct attn_error *err)
{
	const struct setting *s = bundle_setting(b, name);
	size_t value;
	if (!s)
		return ATTN_OK;
	if (!parse_count(s->value, &value) || value < least)
		return setting_fail(s, least ? "a whole number from 1" : "a whole number from 0", err);
	*out = value;
	return ATTN_OK;
}

enum attn_status setting_bool(const struct bundle *b, const char *name, bool *out, struct attn_error *err)
{
	const struct setting *s = bundle_setting(b, name);
	if (!s || parse_bool(s->value, out))
		return ATTN_OK;
	return setting_fail(s, "true or false", err);
}

enum attn_status setting_number(const struct bundle *b, const char *name, double *out, struct attn_error *err)
{
	const struct setting *s = bundle_setting(b, name);
	if (!s || parse_number(s->value, out))
		return ATTN_OK;
	return setting_fail(s, "a finite number", err);
}

enum attn_status setting_axes(const struct bundle *b, bool *layer, bool *batch, bool *given,
			      struct attn_error *err)
{
	struct axis_list list;
	enum attn_status status = axis_list_read(b, &list, err);
	*given = list.setting != NULL;
	*layer = axis_list_has(&list, AXIS_LAYER);
	*batch = axis_list_has(&list, AXIS_BATCH);
	return status;
}
