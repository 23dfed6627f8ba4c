/* safetensors: the length of a JSON header (8 bytes, little-endian), the header,
 * and the tensors' bytes one after the other.  The header gives each tensor's
 * dtype, shape and place, and text under "__metadata__". */
#include "files/tensor_writer_internal.h"

enum {
	HEADER_LIMIT = 100000000, /* what other readers accept */
	ALIGNMENT = 8,
};

static const char *safetensors_dtype(enum dtype dtype)
{
	return dtype == DTYPE_F32 ? "F32" : dtype == DTYPE_I64 ? "I64" : "BOOL";
}

/* Append "__metadata__" and a comma; a list is JSON within a string. */
static void add_metadata(struct buffer *header, const struct bundle *labels)
{
	struct buffer list = BUFFER_INIT;
	const char *separator = "";
	buffer_add_string(header, "\"__metadata__\":{");
	for (size_t i = 0; i < labels->text_count; i++, separator = ",") {
		buffer_clear(&list);
		buffer_add_json_list(&list, &labels->texts[i].list);
		buffer_add_string(header, separator);
		buffer_add_json_string(header, labels->texts[i].name);
		buffer_add_char(header, ':');
		buffer_add_json_string(header, list.failed ? "" : list.data);
	}
	for (size_t i = 0; i < labels->setting_count; i++, separator = ",") {
		buffer_add_string(header, separator);
		buffer_add_json_string(header, labels->settings[i].name);
		buffer_add_char(header, ':');
		buffer_add_json_string(header, labels->settings[i].value);
	}
	buffer_add_char(header, '}');
	header->failed |= list.failed;
	buffer_release(&list);
}

static enum attn_status begin(struct tensor_writer *w, struct attn_error *err)
{
	struct buffer header = BUFFER_INIT;
	size_t offset = 0;
	bool some = w->labels && w->labels->text_count + w->labels->setting_count > 0;
	buffer_add_char(&header, '{');
	if (some)
		add_metadata(&header, w->labels);
	for (size_t i = 0; i < w->spec_count; i++) {
		const struct tensor_spec *spec = &w->specs[i];
		size_t end = offset + w->counts[i] * dtype_size(spec->dtype); /* the sum fits: see open */
		if (some || i > 0)
			buffer_add_char(&header, ',');
		buffer_add_json_string(&header, spec->name);
		buffer_printf(&header, ":{\"dtype\":\"%s\",\"shape\":[", safetensors_dtype(spec->dtype));
		for (int k = 0; k < spec->rank; k++)
			buffer_printf(&header, "%s%zu", k > 0 ? "," : "", spec->axes[k].length);
		buffer_printf(&header, "],\"data_offsets\":[%zu,%zu]}", offset, end);
		offset = end;
	}
	buffer_add_char(&header, '}');
	while (header.length % ALIGNMENT != 0 && !header.failed)
		buffer_add_char(&header, ' ');

	enum attn_status status = ATTN_OK;
	if (header.failed)
		status = attn_fail_memory(err);
	else if (header.length > HEADER_LIMIT)
		status = attn_fail(
		    err, ATTN_FAILED,
		    "could not write '%s': tokens and settings take %zu bytes, a safetensors header "
		    "holds at most %d",
		    w->output.path, header.length, HEADER_LIMIT);
	buffer_add_le(&w->text, header.length, 8);
	buffer_add(&w->text, header.data, header.failed ? 0 : header.length);
	buffer_release(&header);
	return status;
}

static enum attn_status put(struct tensor_writer *w, const void *elements, size_t count,
			    struct attn_error *err)
{
	return writer_put_raw(w, elements, count, NULL, err);
}

const struct tensor_format safetensors_format = {.binary = true, .begin = begin, .put = put};
