#include "files/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/utf8.h"

enum {
	HEADER_SIZE = 24,
	PAIR_LEAST = 8 + 1 + 4 + 1,       /* bytes of the shortest pair */
	TENSOR_LEAST = 8 + 1 + 4 + 4 + 8, /* and of a tensor */
	MAX_NAME = 65535,                 /* bytes of a key, by the specification */
	MAX_DIMENSIONS = 4,
	ALIGNMENT = 32,
	MAX_ALIGNMENT = 1 << 24,
};

/* --- reading --------------------------------------------------------------------------- */

struct reader {
	const unsigned char *data;
	size_t length, at;
	struct attn_error *err;
};

/* What is left is at least `count` bytes, which are those of `what`. */
static enum attn_status need(const struct reader *r, size_t count, const char *what)
{
	if (r->length - r->at >= count)
		return ATTN_OK;
	return attn_fail(r->err, ATTN_BAD_INPUT, "file ends at byte %zu, in %.200s", r->length, what);
}

static enum attn_status read_u32(struct reader *r, const char *what, uint32_t *out)
{
	TRY(need(r, 4, what));
	*out = read_le32(r->data + r->at);
	r->at += 4;
	return ATTN_OK;
}

/* A size, which has eight bytes. */
static enum attn_status read_size(struct reader *r, const char *what, size_t *out)
{
	TRY(need(r, 8, what));
	uint64_t value = read_le64(r->data + r->at);
	r->at += 8;
	*out = (size_t)value;
	if (*out == value)
		return ATTN_OK;
	return attn_fail(r->err, ATTN_BAD_INPUT, "%.200s has a size of %llu, more than memory can hold", what,
			 (unsigned long long)value);
}

/* A key or a tensor's name. */
static enum attn_status read_name(struct reader *r, const char *what, size_t number, char **out)
{
	char label[60];
	size_t length;
	snprintf(label, sizeof label, "the name of %s %zu", what, number);
	TRY(read_size(r, label, &length));
	if (length == 0 || length > MAX_NAME)
		return attn_fail(r->err, ATTN_BAD_INPUT, "%s has %zu bytes, expected 1 to %d", label, length,
				 MAX_NAME);
	TRY(need(r, length, label));
	const char *text = (const char *)r->data + r->at;
	if (memchr(text, 0, length) || !utf8_valid(text, length))
		return attn_fail(r->err, ATTN_BAD_INPUT, "%s is not UTF-8 text", label);
	*out = strndup(text, length);
	r->at += length;
	return *out ? ATTN_OK : attn_fail_memory(r->err);
}

static enum attn_status read_kind(struct reader *r, const char *key, enum gguf_kind *out)
{
	uint32_t kind;
	TRY(read_u32(r, key, &kind));
	if (kind >= GGUF_KINDS)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has values of type %lu, expected 0 to %d",
				 key, (unsigned long)kind, GGUF_KINDS - 1);
	*out = (enum gguf_kind)kind;
	return ATTN_OK;
}

/* Step over the values of a pair. */
static enum attn_status skip_values(struct reader *r, const struct gguf_pair *p)
{
	size_t bytes;
	if (!size_mul(p->count, gguf_kind_size(p->kind), &bytes) || bytes > r->length - r->at)
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "'%.200s' has %zu values, more than the rest of the file holds", p->key,
				 p->count);
	if (p->kind != GGUF_TEXT) {
		r->at += bytes;
		return ATTN_OK;
	}
	for (size_t i = 0; i < p->count; i++) {
		size_t length;
		TRY(read_size(r, p->key, &length));
		TRY(need(r, length, p->key));
		r->at += length;
	}
	return ATTN_OK;
}

static enum attn_status read_pair(struct reader *r, size_t number, struct gguf_pair *p)
{
	TRY(read_name(r, "key", number, &p->key));
	TRY(read_kind(r, p->key, &p->kind));
	p->count = 1;
	p->array = p->kind == GGUF_ARRAY;
	if (p->array) {
		TRY(read_kind(r, p->key, &p->kind));
		if (p->kind == GGUF_ARRAY)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%.200s' is an array of arrays, expected numbers, bools or strings",
					 p->key);
		TRY(read_size(r, p->key, &p->count));
	}
	p->data = r->data + r->at;
	return skip_values(r, p);
}

