#include "input/roles.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/strings.h"

/* What several roles have no effect without. */
#define VALUES "values: give 'v' or 'wv'"
#define ROTARY "'rope', such as 10000"
#define POSITIONED "'rope', 'sinusoidal' or 'position_table'"
#define STORED "stored 'weights'"

const struct role roles[ROLE_COUNT] = {
#define ROLE(ID, NAME, KIND, FORM, ...)                                                                      \
	[ROLE_##ID] = {.name = (NAME), .kind = (KIND), .form = (FORM), .meaning = __VA_ARGS__},
#include "input/roles.def"
#undef ROLE
};

enum role_id role_find(const char *name)
{
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		if (strcmp(roles[id].name, name) == 0)
			return id;
	return ROLE_NONE;
}

static const char *find_alias(const char *name)
{
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		for (size_t i = 0; i < ROLE_ALIASES && roles[id].aliases[i]; i++)
			if (strcmp(name, roles[id].aliases[i]) == 0)
				return roles[id].name;
	return NULL;
}

const char *role_meant(const char *name)
{
	const char *role = find_alias(name);
	return role ? role : name;
}

const char *role_suggest(const char *name)
{
	const char *best = find_alias(name);
	if (best)
		return best;
	size_t length = strlen(name), nearest = length / 3 > 2 ? length / 3 : 2;
	if (length <= 2)
		nearest = 0; /* one- and two-letter names are all alike */
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		size_t distance = edit_distance(name, roles[id].name);
		if (distance <= nearest && distance < strlen(roles[id].name)) {
			if (!best || distance < edit_distance(name, best))
				best = roles[id].name;
		}
	}
	return best;
}

/* Whether `a` is `b` with two neighbours swapped. */
static bool is_swap(const char *a, const char *b)
{
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	return a[i] && a[i + 1] && a[i] == b[i + 1] && a[i + 1] == b[i] && strcmp(a + i + 2, b + i + 2) == 0;
}

static bool is_slip(const char *name, const struct role *role)
{
	enum {
		LONG = 8
	};
	size_t distance = edit_distance(name, role->name), length = strlen(name);
	if (length < 4 || (role->about & ABOUT_RESULT) || !(role->option || role->kind == KIND_TEXT))
		return false;
	return distance <= (length < LONG ? 1 : 2) || is_swap(name, role->name);
}

const char *role_suggest_slip(const char *name)
{
	char plain[ROLE_NAME];
	const char *alias = find_alias(name);
	if (alias || strlen(name) >= sizeof plain)
		return alias;
	snprintf(plain, sizeof plain, "%s", name);
	for (char *c = plain; *c; c++)
		*c = (char)(*c == '-' ? '_' : tolower((unsigned char)*c));
	enum role_id same = role_find(plain);
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		if (id == same || is_slip(plain, &roles[id]))
			return roles[id].name;
	return NULL;
}

void role_option(const struct role *role, char text[ROLE_NAME])
{
	snprintf(text, ROLE_NAME, "%s", role->name);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = '-';
}

bool role_word(const struct role *role, size_t index, char text[ROLE_NAME])
{
	const char *at = strchr(role->form, '\'');
	for (size_t i = 0; at; i++) {
		const char *end = strchr(at + 1, '\'');
		if (i == index) {
			snprintf(text, ROLE_NAME, "%.*s", (int)(end - at - 1), at + 1);
			return true;
		}
		at = strchr(end + 1, '\'');
	}
	return false;
}
