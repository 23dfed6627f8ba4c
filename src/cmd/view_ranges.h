/* Ranges of queries or keys, by index or by token: "3:6", "-2:", "The:cat", "it", "#8". */
#ifndef ATTN_CMD_VIEW_RANGES_H
#define ATTN_CMD_VIEW_RANGES_H

#include <stdbool.h>

#include "util/error.h"
#include "util/strings.h"

/* What a range is of. */
struct range_items {
	const char *option;                    /* "--query", in messages */
	const char *things;                    /* "queries" */
	const struct string_list *raw, *shown; /* their labels */
};

/* Turn a range into a bool array that the caller frees.  Numbers are Python's: from A to before
 * B, negative from the end, cut at the ends.  Of tokens both ends are included: the first
 * A, and the first B from there.  ATTN_USAGE for a range of nothing, ATTN_NO_MATCH for a
 * token that does not occur, with a suggestion. */
enum attn_status range_parse(const struct range_items *items, const char *text, bool **out,
			     struct attn_error *err);

/* Mark in marked[count] each item that is called `text`, or the one at "#index". */
enum attn_status range_mark(const struct range_items *items, const char *text, bool *marked,
			    struct attn_error *err);

#endif
