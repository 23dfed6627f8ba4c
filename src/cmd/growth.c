/* The table of costs by length. */
#include "cmd/growth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "util/buffer.h"
#include "util/threads.h"

double growth_multiply_adds(const struct growth_point *point)
{
	return point->multiply_adds;
}

double growth_bytes(const struct growth_point *point)
{
	return point->bytes;
}

double growth_milliseconds(const struct growth_point *point)
{
	return point->milliseconds;
}

double growth_exponent(const struct growth_curve *curve, double (*cost)(const struct growth_point *point))
{
	double n = (double)curve->count, x = 0, y = 0, xy = 0, xx = 0;
	for (size_t i = 0; i < curve->count; i++) {
		if (!(cost(&curve->points[i]) > 0))
			return NAN;
		x += log((double)curve->points[i].length) / n;
		y += log(cost(&curve->points[i])) / n;
	}
	for (size_t i = 0; i < curve->count; i++) {
		double dx = log((double)curve->points[i].length) - x;
		xy += dx * (log(cost(&curve->points[i])) - y);
		xx += dx * dx;
	}
	return curve->count >= 2 && xx > 0 ? xy / xx : NAN;
}

/* --- a line ------------------------------------------------------------------------------ */

/* The numbers of a line: costs of a length, or their exponents. */
struct numbers {
	size_t length; /* 0: exponents */
	double multiply_adds, bytes, milliseconds, gflops, share;
};

static struct numbers numbers_of(const struct growth_point *p)
{
	return (struct numbers){p->length, p->multiply_adds, p->bytes, p->milliseconds, p->gflops, p->share};
}

static struct numbers exponents_of(const struct growth_curve *curve)
{
	return (struct numbers){.multiply_adds = growth_exponent(curve, growth_multiply_adds),
				.bytes = growth_exponent(curve, growth_bytes),
				.milliseconds = growth_exponent(curve, growth_milliseconds),
				.gflops = NAN,
				.share = NAN};
}

static void print_tsv_number(FILE *out, double value, int digits)
{
	fputc('\t', out);
	if (!isnan(value))
		fprintf(out, "%.*g", digits, value);
}

static void print_tsv(const struct growth_curve *curve, const struct numbers *n, FILE *out)
{
	fprintf(out, "%s\t%s\t%s\t", curve->shape, curve->kind, curve->mode);
	if (n->length > 0)
		fprintf(out, "%zu", n->length);
	else
		fputs("exponent", out);
	fprintf(out, "\t%zu\t%s", threads_count(), kernels_name(kernels_best()));
	print_tsv_number(out, n->multiply_adds, n->length ? 15 : 5);
	print_tsv_number(out, n->bytes, n->length ? 15 : 5);
	print_tsv_number(out, n->milliseconds, n->length ? 6 : 5);
	print_tsv_number(out, n->gflops, 6);
	print_tsv_number(out, n->share, 3);
	fputc('\n', out);
}

static void print_json_number(FILE *out, const char *name, double value, int digits)
{
	fprintf(out, ", \"%s\": ", name);
	if (isnan(value))
		fputs("null", out);
	else
		fprintf(out, "%.*g", digits, value);
}

static void print_json(const struct growth_curve *curve, const struct numbers *n, FILE *out)
{
	fprintf(out, "\n  {\"shape\": \"%s\", \"kind\": \"%s\", \"mode\": \"%s\"", curve->shape, curve->kind,
		curve->mode);
	if (n->length > 0)
		fprintf(out, ", \"length\": %zu, \"threads\": %zu, \"kernel\": \"%s\"", n->length,
			threads_count(), kernels_name(kernels_best()));
	print_json_number(out, "multiply_adds", n->multiply_adds, n->length ? 15 : 5);
	print_json_number(out, "bytes", n->bytes, n->length ? 15 : 5);
	print_json_number(out, "ms", n->milliseconds, n->length ? 6 : 5);
	if (n->length > 0) {
		print_json_number(out, "gflops", n->gflops, 6);
		print_json_number(out, "share", n->share, 3);
	}
	fputc('}', out);
}

enum {
	SIZE_TEXT = 40
};

