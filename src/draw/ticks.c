#include "draw/ticks.h"

#include <math.h>
#include <stdio.h>

/* The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least
 * `least`, and the decimals that it needs. */
static double round_step(double least, int *decimals)
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

size_t ticks_make(double top, int length, int least, struct tick *ticks)
{
	double parts = least > 0 ? floor((double)length / least) : 5.0;
	size_t count = 0;
	parts = parts < 1.0 ? 1.0 : parts > 6.0 ? 6.0 : parts;
	int decimals;
	double step = round_step(top / parts, &decimals);
	for (size_t i = 0; count < TICKS_MAX - 1; i++) {
		double value = (double)i * step;
		if (i > 0 && (top - value) / top * length < least)
			break;
		ticks[count].value = value;
		if (i == 0 || decimals > 6 || value >= 1e6)
			snprintf(ticks[count].text, sizeof ticks[count].text, "%.6g", value);
		else
			snprintf(ticks[count].text, sizeof ticks[count].text, "%.*f", decimals, value);
		count++;
	}
	ticks[count].value = top;
	snprintf(ticks[count].text, sizeof ticks[count].text, "%.3g", top);
	return count + 1;
}
