#include "input/roles.h"

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