static void size_text(double bytes, char text[SIZE_TEXT])
{
	struct buffer size = BUFFER_INIT;
	buffer_add_size(&size, bytes);
	snprintf(text, SIZE_TEXT, "%s", size.failed ? "" : size.data);
	buffer_release(&size);
}

static void print_text(const struct growth *g, const struct growth_curve *curve, const struct numbers *n,
		       FILE *out)
{
	char size[SIZE_TEXT];
	fprintf(out, "%-10s %-14s %-9s ", curve->shape, curve->kind, curve->mode);
	if (n->length > 0) {
		size_text(n->bytes, size);
		fprintf(out, "%9zu  %13.4g  %11s", n->length, n->multiply_adds, size);
		if (g->measured)
			fprintf(out, "  %12.4f  %9.1f", n->milliseconds, n->gflops);
		if (!isnan(n->share))
			fprintf(out, "  %7.3f", n->share);
	} else {
		fprintf(out, "%9s  %13.3f  %11.3f", "~ N^", n->multiply_adds, n->bytes);
		if (g->measured)
			fprintf(out, "  %12.3f", n->milliseconds);
	}
	fputc('\n', out);
}

static void print_line(const struct growth *g, const struct growth_curve *curve, const struct numbers *n,
		       FILE *out)
{
	if (g->format == TABLE_TSV)
		print_tsv(curve, n, out);
	else if (g->format == TABLE_JSON)
		print_json(curve, n, out);
	else
		print_text(g, curve, n, out);
	fflush(out);
}

/* --- the table --------------------------------------------------------------------------- */

void growth_begin(const struct growth *g, FILE *out)
{
	if (!out)
		return;
	if (g->format == TABLE_TSV)
		fputs("shape\tkind\tmode\tlength\tthreads\tkernel\tmultiply_adds\tbytes\tms\tgflops\tshare\n",
		      out);
	else if (g->format == TABLE_JSON)
		fputs("{\"version\": 1, \"results\": [", out);
	else
		fprintf(out, "%-10s %-14s %-9s %9s  %13s  %11s%s\n", "shape", "kind", "mode", "length",
			"multiply-adds", "memory", g->measured ? "            ms    GFLOP/s  of peak" : "");
}

void growth_print_point(const struct growth *g, FILE *out)
{
	const struct growth_curve *curve = &g->curves[g->count - 1];
	struct numbers n = numbers_of(&curve->points[curve->count - 1]);
	if (!out)
		return;
	if (g->format == TABLE_JSON && (g->count > 1 || curve->count > 1))
		fputc(',', out);
	print_line(g, curve, &n, out);
}

void growth_print_exponents(const struct growth *g, FILE *out)
{
	const struct growth_curve *curve = &g->curves[g->count - 1];
	struct numbers n = exponents_of(curve);
	if (out && g->format != TABLE_JSON && curve->count >= 2) /* JSON has them at its end */
		print_line(g, curve, &n, out);
}

void growth_end(const struct growth *g, double peak, FILE *out)
{
	if (!out)
		return;
	if (g->format == TABLE_JSON) {
		fputs("\n], \"exponents\": [", out);
		for (size_t i = 0; i < g->count; i++) {
			struct numbers n = exponents_of(&g->curves[i]);
			if (i > 0)
				fputc(',', out);
			print_json(&g->curves[i], &n, out);
		}
		fputs("\n]", out);
		if (!isnan(peak))
			fprintf(out, ", \"peak_gflops\": %.6g", peak);
		fputs("}\n", out);
	} else if (g->format == TABLE_TEXT && peak > 0) {
		fprintf(out, "multiply-add peak %.1f GFLOP/s with %zu thread%s\n", peak, threads_count(),
			threads_count() > 1 ? "s" : "");
	}
}

/* --- the picture ------------------------------------------------------------------------- */

enum {
	FITTED = 2 /* points of a line */
};

/* A curve as series: dots, and the line that is fitted. */
struct drawn_curve {
	char name[120];
	double x[GROWTH_LENGTHS], y[GROWTH_LENGTHS], fit_x[FITTED], fit_y[FITTED];
};

