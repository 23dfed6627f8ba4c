/* The picture of attn inspect heads --scaling: a panel for each figure, by head size, layer or head. */
#include <math.h>
#include <stdlib.h>

#include "cmd/scaling.h"
#include "util/memory.h"

enum {
	PANELS = 4,
	SERIES = 4,       /* with and without, as dots and as the line of their mean */
	TICKS_SHOWN = 40, /* of layers or heads, each marked */
	UNSCALED = 1,     /* the second colour */
};

static const struct {
	enum scaling_figure figure;
	const char *title;
	double high; /* the axis goes there at least, from 0; 0: it is logarithmic */
} panels[PANELS] = {
    {SCALING_VARIANCE, "variance of the scores", 0},
    {SCALING_ENTROPY, "entropy of a row, in bits", 1},
    {SCALING_LARGEST, "largest weight of a row", 1},
    {SCALING_JACOBIAN, "gradient: trace of softmax's Jacobian", 1},
};

/* What is drawn, as numbers. */
struct drawing {
	const struct scaling *s;
	size_t count;   /* places on the axis of x */
	double *places; /* (count), ascending */
	double *x;      /* (lines) */
	double *beside; /* (2, lines + count): where dots, and means, are drawn with and without */
	double *values; /* (PANELS, 2, lines) */
	double *means;  /* (PANELS, 2, count) */
	struct plot_series series[PANELS][SERIES];
};

enum axis_of {
	BY_SIZE,
	BY_LAYER,
	BY_HEAD
};

