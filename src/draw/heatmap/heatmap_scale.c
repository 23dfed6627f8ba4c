/* Where the colour scale of a figure ends. */
#include "draw/heatmap/heatmap_scale.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap/ticks.h"
#include "draw/heatmap/wording.h"
#include "util/memory.h"

/* What counts for the scale, of one panel or all. */
struct extent {
	double top;      /* the largest magnitude */
	double smallest; /* above 0; INFINITY: none */
};

static bool counted(const struct grid *g, size_t cell)
{
	return !g->masked[cell] && !(g->uncounted && g->uncounted[cell]);
}

static struct extent extent_of(struct heatmap_scale *s, const struct grid *g)
{
	struct extent e = {0, (double)INFINITY};
	for (size_t i = 0; i < g->rows * g->cols; i++) {
		double magnitude = fabs((double)g->values[i]);
		if (g->masked[i])
			continue;
		s->highest = fmax(s->highest, magnitude);
		s->lowest = fmin(s->lowest, (double)g->values[i]);
		if (counted(g, i))
			e.top = fmax(e.top, magnitude);
		if (magnitude > 0)
			e.smallest = fmin(e.smallest, magnitude);
	}
	/* A cell may share weights that count and weights that do not. */
	if (g->uncounted)
		e.top = fmax(e.top, (double)g->top);
	s->any_masked |= g->any_masked;
	return e;
}

static uint32_t magnitude_bits(float value)
{
	uint32_t bits;
	float magnitude = fabsf(value);
	memcpy(&bits, &magnitude, sizeof bits);
	return bits;
}

/* Positive floats are ordered as their bits: count them by 16 of these, those
 * whose upper 16 are `upper`, or by their upper 16 where that is negative. */
static size_t count_bins(const struct heatmap_panel *panels, size_t count, int upper, size_t *bins)
{
	size_t all = 0;
	memset(bins, 0, 65536 * sizeof *bins);
	for (size_t p = 0; p < count; p++) {
		const struct grid *g = panels[p].grid;
		for (size_t i = 0; i < g->rows * g->cols; i++) {
			if (!counted(g, i))
				continue;
			uint32_t bits = magnitude_bits(g->values[i]);
			if (upper >= 0 && bits >> 16 != (uint32_t)upper)
				continue;
			bins[upper < 0 ? bits >> 16 : bits & 0xffff]++;
			all++;
		}
	}
	return all;
}

static uint32_t find_bin(const size_t *bins, size_t *rank)
{
	uint32_t bin = 0;
	while (bin < 65535 && *rank > bins[bin])
		*rank -= bins[bin++];
	return bin;
}

double heatmap_percentile(const struct heatmap_panel *panels, size_t count, double percent, size_t *bins)
{
	size_t all = count_bins(panels, count, -1, bins);
	if (all == 0)
		return 0;
	size_t rank = (size_t)ceil(percent / 100.0 * (double)all * (1 - 1e-12));
	rank = rank < 1 ? 1 : rank > all ? all : rank;
	uint32_t upper = find_bin(bins, &rank), bits;
	float value;
	count_bins(panels, count, (int)upper, bins);
	bits = upper << 16 | find_bin(bins, &rank);
	memcpy(&value, &bits, sizeof value);
	return (double)value;
}

/* The top of the scale of `count` panels, whose values reach to `e`. */
static double find_top(struct heatmap_scale *s, const struct heatmap_options *options,
		       const struct heatmap_panel *panels, size_t count, struct extent e, size_t *bins)
{
	double top = options->range == HEATMAP_RANGE_FIXED ? 1 : e.top;
	if (options->scale_max > 0)
		top = options->scale_max;
	if (options->clip > 0) {
		double clipped = heatmap_percentile(panels, count, options->clip, bins);
		s->clipped |= clipped > 0;
		top = clipped > 0 ? clipped : top;
	}
	return top > 0 ? top : 1;
}

