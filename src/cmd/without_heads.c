#include "cmd/without_heads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"

struct span_of {
	size_t first, last;
};

static enum attn_status fail(const char *list, bool layered, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE, "'--without-head' is '%.100s', expected %s", list,
			 layered ? "LAYER.HEAD, such as 2.0,2.3-5,1.*" : "heads, such as 0,3-5");
}

/* A number, FIRST-LAST or '*', of `count`. */
static enum attn_status parse_span(const char *text, size_t length, size_t count, const char *what,
				   const char *list, bool layered, struct span_of *out,
				   struct attn_error *err)
{
	char first[24], last[24] = "";
	const char *dash = memchr(text, '-', length);
	size_t head = dash ? (size_t)(dash - text) : length, tail = dash ? length - head - 1 : 0;
	*out = (struct span_of){0, count - 1};
	if (length == 1 && *text == '*')
		return ATTN_OK;
	if (head >= sizeof first || tail >= sizeof last)
		return fail(list, layered, err);
	snprintf(first, sizeof first, "%.*s", (int)head, text);
	snprintf(last, sizeof last, "%.*s", (int)tail, dash ? dash + 1 : "");
	if (!parse_count(first, &out->first) || (dash && !parse_count(last, &out->last)))
		return fail(list, layered, err);
	if (!dash)
		out->last = out->first;
	if (out->last < out->first)
		return fail(list, layered, err);
	if (out->last < count)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE, "'--without-head' names %s %zu, expected one from 0 to %zu", what,
			 out->last, count - 1);
}

static enum attn_status take_item(bool *out, const char *item, size_t length, const char *list, bool layered,
				  size_t layers, size_t heads, struct attn_error *err)
{
	const char *dot = memchr(item, '.', length);
	size_t before = dot ? (size_t)(dot - item) : 0;
	struct span_of layer = {0, layers - 1}, head;
	if (length == 0 || (dot != NULL) != layered)
		return fail(list, layered, err);
	if (layered)
		TRY(parse_span(item, before, layers, "layer", list, layered, &layer, err));
	const char *rest = layered ? dot + 1 : item;
	TRY(parse_span(rest, length - (size_t)(rest - item), heads, "head", list, layered, &head, err));
	for (size_t l = layer.first; l <= layer.last; l++)
		for (size_t h = head.first; h <= head.last; h++)
			out[l * heads + h] = true;
	return ATTN_OK;
}

enum attn_status without_heads_parse(bool **out, const char *list, bool layered, size_t layers, size_t heads,
				     struct attn_error *err)
{
	*out = array_alloc(layers, heads);
	if (!*out)
		return attn_fail_memory(err);
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		TRY(take_item(*out, at, length, list, layered, layers, heads, err));
		at += length;
		if (!*at)
			return ATTN_OK;
	}
}
