/* Labels in a terminal: columns are counted, characters stacked. */
#include <stdio.h>
#include <string.h>

#include "draw/heatmap/layout.h"
#include "draw/terminal/terminal_internal.h"
#include "draw/text/text.h"
#include "util/minmax.h"
#include "util/utf8.h"
#include "util/width.h"

static const char isolate[] = "\xe2\x81\xa8";     /* U+2068 */
static const char isolate_end[] = "\xe2\x81\xa9"; /* U+2069 */
static const char ellipsis[] = "\xe2\x80\xa6";    /* U+2026 */

void terminal_add_spaces(struct buffer *out, size_t count)
{
	while (count-- > 0)
		buffer_add_char(out, ' ');
}

void terminal_end_line(struct buffer *out)
{
	while (out->length > 0 && out->data[out->length - 1] == ' ')
		out->length--;
	buffer_add_char(out, '\n');
}

/* Scripts that run from right to left. */
static bool is_right_to_left(uint32_t code)
{
	return (code >= 0x590 && code < 0x900) || (code >= 0xfb1d && code < 0xfe00) ||
	       (code >= 0xfe70 && code < 0xff00) || (code >= 0x10800 && code < 0x11000) ||
	       (code >= 0x1e800 && code < 0x1f000);
}

/* Characters that change with their neighbours, and so cannot be stacked: from
 * Devanagari to Myanmar, Khmer, Mongolian, and what joiners join. */
static bool is_joined(uint32_t code)
{
	return is_right_to_left(code) || (code >= 0x900 && code < 0x10a0) ||
	       (code >= 0x1780 && code < 0x18b0) || (code >= 0x1a20 && code < 0x1ab0) ||
	       (code >= 0x1b00 && code < 0x1c80) || (code >= 0xa800 && code < 0xa960) || code == 0x200d ||
	       (code >= 0x11000 && code < 0x12000) || (code >= 0x1f1e6 && code < 0x1f200);
}

static bool any_code(const char *text, bool (*test)(uint32_t code))
{
	size_t length = strlen(text);
	for (size_t at = 0; at < length;) {
		uint32_t code = 0;
		size_t step = utf8_decode(text + at, length - at, &code);
		if (step && test(code))
			return true;
		at += step ? step : 1;
	}
	return false;
}

/* Bytes of the first character and what combines with it, and its columns. */
static size_t first_cluster(const char *text, size_t *width)
{
	size_t length = strlen(text), at = 0;
	*width = 0;
	while (at < length) {
		char one[8] = {0};
		size_t step = utf8_step(text + at, length - at);
		step = step ? step : 1;
		memcpy(one, text + at, step);
		size_t columns = text_width(one);
		if (at > 0 && columns > 0)
			break;
		*width += columns;
		at += step;
	}
	return at;
}

/* `text` in at most `width` columns (0: all of it). */
static void add_cut(struct buffer *out, const char *text, size_t width)
{
	if (width == 0 || text_width(text) <= width) {
		buffer_add_string(out, text);
		return;
	}
	for (size_t used = 0, columns; *text; used += columns) {
		size_t bytes = first_cluster(text, &columns);
		if (used + columns + 1 > width)
			break;
		buffer_add(out, text, bytes);
		text += bytes;
	}
	buffer_add_string(out, ellipsis);
}

void terminal_add_text(struct buffer *out, const char *text, size_t width, enum terminal_fill filled)
{
	struct buffer visible = BUFFER_INIT, clean = BUFFER_INIT, cut = BUFFER_INIT;
	text_visible(&visible, text);
	buffer_add_clean(&clean, visible.data ? visible.data : "");
	add_cut(&cut, clean.data ? clean.data : "", width);
	const char *shown = cut.data ? cut.data : "";
	size_t columns = text_width(shown), fill = width > columns ? width - columns : 0;
	bool isolated = any_code(shown, is_right_to_left);
	terminal_add_spaces(out, filled == TERMINAL_RIGHT ? fill : 0);
	if (isolated)
		buffer_add_string(out, isolate);
	buffer_add_string(out, shown);
	if (isolated)
		buffer_add_string(out, isolate_end);
	terminal_add_spaces(out, filled == TERMINAL_LEFT ? fill : 0);
	out->failed |= visible.failed || clean.failed || cut.failed;
	buffer_release(&visible);
	buffer_release(&clean);
	buffer_release(&cut);
}

/* A cell's label as the figure has it; `number` is where it is written when there is
 * no list. */
static const char *label_of(const struct terminal_axis *axis, size_t cell, char number[24])
{
	size_t token = cell * axis->factor;
	if (axis->labels && token < axis->labels->count)
		return axis->labels->items[token];
	snprintf(number, 24, "%zu", token);
	return number;
}

void terminal_add_label(struct buffer *out, const struct terminal_axis *axis, size_t cell, size_t width)
{
	char number[24];
	terminal_add_text(out, label_of(axis, cell, number), width, width ? TERMINAL_RIGHT : TERMINAL_ANY);
}

