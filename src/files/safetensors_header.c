/* safetensors: eight bytes of length, a JSON header, the elements.
 *
 * The rules are those of the reference implementation: the header starts with
 * '{' and has at most 100 MB, and the tensors cover the data without gap or
 * overlap, so that a file has no room for anything else.
 */
#include "files/safetensors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/json_text.h"
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
	struct safetensors *out;
	struct range *ranges; /* (out->count) */
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

static enum attn_status add_tensor(struct reader *r, const cJSON *object)
{
	struct entry e = {.range = {object->string, 0, 0}};
	TRY(read_entry(r, &e, object));
	size_t found = e.range.end - e.range.begin, expected = e.unread ? 0 : dtype_size(e.dtype);
	bool fits = true;
	for (int axis = 0; axis < e.rank; axis++)
		fits = fits && size_mul(expected, e.shape[axis], &expected);
	if (!e.unread && (!fits || found != expected)) {
		char shape[200];
		tensor_shape_text(e.rank, e.shape, shape, sizeof shape);
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has %zu bytes, which is not %s of %s",
				 e.range.name, found, shape, dtype_name(e.dtype));
	}
	r->ranges[r->out->count] = e.range;
	struct safetensors_tensor *t = &r->out->tensors[r->out->count++];
	*t = (struct safetensors_tensor){
	    e.range.name, e.dtype, e.unread, e.rank, {0}, r->data + e.range.begin, found};
	memcpy(t->shape, e.shape, sizeof e.shape);
	return ATTN_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct range *)a)->name, ((const struct range *)b)->name);
}

static enum attn_status check_names(struct reader *r)
{
	qsort(r->ranges, r->out->count, sizeof *r->ranges, by_name);
	for (size_t i = 1; i < r->out->count; i++)
		if (strcmp(r->ranges[i].name, r->ranges[i - 1].name) == 0)
			return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' may be given only once",
					 r->ranges[i].name);
	return ATTN_OK;
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
	qsort(r->ranges, r->out->count, sizeof *r->ranges, by_place);
	for (size_t i = 0; i < r->out->count; i++) {
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

static enum attn_status read_metadata(struct reader *r, const cJSON *object)
{
	if (r->out->metadata)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'__metadata__' may be given only once");
	if (!cJSON_IsObject(object))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'__metadata__' is %s, expected an object",
				 json_kind(object));
	r->out->metadata = object;
	return ATTN_OK;
}

static enum attn_status read_header(struct reader *r, size_t most)
{
	enum attn_status status = ATTN_OK;
	size_t count = 0;
	for (const cJSON *item = r->out->root->child; item; item = item->next)
		count++;
	if (count > most)
		return attn_fail(r->err, ATTN_BAD_INPUT, "file holds %zu tensors, expected at most %zu",
				 count, most);
	r->ranges = array_alloc(count, sizeof *r->ranges);
	r->out->tensors = array_alloc(count, sizeof *r->out->tensors);
	if (!r->ranges || !r->out->tensors)
		status = attn_fail_memory(r->err);
	for (const cJSON *item = r->out->root->child; item && status == ATTN_OK; item = item->next)
		status =
		    strcmp(item->string, "__metadata__") == 0 ? read_metadata(r, item) : add_tensor(r, item);
	if (status == ATTN_OK)
		status = check_names(r);
	if (status == ATTN_OK)
		status = check_cover(r);
	free(r->ranges);
	return status;
}

enum attn_status safetensors_open(struct safetensors *s, const unsigned char *data, size_t length,
				  size_t most, struct attn_error *err)
{
	*s = (struct safetensors){0};
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
	enum attn_status status = json_text_parse(data + LENGTH_SIZE, (size_t)header, &s->root, err);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, "header");
	struct reader r = {data + body, length - body, s, NULL, err};
	if (status == ATTN_OK)
		status = read_header(&r, most);
	if (status != ATTN_OK)
		safetensors_release(s);
	return status;
}

void safetensors_release(struct safetensors *s)
{
	free(s->tensors);
	cJSON_Delete(s->root);
	*s = (struct safetensors){0};
}
