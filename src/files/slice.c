#include "files/slice.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* What is taken of an axis: `count` indices from `first` on, `step` apart. */
struct range {
	size_t first, count;
	ptrdiff_t step;
	bool index; /* one, and the axis goes */
};

char *slice_find(char *text)
{
	size_t length = strlen(text);
	if (length < 3 || text[length - 1] != ']')
		return NULL;
	char *first = NULL, *end = text + length - 1; /* of slices in a row, as in "a[3][0]" */
	for (char *open = end; open > text && *end == ']'; open--) {
		size_t inside = *open == '[' ? strspn(open + 1, "0123456789-:,. ") : 0;
		if (*open != '[')
			continue;
		if (inside == 0 || open + 1 + inside != end)
			break;
		first = open;
		end = open - 1;
	}
	return first;
}

static enum attn_status fail_form(const char *slice, struct attn_error *err)
{
	return attn_fail(
	    err, ATTN_USAGE,
	    "'%.100s' is no slice, expected indices, START:STOP:STEP and '...', such as [0,:,2:5]", slice);
}

static void skip_space(const char **at)
{
	*at += strspn(*at, " ");
}

/* Read a whole number with its sign, if there is one. */
static bool read_number(const char **at, bool *given, ptrdiff_t *value)
{
	char *end;
	skip_space(at);
	*given = **at == '-' || (**at >= '0' && **at <= '9');
	if (!*given)
		return true;
	errno = 0;
	long long number = strtoll(*at, &end, 10);
	if (errno || end == *at || number > PTRDIFF_MAX / 4 || number < -PTRDIFF_MAX / 4)
		return false;
	*value = (ptrdiff_t)number;
	*at = end;
	skip_space(at);
	return true;
}

/* A bound of a range on an axis of `size`, as Python clips it. */
static ptrdiff_t clip(ptrdiff_t bound, ptrdiff_t size, ptrdiff_t step)
{
	ptrdiff_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
	bound += bound < 0 ? size : 0;
	return bound < least ? least : bound > most ? most : bound;
}

static struct range resolve(const bool given[3], const ptrdiff_t value[3], ptrdiff_t size)
{
	ptrdiff_t step = given[2] ? value[2] : 1;
	ptrdiff_t start = given[0] ? clip(value[0], size, step) : step < 0 ? size - 1 : 0;
	ptrdiff_t stop = given[1] ? clip(value[1], size, step) : step < 0 ? -1 : size;
	ptrdiff_t span = step < 0 ? start - stop : stop - start, stride = step < 0 ? -step : step;
	size_t count = span > 0 ? (size_t)((span + stride - 1) / stride) : 0;
	return (struct range){count ? (size_t)start : 0, count, step, false};
}

/* Read one item of a slice for an axis of `size`. */
static enum attn_status read_item(const char **at, const char *slice, const char *name, int axis, size_t size,
				  struct range *range, struct attn_error *err)
{
	bool given[3] = {false};
	ptrdiff_t value[3] = {0};
	int parts = 0;
	for (;; (*at)++) {
		if (parts == 3 || !read_number(at, &given[parts], &value[parts]))
			return fail_form(slice, err);
		parts++;
		if (**at != ':')
			break;
	}
	if ((parts == 1 && !given[0]) || (given[2] && value[2] == 0))
		return fail_form(slice, err);
	if (parts > 1) {
		*range = resolve(given, value, (ptrdiff_t)size);
		return ATTN_OK;
	}
	ptrdiff_t index = value[0] + (value[0] < 0 ? (ptrdiff_t)size : 0);
	if (index < 0 || (size_t)index >= size)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.100s%.100s': index %td is not in axis %d, which has %zu", name, slice,
				 value[0], axis, size);
	*range = (struct range){(size_t)index, 1, 1, true};
	return ATTN_OK;
}

/* How many axes the items of a slice take, "..." not counted. */
static int count_items(const char *slice)
{
	int items = 0;
	for (const char *at = slice + 1;; at++) {
		skip_space(&at);
		items += strncmp(at, "...", 3) != 0;
		at += strcspn(at, ",]");
		if (*at != ',')
			return items;
	}
}

static enum attn_status read_slice(const char *slice, const char *name, int rank, const size_t *shape,
				   struct range *ranges, struct attn_error *err)
{
	int axis = 0, items = count_items(slice);
	bool rest = false;
	const char *at = slice + 1;
	if (items > rank)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.100s%.100s' has %d indices, but '%.100s' has %d dimension%s", name,
				 slice, items, name, rank, rank == 1 ? "" : "s");
	for (int i = 0; i < rank; i++)
		ranges[i] = (struct range){0, shape[i], 1, false};
	for (;; at++) {
		enum attn_status status = ATTN_OK;
		skip_space(&at);
		if (strncmp(at, "...", 3) == 0) {
			if (rest)
				return fail_form(slice, err);
			rest = true;
			axis = rank - (items - axis);
			at += 3;
			skip_space(&at);
		} else if (axis < rank) {
			status = read_item(&at, slice, name, axis, shape[axis], &ranges[axis], err);
			axis++;
		}
		if (status != ATTN_OK)
			return status;
		if (*at == ']')
			return ATTN_OK;
		if (*at != ',')
			return fail_form(slice, err);
	}
}

