/* Round numbers for a colour bar. */
#include "draw/heatmap/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double tick_step(double least, int *decimals)
{
	static const double factors[] = {1.0, 2.0, 2.5, 5.0, 10.0};
	int power = (int)floor(log10(least));
	double unit = pow(10.0, power);
	size_t i = 0;
	while (i < 4 && factors[i] * unit < least * (1.0 - 1e-9))
		i++;
	if (i == 4)
		power++;
	*decimals = (power < 0 ? -power : 0) + (i == 2 && power < 1 ? 1 : 0);
	return factors[i] * unit;
}

void tick_number(double value, int digits, char text[24])
{
	char plain[24];
	snprintf(plain, sizeof plain, "%.*g", digits, value);
	char *e = strchr(plain, 'e');
	if (!e) {
		memcpy(text, plain, sizeof plain);
		return;
	}
	*e = '\0';
	snprintf(text, 24, "%.12se%d", plain, atoi(e + 1) % 1000);
}

static void set_tick(const struct scale *s, struct tick *tick, double value, int digits)
{
	tick->value = value;
	tick->share = scale_share(s, value);
	tick_number(value, digits, tick->text);
}

/* Even steps from 0 up. */
static size_t linear_ticks(const struct scale *s, int length, int least, struct tick *ticks)
{
	double top = s->high, parts = least > 0 ? floor((double)length / least) : 5.0;
	size_t count = 0;
	parts = parts < 1.0 ? 1.0 : parts > 6.0 ? 6.0 : parts;
	int decimals;
	double step = tick_step(top / parts, &decimals);
	for (size_t i = 0; count < TICKS_MAX / 2 - 2; i++) {
		double value = (double)i * step;
		if (i > 0 && (top - value) / top * length < least)
			break;
		set_tick(s, &ticks[count], value, 6);
		if (i > 0 && decimals <= 6 && value < 1e6)
			snprintf(ticks[count].text, sizeof ticks[count].text, "%.*f", decimals, value);
		count++;
	}
	set_tick(s, &ticks[count], top, 3);
	return count + 1;
}

/* Add a tick where it keeps its distance from all others, in order. */
static size_t insert_tick(const struct scale *s, double value, double least_share, struct tick *ticks,
			  size_t count)
{
	double share = scale_share(s, value);
	size_t place = 0;
	if (value <= 0 || value <= s->low || value >= s->high || count >= TICKS_MAX / 2 - 1)
		return count;
	while (place < count && ticks[place].value < value)
		place++;
	if (share - ticks[place - 1].share < least_share || ticks[place].share - share < least_share)
		return count;
	memmove(&ticks[place + 1], &ticks[place], (count - place) * sizeof *ticks);
	set_tick(s, &ticks[place], value, 6);
	return count + 1;
}

/* Powers of ten first, from the top down, then 5 and 2 times these. */
static size_t power_ticks(const struct scale *s, int length, int least, struct tick *ticks)
{
	static const double factors[] = {1, 5, 2};
	double least_share = length > 0 ? (double)least / length : 1;
	int power = (int)floor(log10(s->high)) + 1;
	size_t count = 2;
	set_tick(s, &ticks[0], s->low, 2);
	set_tick(s, &ticks[1], s->high, 3);
	for (size_t f = 0; f < 3; f++)
		for (int down = 0; down <= 8; down++)
			count = insert_tick(s, factors[f] * pow(10, power - down), least_share, ticks, count);
	return count;
}

/* Mirror the ticks of the upper half, whose first is 0. */
static size_t mirror(const struct scale *s, struct tick *ticks, size_t count)
{
	memmove(&ticks[count - 1], ticks, count * sizeof *ticks);
	for (size_t i = 0; i < count - 1; i++) {
		const struct tick *up = &ticks[2 * count - 2 - i];
		ticks[i].value = -up->value;
		ticks[i].share = scale_share(s, -up->value);
		snprintf(ticks[i].text, sizeof ticks[i].text, "\u2212%.18s", up->text);
	}
	return 2 * count - 1;
}

size_t ticks_make(const struct scale *scale, int length, int least, struct tick *ticks)
{
	struct scale half = *scale;
	if (scale->diverging) {
		length /= 2;
		/* Its 0 is the middle, which a logarithmic scale does not reach. */
		half = scale_make(scale->high, scale->high / SCALE_LOG_RANGE, scale->transform);
	}
	size_t count = scale->transform == SCALE_LINEAR ? linear_ticks(&half, length, least, ticks)
							: power_ticks(&half, length, least, ticks);
	if (!scale->diverging)
		return count;
	if (scale->transform == SCALE_LOG)
		set_tick(&half, &ticks[0], 0, 3);
	for (size_t i = 0; i < count; i++)
		ticks[i].share = scale_share(scale, ticks[i].value);
	return mirror(scale, ticks, count);
}
