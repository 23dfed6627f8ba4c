#include "files/join_internal.h"

#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"

/* A part's queries and keys; just a row is one query. */
static size_t queries_of(const struct tensor *t)
{
	return t->rank > 1 ? t->shape[t->rank - 2] : 1;
}

static size_t keys_of(const struct tensor *t)
{
	return t->shape[t->rank - 1];
}

/* Whether two have the same rank and the same axes but for the last `last`. */
static bool alike(const struct tensor *a, const struct tensor *b, int last)
{
	int axes = a->rank > last ? a->rank - last : 0;
	return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)axes * sizeof *a->shape) == 0;
}

static bool are_steps(const struct tensor *parts, size_t count)
{
	if (count < 2 || parts[0].rank == 0 || keys_of(&parts[0]) < queries_of(&parts[0]))
		return false;
	for (size_t i = 1; i < count; i++)
		if (!alike(&parts[0], &parts[i], 2) ||
		    keys_of(&parts[i]) != keys_of(&parts[i - 1]) + queries_of(&parts[i]))
			return false;
	return true;
}

static enum attn_status fail_shapes(const struct tensor *first, const struct tensor *other,
				    struct attn_error *err)
{
	char a[200], b[200];
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.100s' is %s, but '%.100s' is %s, expected layers of one shape, or steps with as "
			 "many more keys as they have queries",
			 first->name, tensor_shape_text(first->rank, first->shape, a, sizeof a), other->name,
			 tensor_shape_text(other->rank, other->shape, b, sizeof b));
}

/* Copy elements [from, from + count) of a part to element `to` of *out. */
static void copy_elements(struct tensor *out, size_t to, const struct tensor *part, size_t from, size_t count)
{
	size_t size = dtype_size(out->dtype);
	unsigned char *data = (unsigned char *)out->owned + to * size;
	if (part->dtype == out->dtype) {
		memcpy(data, (const unsigned char *)part->data + from * size, count * size);
		return;
	}
	for (size_t i = 0; i < count; i++) { /* of several types: float64 */
		double value = tensor_get(part, from + i);
		memcpy(data + i * size, &value, sizeof value);
	}
}

static void copy_steps(struct tensor *out, const struct tensor *parts, size_t count)
{
	size_t queries = out->shape[out->rank - 2], keys = out->shape[out->rank - 1];
	size_t items = out->count / (queries * keys), first = 0;
	for (size_t i = 0; i < count; i++) {
		size_t q = queries_of(&parts[i]), k = keys_of(&parts[i]);
		for (size_t item = 0; item < items; item++)
			for (size_t row = 0; row < q; row++)
				copy_elements(out, (item * queries + first + row) * keys, &parts[i],
					      (item * q + row) * k, k);
		first += q;
	}
}

/* The shape of *out; false where a size would wrap, or the rank is too high. */
static bool join_shape(const struct tensor *parts, size_t count, enum join how, int *rank, size_t *shape)
{
	const struct tensor *first = &parts[0];
	if (how == JOIN_STACKED) {
		*rank = first->rank + 1;
		if (*rank > TENSOR_MAX_RANK)
			return false;
		shape[0] = count;
		memcpy(shape + 1, first->shape, (size_t)first->rank * sizeof *shape);
		return true;
	}
	*rank = first->rank > 1 ? first->rank : 2;
	memcpy(shape, first->shape, (size_t)(*rank - 2) * sizeof *shape);
	shape[*rank - 2] = 0;
	for (size_t i = 0; i < count; i++)
		if (!size_add(shape[*rank - 2], queries_of(&parts[i]), &shape[*rank - 2]))
			return false;
	shape[*rank - 1] = keys_of(&parts[count - 1]);
	return true;
}

enum attn_status tensors_join(struct tensor *parts, size_t count, bool steps, const char *name,
			      struct tensor *out, enum join *how, struct attn_error *err)
{
	size_t shape[TENSOR_MAX_RANK], other = 1;
	int rank;
	enum dtype dtype = parts[0].dtype;
	enum attn_status status = ATTN_OK;
	while (other < count && alike(&parts[0], &parts[other], 0))
		other++;
	bool growing = other < count && are_steps(parts, count);
	if (other < count && !growing)
		return fail_shapes(&parts[0], &parts[other], err);
	*how = growing || (steps && parts[0].rank > 1) ? JOIN_STEPS : JOIN_STACKED;
	if (!join_shape(parts, count, *how, &rank, shape))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.100s' and those after it are too large to be joined", parts[0].name);
	for (size_t i = 0; i < count; i++)
		dtype = parts[i].dtype == dtype ? dtype : DTYPE_F64;
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		status = tensor_load(&parts[i], err);
	if (status == ATTN_OK)
		status = tensor_init(out, name, parts[0].origin, dtype, rank, shape, err);
	if (status != ATTN_OK)
		return status;
	out->data = out->owned = array_alloc(out->count, dtype_size(dtype));
	if (!out->owned) {
		tensor_release(out);
		return attn_fail_memory(err);
	}
	if (*how == JOIN_STEPS)
		copy_steps(out, parts, count);
	else
		for (size_t i = 0; i < count; i++)
			copy_elements(out, i * parts[0].count, &parts[i], 0, parts[0].count);
	return ATTN_OK;
}

/* --- names ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool name_numbers(const char *pattern, const char *name, size_t numbers[2])
{
	size_t found = 0;
	numbers[0] = numbers[1] = 0;
	for (; *pattern; pattern++) {
		if (*pattern != '*') {
			if (*pattern != *name++)
				return false;
			continue;
		}
		size_t value = 0;
		if (!is_digit(*name) || found == 2)
			return false;
		for (; is_digit(*name); name++)
			if (!size_mul(value, 10, &value) || !size_add(value, (size_t)(*name - '0'), &value))
				return false;
		numbers[found++] = value;
	}
	return *name == '\0';
}

/* The name with a star for those of its runs of digits whose bit is set in `runs`. */
static char *starred(const char *name, unsigned runs)
{
	struct buffer pattern = BUFFER_INIT;
	unsigned run = 0;
	for (const char *at = name; *at;) {
		if (!is_digit(*at)) {
			buffer_add_char(&pattern, *at++);
			continue;
		}
		size_t digits = strspn(at, "0123456789");
		if (run < 16 && (runs >> run & 1))
			buffer_add_char(&pattern, '*');
		else
			buffer_add(&pattern, at, digits);
		run++;
		at += digits;
	}
	return buffer_detach(&pattern);
}

char *names_pattern(const char *const *names, size_t count)
{
	/* Runs of digits where any name differs from the first are those that count. */
	unsigned runs = 0, all = 0;
	for (const char *at = names[0]; *at; at++)
		all += is_digit(*at) && !is_digit(at[1]);
	for (size_t i = 1; i < count; i++) {
		const char *a = names[0], *b = names[i];
		for (unsigned run = 0; *a && *b;) {
			size_t da = strspn(a, "0123456789"), db = strspn(b, "0123456789");
			if (da == 0 || db == 0) {
				if (*a++ != *b++)
					return NULL;
				continue;
			}
			if (run < 16 && (da != db || memcmp(a, b, da) != 0))
				runs |= 1u << run;
			run++;
			a += da;
			b += db;
		}
		if (*a || *b)
			return NULL;
	}
	if (count == 1 && all == 1)
		runs = 1;
	return runs && __builtin_popcount(runs) <= 2 ? starred(names[0], runs) : NULL;
}
