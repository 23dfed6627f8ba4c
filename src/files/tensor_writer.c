/* The part that the formats share: order and number of the elements, the output,
 * elements as bytes. */
#include "files/tensor_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "files/tensor_writer_internal.h"
#include "util/checked.h"
#include "util/memory.h"

enum {
	LONG_TEXT = 1 << 16,
	CHUNK = 4096,
};

static const struct tensor_format *find_format(enum format format)
{
	switch (format) {
	case FORMAT_SAFETENSORS:
		return &safetensors_format;
	case FORMAT_NPY:
		return &npy_format;
	case FORMAT_NPZ:
		return &npz_format;
	case FORMAT_JSON:
		return &json_format;
	case FORMAT_TSV:
		return &tsv_format;
	default:
		return NULL;
	}
}

static enum attn_status count_elements(struct tensor_writer *w, struct attn_error *err)
{
	size_t total = 0;
	for (size_t i = 0; i < w->spec_count; i++) {
		const struct tensor_spec *spec = &w->specs[i];
		assert(spec->dtype == DTYPE_F32 || spec->dtype == DTYPE_BOOL || spec->dtype == DTYPE_I64);
		assert(spec->rank >= 0 && spec->rank <= TENSOR_MAX_RANK);
		size_t count = 1, bytes;
		bool fits = true;
		for (int k = 0; k < spec->rank; k++)
			fits = fits && size_mul(count, spec->axes[k].length, &count);
		if (!fits || !size_mul(count, dtype_size(spec->dtype), &bytes) ||
		    !size_add(total, bytes, &total))
			return attn_fail(err, ATTN_FAILED, "'%s' has too many elements to write", spec->name);
		w->counts[i] = count;
	}
	return ATTN_OK;
}

static enum attn_status check_format(const struct tensor_writer *w, const char *path, struct attn_error *err)
{
	if (!w->format)
		return attn_fail(err, ATTN_USAGE,
				 "no format to write '%s' in: a name ends in .safetensors, .npy, .npz, .json "
				 "or .tsv",
				 path);
	if (w->format->one_tensor && w->spec_count != 1)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' holds one tensor, found %zu: give a name that ends in .safetensors, .npz "
		    "or .json",
		    path, w->spec_count);
	return ATTN_OK;
}

/* Write what a step has left in the text. */
static enum attn_status after(struct tensor_writer *w, enum attn_status status, struct attn_error *err)
{
	return status == ATTN_OK ? writer_flush_long(w, err) : status;
}

static enum attn_status start_current(struct tensor_writer *w, struct attn_error *err)
{
	w->done = 0;
	if (w->current == w->spec_count || !w->format->start)
		return ATTN_OK;
	return after(w, w->format->start(w, &w->specs[w->current], err), err);
}

/* End tensors, and start the next, until `index` is the current one. */
static enum attn_status advance(struct tensor_writer *w, size_t index, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	while (status == ATTN_OK && w->current < index) {
		assert(w->done == w->counts[w->current]); /* each tensor is put whole */
		if (w->format->end)
			status = after(w, w->format->end(w, err), err);
		w->current++;
		if (status == ATTN_OK)
			status = start_current(w, err);
	}
	return status;
}

enum attn_status tensor_writer_open(struct tensor_writer **writer, const char *path, enum format format,
				    const struct tensor_spec *specs, size_t spec_count,
				    const struct bundle *labels, struct attn_error *err)
{
	*writer = NULL;
	struct tensor_writer *w = calloc(1, sizeof *w);
	if (!w)
		return attn_fail_memory(err);
	w->specs = specs;
	w->spec_count = spec_count;
	w->labels = labels;
	w->counts = array_alloc(spec_count, sizeof *w->counts);
	enum attn_status status = w->counts ? ATTN_OK : attn_fail_memory(err);
	w->format = find_format(format);
	if (status == ATTN_OK)
		status = check_format(w, path, err);
	if (status == ATTN_OK)
		status = count_elements(w, err);
	if (status == ATTN_OK)
		status = output_open(&w->output, path, w->format->binary, err);
	if (status == ATTN_OK && w->format->begin)
		status = after(w, w->format->begin(w, err), err);
	if (status == ATTN_OK)
		status = start_current(w, err);
	if (status != ATTN_OK)
		tensor_writer_abort(w);
	else
		*writer = w;
	return status;
}

/* About what a number takes as text, and what its line does in a table. */
enum {
	NUMBER_TEXT = 12,
	COLUMN_TEXT = 4,
};

static uint64_t about_text(const struct tensor_writer *w, enum format format)
{
	uint64_t size = 0;
	for (size_t i = 0; i < w->spec_count; i++)
		size += (uint64_t)w->counts[i] *
			(NUMBER_TEXT + (format == FORMAT_TSV ? COLUMN_TEXT * (uint64_t)w->specs[i].rank : 0));
	return size;
}

/* The bytes of the file around the elements, into w->text. */
static enum attn_status add_frame(struct tensor_writer *w, enum format format, struct attn_error *err)
{
	if (format == FORMAT_SAFETENSORS)
		return w->format->begin(w, err);
	if (format == FORMAT_NPY)
		npy_header(&w->text, &w->specs[0]);
	for (size_t i = 0; i < w->spec_count && format == FORMAT_NPZ; i++)
		npz_frame(&w->text, &w->specs[i], w->counts[i]);
	if (format == FORMAT_NPZ)
		npz_end(&w->text, w->spec_count, 0, 0);
	return ATTN_OK;
}