struct drawn_panel {
	struct drawn_curve curves[GROWTH_CURVES];
	struct plot_series series[2 * GROWTH_CURVES];
	size_t count;
};

/* The line of least squares through the logarithms, from the first length to the last. */
static void fit(const struct growth_curve *curve, double (*cost)(const struct growth_point *point),
		double unit, struct drawn_curve *drawn)
{
	double slope = growth_exponent(curve, cost), x = 0, y = 0, n = (double)curve->count;
	for (size_t i = 0; i < curve->count; i++) {
		x += log((double)curve->points[i].length) / n;
		y += log(cost(&curve->points[i]) / unit) / n;
	}
	for (size_t i = 0; i < FITTED; i++) {
		drawn->fit_x[i] = (double)curve->points[i ? curve->count - 1 : 0].length;
		drawn->fit_y[i] = exp(y + slope * (log(drawn->fit_x[i]) - x));
	}
}

/* "causal, weights: N^1.98" */
static void name_curve(const struct growth *g, const struct growth_curve *curve, struct drawn_curve *drawn)
{
	bool modes = false, shapes = false;
	for (size_t i = 0; i < g->count; i++) {
		modes |= strcmp(g->curves[i].mode, curve->mode) != 0;
		shapes |= strcmp(g->curves[i].shape, curve->shape) != 0;
	}
	double c = growth_exponent(curve, g->measured ? growth_milliseconds : growth_multiply_adds);
	int used = snprintf(drawn->name, sizeof drawn->name, "%s%s%s%s%.30s", curve->kind, modes ? ", " : "",
			    modes ? curve->mode : "", shapes ? ", " : "", shapes ? curve->shape : "");
	if (!isnan(c))
		snprintf(drawn->name + used, sizeof drawn->name - (size_t)used, ": N^%.2f", c);
}

static void make_panel(const struct growth *g, double (*cost)(const struct growth_point *point), double unit,
		       struct drawn_panel *panel)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct growth_curve *curve = &g->curves[i];
		struct drawn_curve *drawn = &panel->curves[i];
		name_curve(g, curve, drawn);
		for (size_t k = 0; k < curve->count; k++) {
			drawn->x[k] = (double)curve->points[k].length;
			drawn->y[k] = cost(&curve->points[k]) / unit;
		}
		fit(curve, cost, unit, drawn);
		panel->series[panel->count++] =
		    (struct plot_series){NULL, drawn->fit_x, drawn->fit_y, FITTED, PLOT_DASHES, i};
		panel->series[panel->count++] =
		    (struct plot_series){drawn->name, drawn->x, drawn->y, curve->count, PLOT_DOTS, i};
	}
}

static struct plot_panel panel_of(const char *title, const struct drawn_panel *drawn)
{
	const struct plot_axis x = {.title = "length N, in tokens",
				    .logarithmic = true,
				    .ticks = drawn->curves[0].x,
				    .tick_count = drawn->series[1].count};
	return (struct plot_panel){title, x, {.logarithmic = true}, drawn->series, drawn->count};
}

enum attn_status growth_draw(const struct growth *g, struct plot_request *plot, const struct command *self,
			     struct attn_error *err)
{
	struct drawn_panel *drawn = calloc(2, sizeof *drawn);
	if (!drawn)
		return attn_fail_memory(err);
	make_panel(g, g->measured ? growth_milliseconds : growth_multiply_adds, 1, &drawn[0]);
	make_panel(g, growth_bytes, 1 << 20, &drawn[1]);
	const struct plot_panel panels[] = {
	    panel_of(g->measured ? "milliseconds" : "multiply-adds", &drawn[0]),
	    panel_of("memory, in MiB", &drawn[1])};
	const struct plot_figure figure = {
	    .title = "cost of attention as length grows",
	    .note = g->measured
			? "dashed: fitted cost ~ N^c, with c of the time"
			: "planned, not measured; dashed: fitted cost ~ N^c, with c of the multiply-adds",
	    .panels = panels,
	    .panel_count = 2};
	enum attn_status status = plot_draw(plot, &figure, self, err);
	free(drawn);
	return status;
}
