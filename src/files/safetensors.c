/* safetensors: eight bytes of length, a JSON header, the elements.
 *
 * The rules are those of the reference implementation: the header starts with
 * '{' and has at most 100 MB, and the tensors cover the data without gap or
 * overlap, so that a file has no room for anything else.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/formats.h"
#include "files/json_internal.h"
#include "input/roles.h"
#include "util/checked.h"
#include "util/memory.h"

enum {
	LENGTH_SIZE = 8,
	MAX_HEADER = 100000000, /* bytes */
};

/* The bytes of one tensor, counted from the end of the header. */
struct range {
	const char *name;
	size_t begin, end;
};

/* What the header says of one tensor. */
struct entry {
	enum dtype dtype;
	int rank;
	size_t shape[TENSOR_MAX_RANK];
	struct range range;
	bool has_dtype, has_shape, has_offsets;
	const char *unread; /* a dtype that is not computed with, or NULL */
};

struct reader {
	const unsigned char *data; /* elements of all tensors */
	size_t length;
	const char *origin;
	struct bundle *out;
	struct range *ranges;
	size_t count;
	struct attn_error *err;
};

/* A whole number that a double holds exactly. */
static bool exact_size(const cJSON *item, size_t *value)
{
	double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
	if (!(number >= 0 && number <= 0x1p53) || number != floor(number))
		return false;
	*value = (size_t)number;
	return (double)*value == number; /* it fits a size_t */
}

static enum attn_status read_dtype(const struct reader *r, struct entry *e, const cJSON *item)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = {
	    {"F64", DTYPE_F64},   {"F32", DTYPE_F32},         {"F16", DTYPE_F16},
	    {"BF16", DTYPE_BF16}, {"I64", DTYPE_I64},         {"I32", DTYPE_I32},
	    {"I16", DTYPE_I16},   {"I8", DTYPE_I8},           {"U64", DTYPE_U64},
	    {"U32", DTYPE_U32},   {"U16", DTYPE_U16},         {"U8", DTYPE_U8},
	    {"BOOL", DTYPE_BOOL}, {"F8_E4M3", DTYPE_F8_E4M3}, {"F8_E5M2", DTYPE_F8_E5M2},
	};
	if (!cJSON_IsString(item))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has a dtype that is %s, expected a string",
				 e->range.name, json_kind(item));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(types[i].name, item->valuestring) == 0) {
			e->dtype = types[i].dtype;
			return ATTN_OK;
		}
	}
	e->unread = item->valuestring;
	return ATTN_OK;
}

static enum attn_status read_shape(const struct reader *r, struct entry *e, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has a shape that is %s, expected an array",
				 e->range.name, json_kind(item));
	for (const cJSON *size = item->child; size; size = size->next) {
		if (e->rank == TENSOR_MAX_RANK)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%.200s' has more than %d dimensions, expected at most %d",
					 e->range.name, TENSOR_MAX_RANK, TENSOR_MAX_RANK);
		if (!exact_size(size, &e->shape[e->rank++]))
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%.200s' has a shape that holds %s, expected whole numbers",
					 e->range.name, json_kind(size));
	}
	return ATTN_OK;
}

static enum attn_status read_offsets(const struct reader *r, struct entry *e, const cJSON *item)
{
	const cJSON *begin = cJSON_IsArray(item) ? item->child : NULL;
	const cJSON *end = begin ? begin->next : NULL;
	if (!end || end->next || !exact_size(begin, &e->range.begin) || !exact_size(end, &e->range.end))
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "'%.200s' has no 'data_offsets' of two whole numbers", e->range.name);
	if (e->range.begin > e->range.end || e->range.end > r->length)
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "'%.200s' is at bytes %zu to %zu, but the data has %zu bytes", e->range.name,
				 e->range.begin, e->range.end, r->length);
	return ATTN_OK;
}