enum attn_status heatmap_scale_init(struct heatmap_scale *s, const struct heatmap_figure *f,
				    struct attn_error *err)
{
	struct extent all = {0, (double)INFINITY};
	bool own = f->options.range == HEATMAP_RANGE_HEAD && f->panel_count > 1;
	size_t *bins = f->options.clip > 0 ? array_alloc(65536, sizeof *bins) : NULL;
	*s = (struct heatmap_scale){.levels = f->signed_values ? HEAT_LEVELS - 1 : HEAT_LEVELS};
	s->tops = own ? array_alloc(f->panel_count, sizeof *s->tops) : NULL;
	if ((f->options.clip > 0 && !bins) || (own && !s->tops)) {
		free(bins);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < f->panel_count; i++) {
		struct extent e = extent_of(s, f->panels[i].grid);
		if (own) {
			s->tops[i] = find_top(s, &f->options, &f->panels[i], 1, e, bins);
			e = (struct extent){1, e.smallest / s->tops[i]};
		}
		all = (struct extent){fmax(all.top, e.top), fmin(all.smallest, e.smallest)};
	}
	double top = own ? 1 : find_top(s, &f->options, f->panels, f->panel_count, all, bins);
	s->colours = f->signed_values
			 ? scale_make_diverging(top, f->options.transform)
			 : scale_make(top, isinf(all.smallest) ? 0 : all.smallest, f->options.transform);
	free(bins);
	return ATTN_OK;
}

void heatmap_scale_release(struct heatmap_scale *s)
{
	free(s->tops);
	*s = (struct heatmap_scale){0};
}

size_t heatmap_scale_level(const struct heatmap_scale *s, size_t panel, float value)
{
	double v = s->tops ? (double)value / s->tops[panel] : (double)value;
	return colour_entry(scale_share(&s->colours, v), s->levels);
}

/* Weights a little above 1 are rounding: "above 1 (up to 1)" would say nothing. */
static bool exceeds_visibly(double highest, double top)
{
	char a[32], b[32];
	snprintf(a, sizeof a, "%.3g", highest);
	snprintf(b, sizeof b, "%.3g", top);
	return strcmp(a, b) != 0;
}

/* What lies beyond the end of the one scale that all panels have. */
static void add_top_note(struct buffer *notes, const struct heatmap_scale *s,
			 const struct heatmap_figure *figure)
{
	double top = s->colours.high, clip = figure->options.clip;
	const char *sign = figure->signed_values ? "\u00b1" : "";
	char text[160];
	if (s->clipped)
		snprintf(text, sizeof text, "scale ends at the %g%s percentile, %s%.3g; largest %s%.3g", clip,
			 floor(clip) == clip ? ordinal_ending((size_t)clip) : "th", sign, top, sign,
			 s->highest);
	else if (s->highest > top && exceeds_visibly(s->highest, top))
		snprintf(text, sizeof text, "%s above %s%.3g (up to %.3g) have the colour of %s%.3g",
			 value_names(figure), sign, top, s->highest, sign, top);
	else
		return;
	note_add(notes, text);
}

void heatmap_scale_notes(struct buffer *notes, const struct heatmap_scale *s,
			 const struct heatmap_figure *figure)
{
	const struct heatmap_options *o = &figure->options;
	char text[160];
	if (o->range == HEATMAP_RANGE_FIXED)
		note_add(notes, figure->signed_values ? "colour scale fixed from \u22121 to 1"
						      : "colour scale fixed from 0 to 1");
	if (s->tops && s->clipped) {
		snprintf(text, sizeof text, "each head has its own scale, which ends at its %g%s percentile",
			 o->clip, floor(o->clip) == o->clip ? ordinal_ending((size_t)o->clip) : "th");
		note_add(notes, text);
	} else if (s->tops) {
		note_add(notes, "each head has its own scale");
	} else {
		add_top_note(notes, s, figure);
	}
	if (o->transform == SCALE_SQRT)
		note_add(notes, "colour scale: square root");
	if (o->transform != SCALE_LOG)
		return;
	double low = figure->signed_values ? s->colours.high / SCALE_LOG_RANGE : s->colours.low;
	char number[24];
	tick_number(s->tops ? low * 100 : low, 2, number);
	snprintf(text, sizeof text, "colour scale: logarithm; %s %s%s have %s",
		 figure->signed_values ? "magnitudes below" : "weights below", number,
		 s->tops ? " % of the largest" : "",
		 figure->signed_values ? "the colour of 0" : "its first colour, as 0 has");
	note_add(notes, text);
}
