/* Cells in a terminal: colours by escapes (ECMA-48 SGR), or shades of characters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/heatmap/wording.h"
#include "draw/terminal/terminal_internal.h"
#include "util/minmax.h"
#include "util/width.h"

/* From light to heavy.  No '.', which looks like the dot of masked cells. */
static const char shades[] = " -:=+*#%@";

enum {
	SHADES = sizeof shades - 1,
	BAR = 33,          /* columns of the scale: its ticks are 8 apart */
	SHORT_BAR = 17,    /* of one in a narrow terminal */
	LONGEST_NAME = 12, /* beside the scale; others stand above it */
	LEGEND = 60,       /* columns that name, scale and what is masked take side by side */
	TICKS = 4          /* parts of it that have numbers at their ends */
};

/* What an escape colours, by the first digit of its SGR code. */
enum layer {
	FOREGROUND = 3,
	BACKGROUND = 4
};

/* Readable on any background. */
static const struct rgb middle_grey = {0x80, 0x80, 0x80};

static const char upper_half[] = "\xe2\x96\x80"; /* U+2580 */
static const char lower_half[] = "\xe2\x96\x84"; /* U+2584 */
static const char upright[] = "\xe2\x94\x82";    /* U+2502 */
static const char dot[] = "\xc2\xb7";            /* U+00B7 */

/* Where a cell's value is on the scale, 0 to 1. */
static double share_of(const struct terminal_drawing *d, const struct grid *g, float value)
{
	double top = 1;
	for (size_t i = 0; d->scale.tops && i < d->figure->panel_count; i++)
		if (d->figure->panels[i].grid == g)
			top = d->scale.tops[i];
	return scale_share(&d->scale.colours, (double)value / top);
}

/* A colour as it is sent: its entry of the palette, or 0xRRGGBB. */
static int32_t colour_code(const struct terminal_drawing *d, struct rgb colour)
{
	if (d->terminal->colours == TERMINAL_256)
		return (int32_t)terminal_palette(colour);
	return (int32_t)colour.r << 16 | (int32_t)colour.g << 8 | (int32_t)colour.b;
}

static void add_colour(const struct terminal_drawing *d, enum layer layer, int32_t code)
{
	if (code == TERMINAL_NO_COLOUR)
		buffer_printf(d->out, "\033[%d9m", layer);
	else if (d->terminal->colours == TERMINAL_256)
		buffer_printf(d->out, "\033[%d8;5;%dm", layer, (int)code);
	else
		buffer_printf(d->out, "\033[%d8;2;%d;%d;%dm", layer, (int)(code >> 16),
			      (int)(code >> 8 & 255), (int)(code & 255));
}

/* The colours of what follows: only what changes is sent. */
static void set_colours(struct terminal_drawing *d, int32_t foreground, int32_t background)
{
	if (background != d->background)
		add_colour(d, BACKGROUND, background);
	if (foreground != d->foreground)
		add_colour(d, FOREGROUND, foreground);
	d->foreground = foreground;
	d->background = background;
}

static void reset_colours(struct terminal_drawing *d)
{
	if (d->foreground != TERMINAL_NO_COLOUR || d->background != TERMINAL_NO_COLOUR)
		buffer_add_string(d->out, "\033[0m");
	d->foreground = d->background = TERMINAL_NO_COLOUR;
}

static struct rgb share_colour(const struct terminal_drawing *d, double share)
{
	return d->table[colour_entry(share, TERMINAL_LEVELS)];
}

static void add_dots(struct terminal_drawing *d, size_t columns)
{
	if (d->terminal->colours != TERMINAL_PLAIN)
		set_colours(d, colour_code(d, middle_grey), TERMINAL_NO_COLOUR);
	for (size_t i = 0; i < columns; i++)
		buffer_add_string(d->out, d->numbers && i + 1 < columns ? " " : dot);
}

static size_t cell_at(const struct terminal_drawing *d, const struct grid *g, size_t row, size_t col)
{
	return d->figure->options.transpose ? col * g->cols + row : row * g->cols + col;
}

/* A character for a share of the scale: a shade, or on a diverging scale, whose ends
 * would look alike, how many tenths of the end it is away from 0: below it a letter, a
 * being one, where a cell has no room for a sign. */
static char character(const struct terminal_drawing *d, double share)
{
	if (!d->scale.colours.diverging)
		return shades[colour_entry(share, SHADES)];
	int tenths = (int)fmin(fabs(2 * share - 1) * 10, 9);
	return (char)(share < 0.5 && tenths > 0 && d->cell == 1 ? 'a' + tenths - 1 : '0' + tenths);
}

/* A cell that is a line high. */
static void add_cell(struct terminal_drawing *d, const struct grid *g, size_t row, size_t col)
{
	size_t at = cell_at(d, g, row, col);
	double share = share_of(d, g, g->values[at]);
	char number[CELL_NUMBER_SIZE] = "";
	if (g->masked[at]) {
		add_dots(d, d->cell);
		return;
	}
	if (d->numbers)
		cell_number(g->values[at], number);
	if (d->terminal->colours != TERMINAL_PLAIN) {
		struct rgb background = share_colour(d, share);
		set_colours(d, d->numbers ? colour_code(d, colour_text_on(background)) : d->foreground,
			    colour_code(d, background));
	}
	if (d->numbers || d->terminal->colours != TERMINAL_PLAIN) {
		terminal_add_spaces(d->out, d->cell - size_min(d->cell, text_width(number)));
		buffer_add_string(d->out, number);
		return;
	}
	bool sign = d->scale.colours.diverging && d->cell > 1;
	if (sign)
		buffer_add_char(d->out, g->values[at] < 0 ? '-' : ' ');
	for (size_t i = sign; i < d->cell; i++)
		buffer_add_char(d->out, character(d, share));
}

