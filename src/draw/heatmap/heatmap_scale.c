/* Which colours the values of a figure get: where its scale ends, and what says so. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap/heatmap_internal.h"
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

static struct extent extent_of(struct drawing *d, const struct grid *g)
{
	struct extent e = {0, (double)INFINITY};
	for (size_t i = 0; i < g->rows * g->cols; i++) {
		double magnitude = fabs((double)g->values[i]);
		if (g->masked[i])
			continue;
		d->highest = fmax(d->highest, magnitude);
		d->lowest = fmin(d->lowest, (double)g->values[i]);
		if (counted(g, i))
			e.top = fmax(e.top, magnitude);
		if (magnitude > 0)
			e.smallest = fmin(e.smallest, magnitude);
	}
	/* A cell may share weights that count and weights that do not. */
	if (g->uncounted)
		e.top = fmax(e.top, (double)g->top);
	d->any_masked |= g->any_masked;
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
static double find_top(struct drawing *d, const struct heatmap_panel *panels, size_t count, struct extent e,
		       size_t *bins)
{
	const struct heatmap_options *options = &d->figure->options;
	double top = options->range == HEATMAP_RANGE_FIXED ? 1 : e.top;
	if (options->scale_max > 0)
		top = options->scale_max;
	if (options->clip > 0) {
		double clipped = heatmap_percentile(panels, count, options->clip, bins);
		d->clipped |= clipped > 0;
		top = clipped > 0 ? clipped : top;
	}
	return top > 0 ? top : 1;
}

enum attn_status find_scale(struct drawing *d, struct attn_error *err)
{
	const struct heatmap_figure *f = d->figure;
	struct extent all = {0, (double)INFINITY};
	bool own = f->options.range == HEATMAP_RANGE_HEAD && f->panel_count > 1;
	size_t *bins = f->options.clip > 0 ? array_alloc(65536, sizeof *bins) : NULL;
	d->tops = own ? array_alloc(f->panel_count, sizeof *d->tops) : NULL;
	if ((f->options.clip > 0 && !bins) || (own && !d->tops)) {
		free(bins);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < f->panel_count; i++) {
		struct extent e = extent_of(d, f->panels[i].grid);
		if (own) {
			d->tops[i] = find_top(d, &f->panels[i], 1, e, bins);
			e = (struct extent){1, e.smallest / d->tops[i]};
		}
		all = (struct extent){fmax(all.top, e.top), fmin(all.smallest, e.smallest)};
	}
	double top = own ? 1 : find_top(d, f->panels, f->panel_count, all, bins);
	d->colours =
	    scale_make(top, isinf(all.smallest) ? 0 : all.smallest, f->options.transform, f->signed_values);
	d->levels = f->signed_values ? HEAT_LEVELS - 1 : HEAT_LEVELS;
	free(bins);
	return ATTN_OK;
}

size_t panel_level(const struct drawing *d, size_t panel, float value)
{
	double v = d->tops ? (double)value / d->tops[panel] : (double)value;
	return colormap_entry(scale_share(&d->colours, v), d->levels);
}

size_t drawing_ticks(const struct drawing *d, const struct layout *layout, int length, struct tick *ticks)
{
	bool upright = layout->bar_upright, wide = d->tops || d->colours.transform == SCALE_LOG;
	int least =
	    upright ? layout->small_size * 9 / 5 : layout->small_size * (wide ? 5 : 7) / (wide ? 1 : 2);
	size_t count = ticks_make(&d->colours, length, least, ticks);
	/* Of panels with a scale each: shares of their tops. */
	for (size_t i = 0; i < count && d->tops; i++) {
		double value = fabs(ticks[i].value);
		const char *sign = ticks[i].value < 0 ? "\u2212" : "";
		if (value == d->colours.high)
			snprintf(ticks[i].text, sizeof ticks[i].text, "%s%s", sign,
				 d->clipped ? "top" : "largest");
		else if (value > 0)
			snprintf(ticks[i].text, sizeof ticks[i].text, "%s%.3g %%", sign, value * 100);
	}
	return count;
}

/* What lies beyond the end of the one scale that all panels have. */
static void add_top_note(struct buffer *out, const struct drawing *d)
{
	double top = d->colours.high, clip = d->figure->options.clip;
	const char *sign = d->figure->signed_values ? "\u00b1" : "";
	char text[160];
	if (d->clipped)
		snprintf(text, sizeof text, "scale ends at the %g%s percentile, %s%.3g; largest %s%.3g", clip,
			 floor(clip) == clip ? ordinal((size_t)clip) : "th", sign, top, sign, d->highest);
	else if (d->highest > top)
		snprintf(text, sizeof text, "weights above %s%.3g (up to %.3g) have the colour of %s%.3g",
			 sign, top, d->highest, sign, top);
	else
		return;
	add_note(out, text);
}

void add_scale_notes(struct buffer *out, const struct drawing *d)
{
	const struct heatmap_options *o = &d->figure->options;
	char text[160];
	if (o->range == HEATMAP_RANGE_FIXED)
		add_note(out, d->figure->signed_values ? "colour scale fixed from \u22121 to 1"
						       : "colour scale fixed from 0 to 1");
	if (d->tops && d->clipped) {
		snprintf(text, sizeof text, "each head has its own scale, which ends at its %g%s percentile",
			 o->clip, floor(o->clip) == o->clip ? ordinal((size_t)o->clip) : "th");
		add_note(out, text);
	} else if (d->tops) {
		add_note(out, "each head has its own scale");
	} else {
		add_top_note(out, d);
	}
	if (o->transform == SCALE_SQRT)
		add_note(out, "colour scale: square root");
	if (o->transform != SCALE_LOG)
		return;
	double low = d->figure->signed_values ? d->colours.high / SCALE_LOG_RANGE : d->colours.low;
	char number[24];
	tick_number(d->tops ? low * 100 : low, 2, number);
	snprintf(text, sizeof text, "colour scale: logarithm; %s %s%s have %s",
		 d->figure->signed_values ? "magnitudes below" : "weights below", number,
		 d->tops ? " % of the largest" : "",
		 d->figure->signed_values ? "the colour of 0" : "its first colour, as 0 has");
	add_note(out, text);
}