static double place_of(const struct scaling *s, const struct scaling_line *line, enum axis_of axis)
{
	if (axis == BY_SIZE)
		return (double)line->size;
	if (axis == BY_LAYER)
		return (double)layer_number(s->info, line->layer);
	return (double)head_number(s->info, line->head);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void find_places(struct drawing *d, enum axis_of axis)
{
	for (size_t i = 0; i < d->s->count; i++)
		d->places[i] = d->x[i] = place_of(d->s, &d->s->lines[i], axis);
	qsort(d->places, d->s->count, sizeof *d->places, compare);
	for (size_t i = 0; i < d->s->count; i++)
		if (d->count == 0 || d->places[i] > d->places[d->count - 1])
			d->places[d->count++] = d->places[i];
}

/* The mean of the values at a place that there are; NAN: none. */
static double mean_at(const struct drawing *d, const double *values, double place)
{
	double sum = 0, count = 0;
	for (size_t i = 0; i < d->s->count; i++) {
		if (d->x[i] != place || isnan(values[i]))
			continue;
		sum += values[i];
		count++;
	}
	return count > 0 ? sum / count : NAN;
}

/* Heads with the scale are drawn a little left of their place, and without right of it, unless places are
 * sizes. */
static void find_beside(struct drawing *d, enum axis_of axis)
{
	size_t lines = d->s->count, all = lines + d->count;
	for (size_t i = 0; i < 2 * all; i++) {
		double shift = axis == BY_SIZE ? 0 : i < all ? -0.1 : 0.1;
		d->beside[i] = (i % all < lines ? d->x[i % all] : d->places[i % all - lines]) + shift;
	}
}

/* Dots for all lines, and where they share places a line through their means.  Returns how many series:
 * none where there is nothing to say. */
static size_t make_series(struct drawing *d, size_t panel, const char *const names[2], bool joined)
{
	size_t lines = d->s->count, made = 0, known = 0;
	bool several = lines > d->count;
	for (size_t u = 0; u < 2; u++) {
		const double *x = d->beside + u * (lines + d->count);
		double *values = d->values + (2 * panel + u) * lines;
		double *means = d->means + (2 * panel + u) * d->count;
		for (size_t i = 0; i < lines; i++) {
			values[i] = scaling_value(&d->s->lines[i], panels[panel].figure, u == UNSCALED);
			known += !isnan(values[i]);
		}
		for (size_t i = 0; i < d->count; i++)
			means[i] = mean_at(d, values, d->places[i]);
		unsigned marks = PLOT_DOTS | (joined && !several ? PLOT_LINE : 0);
		d->series[panel][made++] = (struct plot_series){names[u], x, values, lines, marks, u};
		if (joined && several)
			d->series[panel][made++] =
			    (struct plot_series){NULL, x + lines, means, d->count, PLOT_LINE, u};
	}
	return known > 0 ? made : 0;
}

static enum axis_of axis_of(const struct drawing *d, const struct scaling_sizes *sizes)
{
	if (sizes->count > 0)
		return BY_SIZE;
	return d->s->info->shape.layers > 1 ? BY_LAYER : BY_HEAD;
}

/* Whether every scale is 1 / sqrt(d). */
static bool is_root(const struct scaling *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (fabs(s->lines[i].scale * sqrt((double)s->lines[i].size) - 1) > 1e-6)
			return false;
	return true;
}

/* The panels that have anything to show; returns how many. */
static size_t make_panels(struct drawing *d, enum axis_of axis, struct plot_panel *drawn)
{
	static const char *const names[2][2] = {{"with the scale", "without"},
						{"divided by \u221ad", "not divided"}};
	static const char *const titles[] = {
	    [BY_SIZE] = "head size d", [BY_LAYER] = "layer", [BY_HEAD] = "head"};
	size_t count = 0;
	for (size_t p = 0; p < PANELS; p++) {
		size_t series = make_series(d, p, names[is_root(d->s)], axis != BY_HEAD);
		if (series == 0)
			continue;
		drawn[count++] =
		    (struct plot_panel){.title = panels[p].title,
					.x = {.title = titles[axis],
					      .logarithmic = axis == BY_SIZE,
					      .low = axis == BY_SIZE ? 0 : d->places[0] - 0.4,
					      .high = axis == BY_SIZE ? 0 : d->places[d->count - 1] + 0.4,
					      .ticks = d->places,
					      .tick_count = d->count <= TICKS_SHOWN ? d->count : 0},
					.y = {.logarithmic = panels[p].high == 0, .high = panels[p].high},
					.series = d->series[p],
					.series_count = series};
	}
	return count;
}

static enum attn_status draw(struct drawing *d, const struct scaling_sizes *sizes, struct plot_request *plot,
			     const struct command *self, struct attn_error *err)
{
	static const char *const titles[] = {
	    [BY_SIZE] = "attention as heads grow, with and without the scale of scores",
	    [BY_LAYER] = "heads with and without the scale of their scores, by layer",
	    [BY_HEAD] = "heads with and without the scale of their scores"};
	enum axis_of axis = axis_of(d, sizes);
	struct plot_panel drawn[PANELS];
	char note[160] = "";
	find_places(d, axis);
	find_beside(d, axis);
	size_t count = make_panels(d, axis, drawn);
	if (count == 0)
		return attn_fail(err, ATTN_NO_MATCH, "no query attends to any key: there is nothing to draw");
	if (axis == BY_SIZE)
		snprintf(note, sizeof note,
			 "%zu queries and keys of independent numbers with mean 0 and variance 1",
			 sizes->tokens);
	else if (d->s->count > d->count)
		snprintf(note, sizeof note, "a dot for each %s%s",
			 d->s->has_batch ? "head of a batch item" : "head",
			 axis == BY_LAYER ? "; lines are means of a layer" : "");
	const struct plot_figure figure = {
	    .title = titles[axis], .note = *note ? note : NULL, .panels = drawn, .panel_count = count};
	return plot_draw(plot, &figure, self, err);
}

enum attn_status scaling_draw(const struct scaling *s, const struct scaling_sizes *sizes,
			      struct plot_request *plot, const struct command *self, struct attn_error *err)
{
	struct drawing d = {.s = s,
			    .places = array_alloc(s->count, sizeof *d.places),
			    .x = array_alloc(s->count, sizeof *d.x),
			    .beside = array_alloc(s->count, 4 * sizeof *d.beside),
			    .values = array_alloc(s->count, 2 * PANELS * sizeof *d.values),
			    .means = array_alloc(s->count, 2 * PANELS * sizeof *d.means)};
	bool ok = d.places && d.x && d.beside && d.values && d.means;
	enum attn_status status = ok ? draw(&d, sizes, plot, self, err) : attn_fail_memory(err);
	free(d.places);
	free(d.x);
	free(d.beside);
	free(d.values);
	free(d.means);
	return status;
}