/* Two cells, one above the other; the last may have none below it.  What is masked
 * leaves the terminal's own background. */
static void add_halves(struct terminal_drawing *d, const struct grid *g, size_t row, size_t col)
{
	int32_t codes[2] = {TERMINAL_NO_COLOUR, TERMINAL_NO_COLOUR};
	size_t masked = 0, rows = size_min(2, d->rows.cells - row);
	for (size_t i = 0; i < rows; i++) {
		size_t at = cell_at(d, g, row + i, col);
		if (g->masked[at])
			masked++;
		else
			codes[i] = colour_code(d, share_colour(d, share_of(d, g, g->values[at])));
	}
	if (masked == rows) {
		add_dots(d, 1);
	} else if (codes[0] == codes[1]) {
		set_colours(d, d->foreground, codes[1]);
		buffer_add_char(d->out, ' ');
	} else if (codes[0] == TERMINAL_NO_COLOUR) {
		set_colours(d, codes[1], TERMINAL_NO_COLOUR);
		buffer_add_string(d->out, lower_half);
	} else {
		set_colours(d, codes[0], codes[1]);
		buffer_add_string(d->out, upper_half);
	}
}

/* The left or right end of a line: the background may look like the lowest colour. */
static void add_frame(struct terminal_drawing *d)
{
	if (d->terminal->colours == TERMINAL_PLAIN) {
		buffer_add_char(d->out, '|');
		return;
	}
	set_colours(d, colour_code(d, middle_grey), TERMINAL_NO_COLOUR);
	buffer_add_string(d->out, upright);
}

void terminal_add_cells(struct terminal_drawing *d, const struct grid *g, size_t line)
{
	add_frame(d);
	for (size_t col = 0; col < d->cols.cells; col++) {
		if (d->halves)
			add_halves(d, g, 2 * line, col);
		else
			add_cell(d, g, line, col);
	}
	add_frame(d);
	reset_colours(d);
}

static void add_bar(struct terminal_drawing *d, size_t length)
{
	bool plain = d->terminal->colours == TERMINAL_PLAIN;
	add_frame(d);
	for (size_t i = 0; i < length; i++) {
		double share = (double)i / (double)(length - 1);
		if (!plain)
			set_colours(d, d->foreground, colour_code(d, share_colour(d, share)));
		buffer_add_char(d->out, plain ? character(d, share) : ' ');
	}
	add_frame(d);
	reset_colours(d);
}

/* The number of tick `i`, and the column in which it begins: in the middle under its
 * place, but the first and the last end with the bar. */
static size_t place_tick(const struct terminal_drawing *d, int i, size_t length, char text[24])
{
	size_t at = (size_t)i * (length - 1) / TICKS;
	double value = scale_value(&d->scale.colours, (double)i / TICKS);
	if (d->scale.tops && (i == TICKS || (i == 0 && value < 0)))
		snprintf(text, 24, "%s%s", i == 0 ? "-" : "", d->scale.clipped ? "top" : "largest");
	else if (d->scale.tops && value != 0)
		snprintf(text, 24, "%.2g%%", value * 100);
	else
		snprintf(text, 24, "%.*g", i == TICKS || (i == 0 && value < 0) ? 3 : 2, value);
	size_t width = strlen(text);
	if (i == TICKS)
		return at + 1 - size_min(width, at + 1);
	return i == 0 ? 0 : at - size_min(width / 2, at);
}

/* Below the bar: the numbers that do not touch. */
static void add_ticks(struct terminal_drawing *d, size_t indent, size_t length)
{
	char text[24];
	size_t used = 0, last = place_tick(d, TICKS, length, text);
	terminal_add_spaces(d->out, indent);
	for (int i = 0; i <= TICKS; i++) {
		size_t place = place_tick(d, i, length, text), width = strlen(text);
		if (i < TICKS && ((i > 0 && place <= used) || place + width >= last))
			continue;
		terminal_add_spaces(d->out, place - size_min(used, place));
		buffer_add_string(d->out, text);
		used = place + width;
	}
	terminal_end_line(d->out);
}

static void add_masked(struct terminal_drawing *d)
{
	add_dots(d, d->numbers ? 1 : d->cell);
	reset_colours(d);
	buffer_printf(d->out, " %s", hatched_name(d->figure));
}

void terminal_add_legend(struct terminal_drawing *d)
{
	const char *title = value_name(d->figure);
	size_t name = text_width(title), columns = d->terminal->columns;
	size_t length = columns < BAR + 2 ? SHORT_BAR : BAR;
	bool narrow = columns < LEGEND || name > LONGEST_NAME;
	terminal_add_text(d->out, title, narrow ? columns : name, TERMINAL_LEFT);
	if (narrow)
		terminal_end_line(d->out);
	else
		buffer_add_char(d->out, ' ');
	add_bar(d, length);
	if (d->scale.any_masked && !narrow) {
		buffer_add_string(d->out, "  ");
		add_masked(d);
	}
	buffer_add_char(d->out, '\n');
	add_ticks(d, narrow ? 1 : name + 2, length);
	if (d->scale.any_masked && narrow) {
		add_masked(d);
		buffer_add_char(d->out, '\n');
	}
}
