/* The figures of heads (consumers/head_statistics.h) by the names that columns, options and
 * pictures have for them. */
#ifndef ATTN_CMD_HEAD_FIGURES_H
#define ATTN_CMD_HEAD_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "consumers/head_statistics.h"
#include "util/error.h"

struct head_figure {
	const char *name;  /* of the column */
	const char *title; /* of the scale of a picture: "entropy in bits" */

	/* Private: what it is of struct head_statistics. */
	enum {
		FIGURE_NUMBER,
		FIGURE_COUNT,
		FIGURE_WEIGHT
	} kind;
	size_t offset;
};

/* In the order of columns: those before `weight` describe all rows, those after it are what they
 * are compared with. */
extern const struct head_figure head_figures[];
extern const size_t head_figure_count;

/* NAN where there is nothing to say. */
double head_figure_value(const struct head_figure *figure, const struct head_statistics *s);

/* The figure of --statistic NAME: ATTN_USAGE with a suggestion, or with all names. */
enum attn_status head_figure_find(const char *name, const struct head_figure **out, struct attn_error *err);

#endif