static enum attn_status fail_size(const struct reader *r, const char *name)
{
	return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has more elements than memory can hold", name);
}

static enum attn_status check_block(const struct reader *r, const struct gguf_tensor *t)
{
	size_t row = t->rank > 0 ? t->shape[t->rank - 1] : 1;
	if (t->type->values == 0 || row % t->type->values == 0)
		return ATTN_OK;
	return attn_fail(r->err, ATTN_BAD_INPUT,
			 "'%.200s' has rows of %zu numbers, expected whole blocks of %zu (%s)", t->name, row,
			 t->type->values, t->type->name);
}

/* Its offset is left in *offset, since where the data begins is not known before the last. */
static enum attn_status read_tensor(struct reader *r, size_t number, struct gguf_tensor *t, size_t *offset)
{
	uint32_t rank, type;
	TRY(read_name(r, "tensor", number, &t->name));
	TRY(read_u32(r, t->name, &rank));
	if (rank > MAX_DIMENSIONS)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has %lu dimensions, expected at most %d",
				 t->name, (unsigned long)rank, MAX_DIMENSIONS);
	t->rank = (int)rank;
	t->count = 1;
	for (int axis = t->rank - 1; axis >= 0; axis--) {
		TRY(read_size(r, t->name, &t->shape[axis]));
		if (!size_mul(t->count, t->shape[axis], &t->count))
			return fail_size(r, t->name);
	}
	TRY(read_u32(r, t->name, &type));
	TRY(read_size(r, t->name, offset));
	t->number = type;
	t->type = value_type_of_ggml(type);
	if (!t->type)
		t->type = &value_type_other;
	TRY(check_block(r, t));
	size_t blocks = t->type->values ? t->count / t->type->values : 0;
	return size_mul(blocks, t->type->bytes, &t->bytes) ? ATTN_OK : fail_size(r, t->name);
}

/* --- names ----------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct gguf_pair *const *x = a, *const *y = b;
	return strcmp((*x)->key, (*y)->key);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static enum attn_status fail_twice(const char *name, struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT, "'%.200s' may be given only once", name);
}

static enum attn_status sort_pairs(struct gguf *g, struct attn_error *err)
{
	g->sorted = array_alloc(g->pair_count, sizeof *g->sorted);
	if (!g->sorted)
		return attn_fail_memory(err);
	for (size_t i = 0; i < g->pair_count; i++)
		g->sorted[i] = &g->pairs[i];
	qsort(g->sorted, g->pair_count, sizeof *g->sorted, by_key);
	for (size_t i = 1; i < g->pair_count; i++)
		if (by_key(&g->sorted[i], &g->sorted[i - 1]) == 0)
			return fail_twice(g->sorted[i]->key, err);
	return ATTN_OK;
}

static enum attn_status check_names(const struct gguf *g, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	const char **names = array_alloc(g->tensor_count, sizeof *names);
	if (!names)
		return attn_fail_memory(err);
	for (size_t i = 0; i < g->tensor_count; i++)
		names[i] = g->tensors[i].name;
	qsort(names, g->tensor_count, sizeof *names, by_name);
	for (size_t i = 1; i < g->tensor_count && status == ATTN_OK; i++)
		if (strcmp(names[i], names[i - 1]) == 0)
			status = fail_twice(names[i], err);
	free(names);
	return status;
}

/* --- the file -------------------------------------------------------------------------- */

bool is_gguf(const unsigned char *data, size_t length)
{
	return length >= 4 && memcmp(data, "GGUF", 4) == 0;
}

static enum attn_status check_version(uint32_t version, struct attn_error *err)
{
	if (version == 2 || version == 3)
		return ATTN_OK;
	if (version >= 1u << 24 && (version & 0xffffffu) == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "file is big-endian GGUF, expected little-endian");
	return attn_fail(err, ATTN_BAD_INPUT, "file is GGUF of version %lu, expected 2 or 3%s",
			 (unsigned long)version, version == 1 ? ": convert it by a newer program" : "");
}