/* Copy what the ranges choose, from axis `axis` on; *to moves on. */
static void copy(const struct tensor *t, const struct range *ranges, int axis, size_t from,
		 unsigned char **to)
{
	size_t size = dtype_size(t->dtype), inner = 1;
	if (axis == t->rank) {
		memcpy(*to, (const unsigned char *)t->data + from * size, size);
		*to += size;
		return;
	}
	for (int i = axis + 1; i < t->rank; i++)
		inner *= t->shape[i];
	bool whole = ranges[axis].step == 1;
	for (int i = axis + 1; i < t->rank && whole; i++)
		whole = ranges[i].step == 1 && ranges[i].count == t->shape[i];
	if (whole) {
		size_t bytes = ranges[axis].count * inner * size;
		memcpy(*to, (const unsigned char *)t->data + (from + ranges[axis].first * inner) * size,
		       bytes);
		*to += bytes;
		return;
	}
	for (size_t i = 0; i < ranges[axis].count; i++)
		copy(t, ranges, axis + 1,
		     from +
			 (size_t)((ptrdiff_t)ranges[axis].first + (ptrdiff_t)i * ranges[axis].step) * inner,
		     to);
}

/* Whether what is chosen is one run of elements, and where it begins. */
static bool is_run(const struct tensor *t, const struct range *ranges, size_t *first)
{
	bool inside = false; /* an axis of more than one index is before this one */
	size_t inner = t->count;
	*first = 0;
	for (int i = 0; i < t->rank; i++) {
		inner /= t->shape[i];
		if ((inside && ranges[i].count != t->shape[i]) ||
		    (ranges[i].count > 1 && ranges[i].step != 1))
			return false;
		inside |= ranges[i].count > 1;
		*first += ranges[i].first * inner;
	}
	return true;
}

static enum attn_status slice_once(struct tensor *t, const char *slice, struct attn_error *err)
{
	struct range ranges[TENSOR_MAX_RANK];
	enum attn_status status = read_slice(slice, t->name, t->rank, t->shape, ranges, err);
	if (status != ATTN_OK)
		return status;
	size_t size = dtype_size(t->dtype), count = 1, first;
	for (int i = 0; i < t->rank; i++)
		count *= ranges[i].count;
	if (count == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.100s%.100s' chooses nothing", t->name, slice);
	if (is_run(t, ranges, &first)) {
		t->data = (const unsigned char *)t->data + first * size;
	} else {
		unsigned char *chosen = array_alloc(count, size), *to = chosen;
		if (!chosen)
			return attn_fail_memory(err);
		copy(t, ranges, 0, 0, &to);
		free(t->owned);
		t->data = t->owned = chosen;
	}
	int rank = 0;
	for (int i = 0; i < t->rank; i++)
		if (!ranges[i].index)
			t->shape[rank++] = ranges[i].count;
	t->rank = rank;
	t->count = count;
	return ATTN_OK;
}

/* The slice after this one, or NULL. */
static const char *next_slice(const char *slice)
{
	return strchr(slice + 1, '[');
}

enum attn_status tensor_slice(struct tensor *t, const char *slice, struct attn_error *err)
{
	for (; slice; slice = next_slice(slice))
		TRY(slice_once(t, slice, err));
	return ATTN_OK;
}

static enum attn_status strings_slice_once(struct string_list *list, const char *name, const char *slice,
					   struct attn_error *err)
{
	struct range range;
	struct string_list chosen = {0};
	enum attn_status status = read_slice(slice, name, 1, &list->count, &range, err);
	for (size_t i = 0; status == ATTN_OK && i < range.count; i++)
		if (!string_list_add(&chosen,
				     list->items[(ptrdiff_t)range.first + (ptrdiff_t)i * range.step]))
			status = attn_fail_memory(err);
	if (status == ATTN_OK && chosen.count == 0)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%.100s%.100s' chooses nothing", name, slice);
	if (status != ATTN_OK) {
		string_list_release(&chosen);
		return status;
	}
	string_list_release(list);
	*list = chosen;
	return ATTN_OK;
}

enum attn_status strings_slice(struct string_list *list, const char *name, const char *slice,
			       struct attn_error *err)
{
	for (; slice; slice = next_slice(slice))
		TRY(strings_slice_once(list, name, slice, err));
	return ATTN_OK;
}