static enum attn_status read_entry(const struct reader *r, struct entry *e, const cJSON *object)
{
	enum attn_status status = ATTN_OK;
	if (!cJSON_IsObject(object))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' is %s, expected an object", e->range.name,
				 json_kind(object));
	for (const cJSON *item = object->child; item && status == ATTN_OK; item = item->next) {
		bool dtype = strcmp(item->string, "dtype") == 0, shape = strcmp(item->string, "shape") == 0;
		bool *seen = dtype                                       ? &e->has_dtype
			     : shape                                     ? &e->has_shape
			     : strcmp(item->string, "data_offsets") == 0 ? &e->has_offsets
									 : NULL;
		if (!seen)
			continue; /* the reference skips other keys, too */
		if (*seen)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%.200s' has '%s' twice: it may be given only once", e->range.name,
					 item->string);
		*seen = true;
		status = dtype   ? read_dtype(r, e, item)
			 : shape ? read_shape(r, e, item)
				 : read_offsets(r, e, item);
	}
	if (status == ATTN_OK && !(e->has_dtype && e->has_shape && e->has_offsets))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has no '%s'", e->range.name,
				 !e->has_dtype   ? "dtype"
				 : !e->has_shape ? "shape"
						 : "data_offsets");
	return status;
}

/* List a tensor whose dtype is not computed with. */
static enum attn_status add_unread(const struct reader *r, const struct entry *e)
{
	struct attn_error why;
	attn_fail(
	    &why, ATTN_BAD_INPUT,
	    "'%.200s' has dtype '%.50s', expected F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8 to I64, U8 to "
	    "U64 or BOOL",
	    e->range.name, e->unread);
	struct other *other =
	    bundle_add_other(r->out, e->range.name, r->origin, e->unread, why.message, r->err);
	if (!other)
		return ATTN_FAILED;
	other->rank = e->rank;
	memcpy(other->shape, e->shape, sizeof e->shape);
	return ATTN_OK;
}

static enum attn_status add_tensor(struct reader *r, const cJSON *object)
{
	struct entry e = {.range = {object->string, 0, 0}};
	enum attn_status status = read_entry(r, &e, object);
	if (status != ATTN_OK)
		return status;

	r->ranges[r->count++] = e.range;
	if (e.unread)
		return add_unread(r, &e);

	size_t found = e.range.end - e.range.begin, expected = dtype_size(e.dtype);
	bool fits = true;
	for (int axis = 0; axis < e.rank; axis++)
		fits = fits && size_mul(expected, e.shape[axis], &expected);
	if (!fits || found != expected) {
		char shape[200];
		tensor_shape_text(e.rank, e.shape, shape, sizeof shape);
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has %zu bytes, which is not %s of %s",
				 e.range.name, found, shape, dtype_name(e.dtype));
	}
	struct tensor t;
	status = tensor_init(&t, e.range.name, r->origin, e.dtype, e.rank, e.shape, r->err);
	if (status != ATTN_OK)
		return status;
	t.data = r->data + e.range.begin;
	if (HOST_IS_BIG_ENDIAN && dtype_size(e.dtype) > 1 && t.count > 0) {
		size_t size = dtype_size(e.dtype);
		unsigned char *to = t.owned = malloc(found);
		if (!to) {
			tensor_release(&t);
			return attn_fail_memory(r->err);
		}
		const unsigned char *from = t.data;
		for (size_t i = 0; i < found; i++)
			to[i] = from[i - i % size + (size - 1 - i % size)];
		t.data = to;
	}
	return bundle_add_tensor(r->out, &t, r->err);
}

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The tensors must follow one another from the first byte to the last. */
static enum attn_status check_cover(struct reader *r)
{
	size_t covered = 0;
	qsort(r->ranges, r->count, sizeof *r->ranges, by_place);
	for (size_t i = 0; i < r->count; i++) {
		if (r->ranges[i].begin != covered)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%.200s' starts at byte %zu of the data, expected %zu, where the "
					 "tensor before it ends",
					 r->ranges[i].name, r->ranges[i].begin, covered);
		covered = r->ranges[i].end;
	}
	if (covered != r->length)
		return attn_fail(r->err, ATTN_BAD_INPUT, "data is %zu bytes, expected %zu as the header says",
				 r->length, covered);
	return ATTN_OK;
}