enum attn_status tensor_writer_size(enum format format, const struct tensor_spec *specs, size_t spec_count,
				    const struct bundle *labels, uint64_t *size, bool *exact,
				    struct attn_error *err)
{
	struct tensor_writer w = {
	    .format = find_format(format), .specs = specs, .spec_count = spec_count, .labels = labels};
	w.counts = array_alloc(spec_count, sizeof *w.counts);
	enum attn_status status = w.counts ? count_elements(&w, err) : attn_fail_memory(err);
	*exact = format == FORMAT_SAFETENSORS || format == FORMAT_NPY || format == FORMAT_NPZ;
	if (status == ATTN_OK && *exact)
		status = add_frame(&w, format, err);
	if (status == ATTN_OK && w.text.failed)
		status = attn_fail_memory(err);
	*size = *exact ? w.text.length : status == ATTN_OK ? about_text(&w, format) : 0;
	for (size_t i = 0; i < spec_count && *exact && status == ATTN_OK; i++)
		*size += (uint64_t)w.counts[i] * dtype_size(specs[i].dtype);
	buffer_release(&w.text);
	free(w.counts);
	return status;
}

enum attn_status tensor_writer_put(struct tensor_writer *w, size_t index, const void *elements, size_t count,
				   struct attn_error *err)
{
	assert(index >= w->current && index < w->spec_count);
	if (tensor_writer_abandoned(w))
		return ATTN_OK;
	enum attn_status status = advance(w, index, err);
	if (status != ATTN_OK)
		return status;
	assert(count <= w->counts[index] - w->done);
	status = w->format->put(w, elements, count, err);
	w->done += count;
	return status;
}

bool tensor_writer_abandoned(const struct tensor_writer *w)
{
	return output_abandoned(&w->output);
}

enum attn_status tensor_writer_finish(struct tensor_writer *w, struct output *out, struct attn_error *err)
{
	*out = (struct output){0};
	bool abandoned = tensor_writer_abandoned(w);
	enum attn_status status = abandoned ? ATTN_OK : advance(w, w->spec_count, err);
	if (status == ATTN_OK && w->format->finish && !abandoned)
		status = w->format->finish(w, err);
	if (status == ATTN_OK)
		status = writer_flush(w, err);
	if (status == ATTN_OK)
		status = output_finish(&w->output, err);
	if (status == ATTN_OK) {
		*out = w->output;
		w->output = (struct output){0};
	}
	tensor_writer_abort(w);
	return status;
}

enum attn_status tensor_writer_commit(struct tensor_writer *w, struct attn_error *err)
{
	struct output out;
	enum attn_status status = tensor_writer_finish(w, &out, err);
	return status == ATTN_OK ? output_commit(&out, err) : status;
}

void tensor_writer_abort(struct tensor_writer *w)
{
	if (!w)
		return;
	if (w->format && w->format->release)
		w->format->release(w);
	output_abort(&w->output);
	buffer_release(&w->text);
	free(w->counts);
	free(w);
}

enum attn_status writer_flush(struct tensor_writer *w, struct attn_error *err)
{
	if (w->text.failed)
		return attn_fail_memory(err);
	size_t length = w->text.length;
	enum attn_status status = ATTN_OK;
	if (length > 0)
		status = output_write(&w->output, w->text.data, length, err);
	w->written += length;
	buffer_clear(&w->text);
	return status;
}

enum attn_status writer_flush_long(struct tensor_writer *w, struct attn_error *err)
{
	if (w->text.length < LONG_TEXT && !w->text.failed)
		return ATTN_OK;
	return writer_flush(w, err);
}

static bool little_endian(void)
{
	const uint16_t one = 1;
	unsigned char first;
	memcpy(&first, &one, 1);
	return first == 1;
}

static enum attn_status put_bytes(struct tensor_writer *w, const void *bytes, size_t length, uint32_t *crc,
				  struct attn_error *err)
{
	if (crc)
		*crc = (uint32_t)crc32_z(*crc, bytes, length);
	w->written += length;
	return output_write(&w->output, bytes, length, err);
}

enum attn_status writer_put_raw(struct tensor_writer *w, const void *elements, size_t count, uint32_t *crc,
				struct attn_error *err)
{
	enum dtype dtype = w->specs[w->current].dtype;
	size_t size = dtype_size(dtype);
	const unsigned char *from = elements;
	enum attn_status status = writer_flush(w, err);
	if (status != ATTN_OK || count == 0)
		return status;
	if (dtype != DTYPE_BOOL && little_endian())
		return put_bytes(w, elements, count * size, crc, err);

	while (status == ATTN_OK && count > 0) {
		unsigned char chunk[CHUNK];
		size_t some = count < CHUNK / size ? count : CHUNK / size;
		for (size_t i = 0; i < some * size; i++) /* size is a power of two: swaps within elements */
			chunk[i] = dtype == DTYPE_BOOL ? from[i] != 0 : from[i ^ (size - 1)];
		status = put_bytes(w, chunk, some * size, crc, err);
		from += some * size;
		count -= some;
	}
	return status;
}

void buffer_add_json_list(struct buffer *buf, const struct string_list *list)
{
	buffer_add_char(buf, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			buffer_add_string(buf, ", ");
		buffer_add_json_string(buf, list->items[i]);
	}
	buffer_add_char(buf, ']');
}

void buffer_add_le(struct buffer *buf, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buffer_add_char(buf, (char)(value >> (8 * i)));
}

void buffer_add_element(struct buffer *buf, enum dtype dtype, const void *elements, size_t i)
{
	const char *at = (const char *)elements + i * dtype_size(dtype);
	float number;
	int64_t integer;
	switch (dtype) {
	case DTYPE_F32:
		memcpy(&number, at, sizeof number);
		buffer_add_float(buf, number);
		break;
	case DTYPE_I64:
		memcpy(&integer, at, sizeof integer);
		buffer_printf(buf, "%" PRId64, integer);
		break;
	default:
		buffer_add_char(buf, *at ? '1' : '0');
	}
}
