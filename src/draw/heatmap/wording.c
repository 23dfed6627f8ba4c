/* Notes, ordinals and the numbers in cells. */
#include "draw/heatmap/wording.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "draw/heatmap/heatmap.h"

void note_add(struct buffer *notes, const char *text)
{
	if (!text || !*text)
		return;
	if (notes->length > 0)
		buffer_add_string(notes, "; ");
	buffer_add_string(notes, text);
}

const char *value_name(const struct heatmap_figure *figure)
{
	if (figure->statistic)
		return figure->statistic;
	if (figure->difference)
		return figure->scores ? "score, A \u2212 B" : "weight, A \u2212 B";
	return figure->scores ? "score" : "weight";
}

const char *value_names(const struct heatmap_figure *figure)
{
	if (figure->statistic)
		return "values";
	if (figure->difference)
		return "differences";
	return figure->scores ? "scores" : "weights";
}

const char *hatched_name(const struct heatmap_figure *figure)
{
	return figure->statistic ? "none" : "masked";
}

const char *ordinal_ending(size_t n)
{
	if (n / 10 % 10 == 1)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* A magnitude; false where its digits are all 0. */
static bool magnitude_text(double v, char text[CELL_NUMBER_SIZE])
{
	char digits[64];
	if (v < 0.995) {
		snprintf(digits, sizeof digits, "%.2f", v);
		snprintf(text, CELL_NUMBER_SIZE, "%.5s", digits + 1); /* without the 0 before the point */
		return strcmp(text, ".00") != 0;
	}
	snprintf(digits, sizeof digits, v < 9.995 ? "%.2f" : v < 999.5 ? "%.0f" : "%.0e", v);
	snprintf(text, CELL_NUMBER_SIZE, "%.7s", digits);
	return true;
}

void cell_number(float value, char text[CELL_NUMBER_SIZE])
{
	char digits[CELL_NUMBER_SIZE];
	bool some = magnitude_text(fabs((double)value), digits);
	snprintf(text, CELL_NUMBER_SIZE, "%s%.8s", value < 0 && some ? "\u2212" : "", digits);
}