/* Metadata holds only strings, so lists of strings are JSON inside a string. */
static enum attn_status add_text(const struct reader *r, const cJSON *item)
{
	cJSON *array;
	struct string_list list;
	enum attn_status status = json_text_parse((const unsigned char *)item->valuestring,
						  strlen(item->valuestring), &array, r->err);
	if (status == ATTN_OK)
		status = json_strings(array, item->string, &list, r->err);
	cJSON_Delete(array);
	if (status == ATTN_BAD_INPUT) {
		struct attn_error why;
		attn_fail(&why, ATTN_BAD_INPUT, "metadata '%s' is not a JSON list of strings: %.300s",
			  item->string, r->err ? r->err->message : "");
		struct other *other =
		    bundle_add_other(r->out, item->string, r->origin, "string", why.message, r->err);
		if (!other)
			return ATTN_FAILED;
		other->value = strdup(item->valuestring);
		return other->value ? ATTN_OK : attn_fail_memory(r->err);
	}
	if (status != ATTN_OK)
		return status;
	return bundle_add_text(r->out, item->string, r->origin, &list, r->err);
}

static enum attn_status read_metadata(const struct reader *r, const cJSON *object)
{
	enum attn_status status = ATTN_OK;
	size_t count = 0;
	if (!cJSON_IsObject(object))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'__metadata__' is %s, expected an object",
				 json_kind(object));
	for (const cJSON *item = object->child; item && status == ATTN_OK; item = item->next) {
		enum role_id role = role_find(item->string);
		if (++count > READER_MAX_NAMES)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'__metadata__' has more than %d keys, expected at most %d",
					 READER_MAX_NAMES, READER_MAX_NAMES);
		if (!cJSON_IsString(item))
			return attn_fail(r->err, ATTN_BAD_INPUT, "metadata '%.200s' is %s, expected a string",
					 item->string, json_kind(item));
		if (role && roles[role].kind == KIND_TEXT)
			status = add_text(r, item);
		else if (bundle_setting(r->out, item->string))
			status = attn_fail(r->err, ATTN_BAD_INPUT, "metadata '%.200s' may be given only once",
					   item->string);
		else
			status =
			    bundle_add_setting(r->out, item->string, item->valuestring, r->origin, r->err);
	}
	return status;
}

static enum attn_status read_header(struct reader *r, const cJSON *root)
{
	enum attn_status status = ATTN_OK;
	size_t count = 0;
	bool has_metadata = false;
	for (const cJSON *item = root->child; item; item = item->next)
		count++;
	if (count > READER_MAX_NAMES)
		return attn_fail(r->err, ATTN_BAD_INPUT, "file holds %zu tensors, expected at most %d", count,
				 READER_MAX_NAMES);
	r->ranges = array_alloc(count, sizeof *r->ranges);
	if (!r->ranges)
		return attn_fail_memory(r->err);
	for (const cJSON *item = root->child; item && status == ATTN_OK; item = item->next) {
		if (strcmp(item->string, "__metadata__") != 0) {
			status = add_tensor(r, item);
		} else if (has_metadata) {
			status = attn_fail(r->err, ATTN_BAD_INPUT, "'__metadata__' may be given only once");
		} else {
			has_metadata = true;
			status = read_metadata(r, item);
		}
	}
	if (status == ATTN_OK)
		status = check_cover(r);
	free(r->ranges);
	return status;
}

enum attn_status safetensors_parse(const unsigned char *data, size_t length, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	if (length < LENGTH_SIZE)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "file is %zu bytes, too short for the length of a safetensors header",
				 length);
	uint64_t header = read_le64(data);
	if (header > MAX_HEADER)
		return attn_fail(err, ATTN_BAD_INPUT, "header is %llu bytes, expected at most %d",
				 (unsigned long long)header, MAX_HEADER);
	if (header > length - LENGTH_SIZE)
		return attn_fail(err, ATTN_BAD_INPUT, "header is %llu bytes, but only %zu follow",
				 (unsigned long long)header, length - LENGTH_SIZE);
	size_t body = LENGTH_SIZE + (size_t)header;
	if (header == 0 || data[LENGTH_SIZE] != '{')
		return attn_fail(err, ATTN_BAD_INPUT, "header does not start with '{'");
	cJSON *root;
	enum attn_status status = json_text_parse(data + LENGTH_SIZE, (size_t)header, &root, err);
	if (status != ATTN_OK) {
		if (status == ATTN_BAD_INPUT)
			attn_error_prefix(err, "header");
		return status;
	}
	struct reader r = {data + body, length - body, origin, out, NULL, 0, err};
	status = read_header(&r, root);
	cJSON_Delete(root);
	return status;
}
