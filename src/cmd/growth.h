/* How cost grows with length: a table, the fitted exponents, and a plot; of attn bench and attn run
 * --dry-run. */
#ifndef ATTN_CMD_GROWTH_H
#define ATTN_CMD_GROWTH_H

#include "cmd/plots.h"
#include "cmd/ranking_output.h"

enum {
	GROWTH_LENGTHS = 64, /* of a curve, at most */
	GROWTH_CURVES = 32,  /* at most */
};

/* What is planned for a length, and what was measured; NAN: not. */
struct growth_point {
	size_t length; /* tokens */
	double multiply_adds, bytes;
	double milliseconds, gflops, share; /* of the peak */
};

struct growth_curve {
	char shape[100]; /* "12x64"; "": there is no such column */
	char kind[40];   /* "causal" */
	const char *mode;
	struct growth_point points[GROWTH_LENGTHS];
	size_t count;
};

struct growth {
	struct growth_curve curves[GROWTH_CURVES];
	size_t count;
	bool measured;            /* else all is planned */
	enum table_format format; /* settled: text, TSV or JSON */
};

/* The c of cost ~ N^c: the slope of the line of least squares through (ln N, ln cost).  NAN for fewer
 * than two points, or one without a cost above 0. */
double growth_exponent(const struct growth_curve *curve, double (*cost)(const struct growth_point *point));

/* Its costs. */
double growth_multiply_adds(const struct growth_point *point);
double growth_bytes(const struct growth_point *point);
double growth_milliseconds(const struct growth_point *point);

/* To `out` (NULL: nowhere): begin the table; write the last point of the last curve; write the exponents of
 * that curve, which is complete; and end the table, with the peak (GFLOP/s; NAN: none was measured). */
void growth_begin(const struct growth *g, FILE *out);
void growth_print_point(const struct growth *g, FILE *out);
void growth_print_exponents(const struct growth *g, FILE *out);
void growth_end(const struct growth *g, double peak, FILE *out);

/* Milliseconds, or where nothing was measured multiply-adds, and memory by length; lines are fitted. */
enum attn_status growth_draw(const struct growth *g, struct plot_request *plot, const struct command *self,
			     struct attn_error *err);

#endif
