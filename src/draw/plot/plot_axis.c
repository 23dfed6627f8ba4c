/* Where an axis begins and ends, and where it is marked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/plot/plot_internal.h"

static bool value_shown(const struct plot_axis *axis, double value)
{
	return isfinite(value) && (!axis->logarithmic || value > 0);
}

bool point_shown(const struct plot_panel *panel, const struct plot_series *series, size_t i)
{
	return value_shown(&panel->x, series->x[i]) && value_shown(&panel->y, series->y[i]);
}

/* The ends of what is shown; 0 and 1, or 1 and 10, where that is nothing. */
static void find_ends(struct axis *axis, const struct plot_panel *panel, bool upright)
{
	const struct plot_axis *options = upright ? &panel->y : &panel->x;
	bool given = options->low < options->high;
	double low = given ? options->low : INFINITY, high = given ? options->high : -INFINITY;
	for (size_t s = 0; s < panel->series_count; s++) {
		const struct plot_series *series = &panel->series[s];
		for (size_t i = 0; i < series->count; i++) {
			double value = upright ? series->y[i] : series->x[i];
			if (!point_shown(panel, series, i))
				continue;
			low = fmin(low, value);
			high = fmax(high, value);
		}
	}
	if (low > high) {
		low = options->logarithmic ? 1 : 0;
		high = options->logarithmic ? 10 : 1;
	}
	if (low == high) { /* one value is in the middle */
		double half = low != 0 ? fabs(low) / 2 : 1;
		low = options->logarithmic ? low / 2 : low - half;
		high = options->logarithmic ? high * 2 : high + half;
	}
	axis->low = low;
	axis->high = high;
}

double axis_share(const struct axis *axis, double value)
{
	if (!isfinite(value) || (axis->logarithmic && value <= 0))
		return NAN;
	double share = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
					 : (value - axis->low) / (axis->high - axis->low);
	return axis->margin + (1 - 2 * axis->margin) * share;
}

/* A number with a minus sign of its own. */
static void add_tick(struct axis *axis, double value, const char *text)
{
	double share = axis_share(axis, value);
	if (axis->tick_count == AXIS_TICKS || !(share >= 0 && share <= 1))
		return;
	struct axis_tick *tick = &axis->ticks[axis->tick_count++];
	tick->share = share;
	tick->labelled = true;
	snprintf(tick->text, sizeof tick->text, "%s%.18s", *text == '-' ? "\u2212" : "",
		 text + (*text == '-'));
}

/* Round numbers, at both ends of an upright axis too, which moves there. */
static void add_even_ticks(struct axis *axis, bool upright, size_t most)
{
	int decimals;
	double step = tick_step((axis->high - axis->low) / (double)most, &decimals);
	double first = floor(axis->low / step + 1e-9), last = ceil(axis->high / step - 1e-9);
	if (upright) {
		axis->low = first * step;
		axis->high = last * step;
	}
	for (double i = first; i <= last; i++) {
		char text[24];
		double value = i * step;
		if (decimals <= 6 && fabs(value) < 1e6)
			snprintf(text, sizeof text, "%.*f", decimals, value == 0 ? 0 : value);
		else
			tick_number(value, 6, text);
		add_tick(axis, value, text);
	}
}

/* Powers of ten, and where these are few 5 and 2 times them; where they are many, some. */
static void add_power_ticks(struct axis *axis, size_t most)
{
	static const double factors[] = {1, 2, 5};
	int first = (int)floor(log10(axis->low)) - 1, last = (int)ceil(log10(axis->high)) + 1;
	double decades = log10(axis->high / axis->low);
	size_t count = decades < (double)most / 3 ? 3 : 1;
	int every = (int)fmax(ceil(decades / (double)most), 1);
	for (int power = first; power <= last; power++) {
		for (size_t f = 0; f < count; f++) {
			char text[24];
			double value = factors[f] * pow(10, power);
			if (power % every != 0)
				continue;
			tick_number(value, 6, text);
			add_tick(axis, value, text);
		}
	}
}

void axis_make(struct axis *axis, const struct plot_panel *panel, bool upright, size_t most)
{
	const struct plot_axis *options = upright ? &panel->y : &panel->x;
	*axis = (struct axis){.logarithmic = options->logarithmic};
	axis->margin = upright && !options->logarithmic ? 0 : 0.04; /* markers keep off the frame */
	find_ends(axis, panel, upright);
	for (size_t i = 0; i < options->tick_count; i++) {
		char text[24];
		tick_number(options->ticks[i], 6, text);
		add_tick(axis, options->ticks[i], text);
	}
	if (options->tick_count > 0)
		return;
	if (axis->logarithmic)
		add_power_ticks(axis, most);
	else
		add_even_ticks(axis, upright, most);
}
