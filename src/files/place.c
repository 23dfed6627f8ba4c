#include "files/place_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/slice.h"
#include "util/memory.h"

void place_release(struct place *place)
{
	free(place->path);
	free(place->tensor);
	free(place->slice);
	*place = (struct place){0};
}

bool path_exists(const char *path)
{
	return strcmp(path, "-") == 0 || access(path, F_OK) == 0;
}

/* Where `text` has the ':' after the name of a file, the last one that leaves one; NULL: there
 * is none. */
static char *find_colon(char *text)
{
	for (char *colon = strrchr(text, ':'); colon;) {
		*colon = '\0';
		bool found = path_exists(text);
		char *next = found ? NULL : strrchr(text, ':');
		*colon = ':';
		if (found)
			return colon;
		colon = next;
	}
	return NULL;
}

/* Take `text` apart: a file's name as it is wins over a ':' in it, and that over a slice, for a
 * tensor may be called 'a[0]'.  *found: there is such a file.  False: no memory. */
static bool place_find(struct place *place, const char *text, bool *found)
{
	char *copy = strdup(text), *colon = NULL, *slice = NULL;
	*place = (struct place){.path = copy};
	if (!copy)
		return false;
	*found = path_exists(copy);
	if (*found)
		return true;
	colon = find_colon(copy);
	slice = colon ? NULL : slice_find(copy);
	if (slice) { /* FILE[...] */
		place->slice = strdup(slice);
		*slice = '\0';
		*found = path_exists(copy);
		if (!*found)
			*slice = '[';
	}
	*found |= colon != NULL;
	if (!*found) { /* no such file: say so of what is before */
		free(place->slice);
		place->slice = NULL;
		colon = strrchr(copy, ':');
	}
	if (colon && colon != copy) {
		*colon = '\0';
		place->tensor = strdup(colon + 1);
		return place->tensor != NULL;
	}
	return !slice || !*found || place->slice;
}

bool place_slice(struct place *place)
{
	char *slice = place->tensor && !place->slice ? slice_find(place->tensor) : NULL;
	if (!slice)
		return false;
	place->slice = strdup(slice);
	*slice = '\0';
	return place->slice != NULL;
}

/* Where the first of several places ends in `text`, at a comma outside brackets; NULL: nowhere. */
static const char *find_comma(const char *text)
{
	int depth = 0;
	for (; *text; text++) {
		depth += (*text == '[') - (*text == ']');
		if (*text == ',' && depth <= 0)
			return text;
	}
	return NULL;
}

enum attn_status places_split(const char *text, struct place **places, size_t *count, struct attn_error *err)
{
	size_t most = 1;
	bool found = true, ok = true;
	for (const char *comma = text; (comma = find_comma(comma)) != NULL; comma++)
		most++;
	*places = array_alloc(most, sizeof **places);
	*count = 0;
	if (!*places)
		return attn_fail_memory(err);
	ok = place_find(&(*places)[0], text, &found);
	*count = 1;
	if (!ok || found || most == 1)
		return ok ? ATTN_OK : attn_fail_memory(err);
	struct place whole = (*places)[0];
	*count = 0;
	for (const char *at = text; at && ok && *count < most; (*count)++) {
		const char *comma = find_comma(at);
		char *one = comma ? strndup(at, (size_t)(comma - at)) : strdup(at);
		ok = one && place_find(&(*places)[*count], one, &found) && found;
		free(one);
		at = comma ? comma + 1 : NULL;
	}
	if (ok) {
		place_release(&whole);
		return ATTN_OK;
	}
	for (size_t i = 0; i <= *count && i < most; i++)
		place_release(&(*places)[i]);
	(*places)[0] = whole;
	*count = 1;
	return ATTN_OK;
}