static enum attn_status read_alignment(const struct gguf *g, size_t *out, struct attn_error *err)
{
	const struct gguf_pair *p = gguf_pair(g, "general.alignment");
	*out = ALIGNMENT;
	if (!p)
		return ATTN_OK;
	double value = p->array || p->kind == GGUF_TEXT ? 0 : gguf_number(p, 0);
	*out = value >= 1 && value <= MAX_ALIGNMENT ? (size_t)value : 0;
	if (*out > 0 && (*out & (*out - 1)) == 0)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'general.alignment' is %g, expected a power of 2 from 1 to %d",
			 value, MAX_ALIGNMENT);
}

/* Now that it is known where the data begins. */
static enum attn_status place_tensors(struct reader *r, struct gguf *g, const size_t *offsets)
{
	size_t alignment, start;
	TRY(read_alignment(g, &alignment, r->err));
	/* A file without elements may end before they would begin. */
	if (!size_add(r->at, alignment - 1, &start))
		return fail_size(r, "general.alignment");
	start -= start % alignment;
	for (size_t i = 0; i < g->tensor_count; i++) {
		struct gguf_tensor *t = &g->tensors[i];
		size_t room = start < r->length ? r->length - start : 0;
		if (offsets[i] % alignment != 0)
			return attn_fail(
			    r->err, ATTN_BAD_INPUT,
			    "'%.200s' starts at byte %zu of the data, expected a multiple of %zu", t->name,
			    offsets[i], alignment);
		if (offsets[i] > room || t->bytes > room - offsets[i])
			return attn_fail(
			    r->err, ATTN_BAD_INPUT,
			    "'%.200s' has %zu bytes from byte %zu of the data on, which has %zu bytes",
			    t->name, t->bytes, offsets[i], room);
		t->data = r->data + (room ? start : 0) + offsets[i];
	}
	return ATTN_OK;
}

static enum attn_status read_all(struct reader *r, struct gguf *g, size_t tensors, size_t pairs)
{
	g->pairs = array_alloc(pairs, sizeof *g->pairs);
	g->tensors = array_alloc(tensors, sizeof *g->tensors);
	size_t *offsets = array_alloc(tensors, sizeof *offsets);
	enum attn_status status = g->pairs && g->tensors && offsets ? ATTN_OK : attn_fail_memory(r->err);
	for (size_t i = 0; i < pairs && status == ATTN_OK; i++)
		status = read_pair(r, i, &g->pairs[g->pair_count++]);
	if (status == ATTN_OK)
		status = sort_pairs(g, r->err);
	for (size_t i = 0; i < tensors && status == ATTN_OK; i++)
		status = read_tensor(r, i, &g->tensors[g->tensor_count++], &offsets[i]);
	if (status == ATTN_OK)
		status = check_names(g, r->err);
	if (status == ATTN_OK)
		status = place_tensors(r, g, offsets);
	free(offsets);
	return status;
}

static enum attn_status read_header(struct reader *r, struct gguf *g)
{
	uint32_t version;
	size_t tensors, pairs, rest;
	r->at = 4;
	TRY(read_u32(r, "the header", &version));
	TRY(check_version(version, r->err));
	g->version = version;
	TRY(read_size(r, "the header", &tensors));
	TRY(read_size(r, "the header", &pairs));
	rest = r->length - r->at;
	if (pairs > rest / PAIR_LEAST || tensors > (rest - pairs * PAIR_LEAST) / TENSOR_LEAST)
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "header says %zu keys and %zu tensors, more than the rest of the file holds",
				 pairs, tensors);
	return read_all(r, g, tensors, pairs);
}

enum attn_status gguf_open(struct gguf *g, const unsigned char *data, size_t length, struct attn_error *err)
{
	struct reader r = {data, length, 0, err};
	*g = (struct gguf){0};
	if (!is_gguf(data, length))
		return attn_fail(err, ATTN_BAD_INPUT, "file does not start with 'GGUF'");
	enum attn_status status = read_header(&r, g);
	if (status != ATTN_OK)
		gguf_release(g);
	return status;
}

void gguf_release(struct gguf *g)
{
	for (size_t i = 0; i < g->pair_count; i++)
		free(g->pairs[i].key);
	for (size_t i = 0; i < g->tensor_count; i++)
		free(g->tensors[i].name);
	free(g->pairs);
	free(g->tensors);
	free(g->sorted);
	*g = (struct gguf){0};
}
