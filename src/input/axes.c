#include "input/axes.h"

#include <string.h>

#include "input/given.h"
#include "input/settings.h"

static const char *const names[AXIS_NAMES] = {"layer", "batch", "head", "query", "key"};

bool axis_list_has(const struct axis_list *list, enum axis_name name)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->names[i] == name)
			return true;
	return false;
}

/* Take the name at text[length]; false for none, or one that is there already. */
static bool add_name(struct axis_list *list, const char *text, size_t length)
{
	for (enum axis_name name = 0; name < AXIS_NAMES; name++) {
		if (strlen(names[name]) != length || strncmp(names[name], text, length) != 0)
			continue;
		if (axis_list_has(list, name))
			return false;
		list->names[list->count++] = name;
		return true;
	}
	return false;
}

enum attn_status axis_list_read(const struct bundle *b, struct axis_list *list, struct attn_error *err)
{
	bool ok = true;
	*list = (struct axis_list){.setting = use_setting(b, ROLE_AXES)};
	if (!list->setting)
		return ATTN_OK;
	for (const char *at = list->setting->value; ok && at;) {
		size_t length = strcspn(at, ",");
		ok = add_name(list, at, length);
		at = at[length] ? at + length + 1 : NULL;
	}
	if (!ok || axis_list_has(list, AXIS_QUERY) != axis_list_has(list, AXIS_KEY))
		return setting_fail(list->setting,
				    "'layer', 'batch' or 'layer,batch', or all axes, such as 'head,layer' or "
				    "'layer,head,key,query'",
				    err);
	if (!axis_list_has(list, AXIS_QUERY)) {
		list->names[list->count++] = AXIS_QUERY;
		list->names[list->count++] = AXIS_KEY;
	}
	return ATTN_OK;
}

bool axis_list_fit(struct axis_list *list, int rank)
{
	static const struct axis_list by_rank[] = {
	    {{AXIS_QUERY, AXIS_KEY}, 2, NULL},
	    {{AXIS_HEAD, AXIS_QUERY, AXIS_KEY}, 3, NULL},
	    {{AXIS_LAYER, AXIS_HEAD, AXIS_QUERY, AXIS_KEY}, 4, NULL},
	    {{AXIS_LAYER, AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY}, 5, NULL},
	};
	size_t found = (size_t)rank;
	if (rank < 2 || rank > AXIS_NAMES)
		return false;
	if (!list->setting) {
		*list = by_rank[rank - 2];
		return true;
	}
	if (list->count + 1 == found && !axis_list_has(list, AXIS_HEAD)) {
		memmove(&list->names[list->count - 1], &list->names[list->count - 2],
			2 * sizeof *list->names);
		list->names[list->count - 2] = AXIS_HEAD;
		list->count++;
	}
	return list->count == found;
}
