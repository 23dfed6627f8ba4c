/* JSON: one object; tensors as nested arrays, an innermost row a line, then texts
 * and settings.  Written as it comes: only a part of a row is in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/tensor_writer_internal.h"

struct json_state {
	/* span[k]: elements within one array of depth k; 1 beyond the rank. */
	size_t span[TENSOR_MAX_RANK + 1];
	bool any_key;
};

bool is_json_number(const char *text)
{
	static const char digits[] = "0123456789";
	text += *text == '-';
	size_t length = strspn(text, digits);
	if (length == 0 || (length > 1 && *text == '0'))
		return false;
	text += length;
	if (*text == '.') {
		length = strspn(++text, digits);
		if (length == 0)
			return false;
		text += length;
	}
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		length = strspn(text, digits);
		if (length == 0)
			return false;
		text += length;
	}
	return *text == '\0';
}

static void add_key(struct tensor_writer *w, const char *name)
{
	struct json_state *state = w->state;
	buffer_add_string(&w->text, state->any_key ? ",\n " : " ");
	buffer_add_json_string(&w->text, name);
	buffer_add_string(&w->text, ": ");
	state->any_key = true;
}

static void new_line(struct buffer *buf, int depth)
{
	buffer_add_char(buf, '\n');
	for (int i = 0; i <= depth; i++)
		buffer_add_char(buf, ' ');
}

/* Open the arrays that begin with element `position`. */
static void open_arrays(struct tensor_writer *w, size_t position)
{
	const struct json_state *state = w->state;
	for (int k = 0; k < w->specs[w->current].rank; k++) {
		if (position % state->span[k] != 0)
			continue;
		if (k > 0) {
			if (position % state->span[k - 1] != 0)
				buffer_add_char(&w->text, ',');
			new_line(&w->text, k);
		}
		buffer_add_char(&w->text, '[');
	}
}

/* Close the arrays that end before element `position`. */
static void close_arrays(struct tensor_writer *w, size_t position)
{
	const struct json_state *state = w->state;
	int rank = w->specs[w->current].rank;
	for (int k = rank - 1; k >= 0 && position % state->span[k] == 0; k--) {
		if (k < rank - 1)
			new_line(&w->text, k);
		buffer_add_char(&w->text, ']');
	}
}

/* The arrays of a tensor without elements, from depth k on. */
static void add_empty(struct buffer *buf, const struct tensor_spec *spec, int k)
{
	buffer_add_char(buf, '[');
	for (size_t i = 0; k + 1 < spec->rank && i < spec->axes[k].length; i++) {
		if (i > 0)
			buffer_add_string(buf, ", ");
		add_empty(buf, spec, k + 1);
	}
	buffer_add_char(buf, ']');
}

static enum attn_status begin(struct tensor_writer *w, struct attn_error *err)
{
	w->state = calloc(1, sizeof(struct json_state));
	if (!w->state)
		return attn_fail_memory(err);
	buffer_add_string(&w->text, "{\n");
	return ATTN_OK;
}

static enum attn_status start(struct tensor_writer *w, const struct tensor_spec *spec, struct attn_error *err)
{
	struct json_state *state = w->state;
	(void)err;
	add_key(w, spec->name);
	for (int k = TENSOR_MAX_RANK; k >= 0; k--)
		state->span[k] = k < spec->rank ? state->span[k + 1] * spec->axes[k].length : 1;
	if (w->counts[w->current] == 0)
		add_empty(&w->text, spec, 0);
	return ATTN_OK;
}

static void add_value(struct buffer *buf, enum dtype dtype, const void *elements, size_t i)
{
	float number;
	if (dtype == DTYPE_BOOL) {
		buffer_add_string(buf, ((const unsigned char *)elements)[i] ? "true" : "false");
		return;
	}
	if (dtype == DTYPE_F32) {
		memcpy(&number, (const char *)elements + i * sizeof number, sizeof number);
		if (!isfinite(number)) {
			buffer_add_string(buf, "null");
			return;
		}
	}
	buffer_add_element(buf, dtype, elements, i);
}

static enum attn_status put(struct tensor_writer *w, const void *elements, size_t count,
			    struct attn_error *err)
{
	const struct json_state *state = w->state;
	const struct tensor_spec *spec = &w->specs[w->current];
	size_t row = spec->rank > 0 ? state->span[spec->rank - 1] : 1;
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < count && status == ATTN_OK; i++) {
		size_t position = w->done + i;
		if (position % row == 0)
			open_arrays(w, position);
		else
			buffer_add_string(&w->text, ", ");
		add_value(&w->text, spec->dtype, elements, i);
		if ((position + 1) % row == 0)
			close_arrays(w, position + 1);
		status = writer_flush_long(w, err);
	}
	return status;
}

static enum attn_status finish(struct tensor_writer *w, struct attn_error *err)
{
	const struct bundle *labels = w->labels;
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; labels && i < labels->text_count && status == ATTN_OK; i++) {
		add_key(w, labels->texts[i].name);
		buffer_add_json_list(&w->text, &labels->texts[i].list);
		status = writer_flush_long(w, err);
	}
	for (size_t i = 0; labels && i < labels->setting_count; i++) {
		const char *value = labels->settings[i].value;
		add_key(w, labels->settings[i].name);
		if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0 || is_json_number(value))
			buffer_add_string(&w->text, value);
		else
			buffer_add_json_string(&w->text, value);
	}
	buffer_add_string(&w->text, ((const struct json_state *)w->state)->any_key ? "\n}\n" : "}\n");
	return status;
}

static void release(struct tensor_writer *w)
{
	free(w->state);
}

const struct tensor_format json_format = {
    .begin = begin, .start = start, .put = put, .finish = finish, .release = release};