/* Append words, as they are, in lines of at most `width` columns. */
void terminal_add_paragraph(struct buffer *out, const char *text, size_t width)
{
	size_t used = 0;
	struct buffer word = BUFFER_INIT;
	while (*text) {
		size_t length = strcspn(text, " ");
		buffer_clear(&word);
		buffer_add(&word, text, length);
		size_t columns = word.data ? text_width(word.data) : 0;
		if (used > 0 && used + 1 + columns > width) {
			buffer_add_char(out, '\n');
			used = 0;
		} else if (used > 0) {
			buffer_add_char(out, ' ');
			used++;
		}
		add_cut(out, word.data ? word.data : "", width);
		used += size_min(columns, width);
		text += length;
		text += strspn(text, " ");
	}
	if (used > 0)
		buffer_add_char(out, '\n');
	out->failed |= word.failed;
	buffer_release(&word);
}

size_t terminal_label_width(const struct terminal_axis *axis, size_t most)
{
	struct buffer text = BUFFER_INIT;
	size_t widest = 1;
	for (size_t i = 0; i < axis->cells && widest < most; i += axis->step) {
		buffer_clear(&text);
		terminal_add_label(&text, axis, i, 0);
		widest = size_max(widest, text.data ? text_width(text.data) : 0);
	}
	buffer_release(&text);
	return size_min(widest, most);
}

/* Characters of a label, or 0 when it cannot be stacked in `columns` columns. */
static size_t stack_height(const char *text, size_t columns)
{
	size_t count = 0, width;
	if (any_code(text, is_joined))
		return 0;
	for (; *text; text += first_cluster(text, &width), count++) {
		first_cluster(text, &width);
		if (width > columns)
			return 0;
	}
	return count;
}

void terminal_choose_column_labels(struct terminal_drawing *d)
{
	struct terminal_axis *axis = &d->cols;
	struct buffer text = BUFFER_INIT;
	char number[24];
	axis->step = d->cell > 1 ? 1 : 2; /* stacked letters want space between them */
	d->column_lines = 1;
	d->column_labels = axis->numbers ? TERMINAL_NUMBERS : TERMINAL_STACKED;
	for (size_t i = 0; i < axis->cells && d->column_labels == TERMINAL_STACKED; i += axis->step) {
		buffer_clear(&text);
		terminal_add_label(&text, axis, i, 0);
		size_t height = text.data ? stack_height(text.data, d->cell * axis->step) : 0;
		if (height == 0)
			d->column_labels = TERMINAL_KEYED;
		d->column_lines = size_max(d->column_lines, height);
	}
	d->out->failed |= text.failed;
	buffer_release(&text);
	d->column_lines = size_min(d->column_lines, TERMINAL_LONGEST);
	if (d->column_labels == TERMINAL_STACKED)
		return;
	int digits = snprintf(number, sizeof number, "%zu", axis->cells * axis->factor - 1);
	d->column_lines = 1;
	axis->step = layout_step(((size_t)digits + d->cell) / d->cell);
}

/* Character `line` of a stacked label, which has an ellipsis where it is cut. */
static void add_stacked(struct buffer *out, const char *text, size_t line, size_t width, size_t before)
{
	size_t columns = 0, bytes = 0;
	terminal_add_spaces(out, before);
	for (size_t i = 0; i <= line; i++) {
		text += bytes;
		bytes = first_cluster(text, &columns);
	}
	if (line + 1 == TERMINAL_LONGEST && text[bytes]) {
		buffer_add_string(out, ellipsis);
		columns = 1;
	} else {
		buffer_add(out, text, bytes);
	}
	terminal_add_spaces(out, width - size_min(columns + before, width));
}

void terminal_add_column_labels(const struct terminal_drawing *d, size_t line)
{
	const struct terminal_axis *axis = &d->cols;
	struct buffer text = BUFFER_INIT;
	size_t panel = axis->cells * d->cell;
	for (size_t i = 0; i < axis->cells; i += axis->step) {
		size_t width = size_min(axis->step * d->cell, panel - i * d->cell);
		buffer_clear(&text);
		if (d->column_labels == TERMINAL_KEYED)
			buffer_printf(&text, "%zu", i * axis->factor);
		else
			terminal_add_label(&text, axis, i, 0);
		const char *label = text.data ? text.data : "";
		if (d->column_labels == TERMINAL_STACKED)
			add_stacked(d->out, label, line, width, (d->cell - 1) / 2);
		else if (text_width(label) <= width)
			terminal_add_text(d->out, label, width, TERMINAL_LEFT);
		else
			terminal_add_spaces(d->out, width); /* the last, where there is no room */
	}
	d->out->failed |= text.failed;
	buffer_release(&text);
}

void terminal_add_key(const struct terminal_drawing *d)
{
	const struct terminal_axis *axis = &d->cols;
	struct buffer entry = BUFFER_INIT;
	char number[24];
	size_t used = 0;
	for (size_t i = 0; d->column_labels == TERMINAL_KEYED && i < axis->cells; i++) {
		buffer_clear(&entry);
		buffer_printf(&entry, "%zu ", i * axis->factor);
		terminal_add_text(&entry, label_of(axis, i, number),
				  d->terminal->columns - size_min(entry.length, d->terminal->columns - 1),
				  TERMINAL_ANY);
		size_t columns = entry.data ? text_width(entry.data) : 0;
		if (used > 0 && used + 2 + columns > d->terminal->columns) {
			buffer_add_char(d->out, '\n');
			used = 0;
		}
		buffer_add_string(d->out, used > 0 ? "  " : "");
		buffer_add_string(d->out, entry.data ? entry.data : "");
		used += columns + (used > 0 ? 2 : 0);
	}
	if (used > 0)
		buffer_add_string(d->out, "\n\n");
	d->out->failed |= entry.failed;
	buffer_release(&entry);
}
