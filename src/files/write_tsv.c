/* TSV: a header line, then one element a line.  All columns but those of the last
 * axis and the value stay the same for a row of the tensor, and are kept as text. */
#include <stdlib.h>
#include <string.h>

#include "files/tensor_writer_internal.h"

struct tsv_state {
	struct buffer before, after; /* what is around a row's own columns */
};

/* The axis whose columns come last, so that the others stay where they are. */
static bool comes_last(const struct axis *axis)
{
	return strcmp(axis->name, "batch") == 0;
}

static void add_size(struct buffer *buf, size_t value)
{
	char text[20]; /* digits of 2^64 */
	size_t at = sizeof text;
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	buffer_add(buf, text + at, sizeof text - at);
}

static void add_number(struct buffer *buf, const struct axis *axis, size_t i)
{
	if (axis->text)
		buffer_add_tsv(buf, axis->text);
	else
		add_size(buf, axis->numbers ? axis->numbers[i] : axis->first + i);
	if (axis->labels) {
		buffer_add_char(buf, '\t');
		buffer_add_tsv(buf, i < axis->labels->count ? axis->labels->items[i] : "");
	}
}

static void add_heading(struct buffer *buf, const struct axis *axis)
{
	buffer_add_tsv(buf, axis->name);
	if (axis->labels) {
		buffer_add_char(buf, '\t');
		buffer_add_tsv(buf, axis->name);
		buffer_add_string(buf, "_token");
	}
}

static enum attn_status begin(struct tensor_writer *w, struct attn_error *err)
{
	w->state = calloc(1, sizeof(struct tsv_state));
	return w->state ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status start(struct tensor_writer *w, const struct tensor_spec *spec, struct attn_error *err)
{
	(void)err;
	for (int k = 0; k < spec->rank; k++) {
		if (!comes_last(&spec->axes[k])) {
			add_heading(&w->text, &spec->axes[k]);
			buffer_add_char(&w->text, '\t');
		}
	}
	buffer_add_tsv(&w->text, spec->value_name ? spec->value_name : spec->name);
	for (int k = 0; k < spec->rank; k++) {
		if (comes_last(&spec->axes[k])) {
			buffer_add_char(&w->text, '\t');
			add_heading(&w->text, &spec->axes[k]);
		}
	}
	buffer_add_char(&w->text, '\n');
	return ATTN_OK;
}

/* The columns of all axes but the last, for row `row` of the tensor seen as rows. */
static void set_row(struct tsv_state *state, const struct tensor_spec *spec, size_t row)
{
	size_t index[TENSOR_MAX_RANK];
	for (int k = spec->rank - 2; k >= 0; k--) {
		index[k] = row % spec->axes[k].length;
		row /= spec->axes[k].length;
	}
	buffer_clear(&state->before);
	buffer_clear(&state->after);
	for (int k = 0; k < spec->rank - 1; k++) {
		if (comes_last(&spec->axes[k])) {
			buffer_add_char(&state->after, '\t');
			add_number(&state->after, &spec->axes[k], index[k]);
		} else {
			add_number(&state->before, &spec->axes[k], index[k]);
			buffer_add_char(&state->before, '\t');
		}
	}
}

static enum attn_status put(struct tensor_writer *w, const void *elements, size_t count,
			    struct attn_error *err)
{
	struct tsv_state *state = w->state;
	const struct tensor_spec *spec = &w->specs[w->current];
	const struct axis *last = spec->rank > 0 ? &spec->axes[spec->rank - 1] : NULL;
	size_t row = last ? last->length : 1;
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < count && status == ATTN_OK; i++) {
		size_t position = w->done + i, column = position % row;
		if (column == 0)
			set_row(state, spec, position / row);
		buffer_add(&w->text, state->before.data, state->before.length);
		if (last && !comes_last(last)) {
			add_number(&w->text, last, column);
			buffer_add_char(&w->text, '\t');
		}
		buffer_add_element(&w->text, spec->dtype, elements, i);
		buffer_add(&w->text, state->after.data, state->after.length);
		if (last && comes_last(last)) {
			buffer_add_char(&w->text, '\t');
			add_number(&w->text, last, column);
		}
		buffer_add_char(&w->text, '\n');
		w->text.failed |= state->before.failed | state->after.failed;
		status = writer_flush_long(w, err);
	}
	return status;
}

static void release(struct tensor_writer *w)
{
	struct tsv_state *state = w->state;
	if (state) {
		buffer_release(&state->before);
		buffer_release(&state->after);
	}
	free(state);
}

const struct tensor_format tsv_format = {
    .one_tensor = true, .begin = begin, .start = start, .put = put, .release = release};
