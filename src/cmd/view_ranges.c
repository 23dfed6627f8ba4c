#include "cmd/view_ranges.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/token.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/number.h"

/* The first item from `from` on that is called text[length]; the count when there is none. */
static size_t find_item(const struct range_items *items, const char *text, size_t from)
{
	size_t i = from;
	while (i < items->raw->count && !token_matches(text, items->raw->items[i], items->shown->items[i]))
		i++;
	return i;
}

static enum attn_status fail_absent(const struct range_items *items, const char *text, struct attn_error *err)
{
	size_t near = token_nearest(text, items->shown);
	if (near < items->shown->count)
		return attn_fail(
		    err, ATTN_NO_MATCH, "'%s' has '%s', which is not among the %zu %s, did you mean '%s'",
		    items->option, text, items->shown->count, items->things, items->shown->items[near]);
	return attn_fail(err, ATTN_NO_MATCH, "'%s' has '%s', which is not among the %zu %s", items->option,
			 text, items->shown->count, items->things);
}

/* A whole number, perhaps negative: where it is among `count`, from the end if negative, cut
 * at both ends. */
static bool parse_index(const char *text, size_t count, size_t *index, bool *inside)
{
	size_t number;
	bool negative = text[0] == '-';
	if (!parse_count(text + negative, &number))
		return false;
	*inside = negative ? number >= 1 && number <= count : number < count;
	*index = !negative ? size_min(number, count) : number > count ? 0 : count - number;
	return true;
}

/* "#8" */
static bool parse_hash(const char *text, size_t *number)
{
	return text[0] == '#' && parse_count(text + 1, number);
}

enum attn_status range_mark(const struct range_items *items, const char *text, bool *marked,
			    struct attn_error *err)
{
	size_t count = items->raw->count, number;
	bool found = false;
	for (size_t i = 0; i < count; i++) {
		bool called = token_matches(text, items->raw->items[i], items->shown->items[i]);
		marked[i] |= called;
		found |= called;
	}
	if (found)
		return ATTN_OK;
	if (!parse_hash(text, &number))
		return fail_absent(items, text, err);
	if (number >= count)
		return attn_fail(err, ATTN_NO_MATCH,
				 "'%s' has '%s', beyond the %zu %s, expected '#0' to '#%zu'", items->option,
				 text, count, items->things, count - 1);
	marked[number] = true;
	return ATTN_OK;
}

/* One item: "it", "8", "-1", "#8". */
static enum attn_status parse_one(const struct range_items *items, const char *text, size_t *first,
				  struct attn_error *err)
{
	size_t count = items->raw->count;
	bool inside = false;
	if (parse_index(text, count, first, &inside) && !inside)
		return attn_fail(err, ATTN_USAGE, "'%s' is '%s', expected an index from -%zu to %zu",
				 items->option, text, count, count - 1);
	if (inside)
		return ATTN_OK;
	*first = find_item(items, text, 0);
	if (*first == count && parse_hash(text, first) && *first < count)
		return ATTN_OK;
	return *first < count ? ATTN_OK : fail_absent(items, text, err);
}

/* "A:B", which is cut in two there; either end may be empty, an index or a token. */
static enum attn_status parse_ends(const struct range_items *items, const char *a, const char *b,
				   size_t *first, size_t *end, struct attn_error *err)
{
	size_t count = items->raw->count;
	bool inside;
	*first = 0;
	*end = count;
	if (*a && !parse_index(a, count, first, &inside)) {
		*first = find_item(items, a, 0);
		if (*first == count)
			return fail_absent(items, a, err);
	}
	if (*b && !parse_index(b, count, end, &inside)) {
		size_t last = find_item(items, b, *first);
		if (last == count && find_item(items, b, 0) < count)
			return attn_fail(err, ATTN_NO_MATCH,
					 "'%s' has '%s', which is not among the %s from '%s' on",
					 items->option, b, items->things, *a ? a : "0");
		if (last == count)
			return fail_absent(items, b, err);
		*end = last + 1;
	}
	return ATTN_OK;
}

/* Cut at the first colon at which both ends are found: tokens may have some. */
static enum attn_status parse_range(const struct range_items *items, char *text, size_t *first, size_t *end,
				    struct attn_error *err)
{
	enum attn_status status = ATTN_NO_MATCH;
	struct attn_error error, cause = {ATTN_OK, ""};
	for (char *colon = strchr(text, ':'); colon && status == ATTN_NO_MATCH;
	     colon = strchr(colon + 1, ':')) {
		*colon = '\0';
		status = parse_ends(items, text, colon + 1, first, end, &error);
		*colon = ':';
		if (status != ATTN_OK && cause.status == ATTN_OK)
			cause = error; /* what the first cut has to say */
	}
	if (status != ATTN_OK)
		return attn_fail(err, cause.status, "%s", cause.message);
	return ATTN_OK;
}

static enum attn_status find_range(const struct range_items *items, char *text, size_t *first, size_t *end,
				   struct attn_error *err)
{
	size_t count = items->raw->count;
	bool is_token = find_item(items, text, 0) < count;
	if (!strchr(text, ':') || is_token) {
		enum attn_status status = parse_one(items, text, first, err);
		*end = *first + 1;
		return status;
	}
	enum attn_status status = parse_range(items, text, first, end, err);
	if (status == ATTN_OK && *first >= *end)
		return attn_fail(err, ATTN_USAGE, "'%s' is '%s', which is none of the %zu %s", items->option,
				 text, count, items->things);
	return status;
}

enum attn_status range_parse(const struct range_items *items, const char *text, bool **out,
			     struct attn_error *err)
{
	size_t first = 0, end = 0;
	char *copy = strdup(text);
	enum attn_status status = copy ? find_range(items, copy, &first, &end, err) : attn_fail_memory(err);
	if (status == ATTN_OK) {
		*out = array_alloc(items->raw->count, sizeof **out);
		status = *out ? ATTN_OK : attn_fail_memory(err);
	}
	for (size_t i = first; i < end && status == ATTN_OK; i++)
		(*out)[i] = true;
	free(copy);
	return status;
}
