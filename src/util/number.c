#include "util/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
				1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum {
	MAX_POWER = sizeof powers / sizeof *powers - 1,
	MAX_DIGITS = 18, /* a mantissa of so many fits into 64 bits */
	MAX_EXPONENT = 1000
};

/* Append digits to *mantissa; returns how many. */
static int take_digits(const char **at, uint64_t *mantissa)
{
	int count = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++, count++)
		*mantissa = *mantissa * 10 + (uint64_t)(**at - '0');
	return count;
}

static int take_exponent(const char **at)
{
	int exponent = 0;
	(*at)++; /* e or E */
	bool negative = **at == '-';
	if (**at == '-' || **at == '+')
		(*at)++;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		if (exponent < MAX_EXPONENT)
			exponent = exponent * 10 + (**at - '0');
	return negative ? -exponent : exponent;
}

/* A mantissa and a power of ten that are both exact need one rounding only, so
 * the quotient or product is the nearest double (Clinger 1990).  Everything else
 * is left to strtod. */
double number_parse(const char *text, const char **end)
{
	const char *at = text;
	uint64_t mantissa = 0;
	bool negative = *at == '-';
	at += negative;
	int digits = take_digits(&at, &mantissa), exponent = 0;
	if (*at == '.') {
		at++;
		exponent = -take_digits(&at, &mantissa);
		digits -= exponent;
	}
	if (*at == 'e' || *at == 'E')
		exponent += take_exponent(&at);
	*end = at;
	if (digits > MAX_DIGITS || mantissa > (uint64_t)1 << 53 || exponent < -MAX_POWER ||
	    exponent > MAX_POWER)
		return strtod(text, NULL);
	double value =
	    exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
	return negative ? -value : value;
}

void number_format(double value, char *text, size_t size)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, size, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	char *comma = strchr(text, ',');
	if (comma) /* some locales write it so */
		*comma = '.';
}

bool parse_count(const char *text, size_t *out)
{
	char *end;
	if (!isdigit((unsigned char)text[0]))
		return false; /* strtoull takes signs and spaces */
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || value > SIZE_MAX)
		return false;
	*out = (size_t)value;
	return true;
}

bool parse_number(const char *text, double *out)
{
	char *end;
	/* What JSON takes: no spaces, hexadecimal, inf or nan. */
	if (!text[0] || text[strspn(text, "+-.0123456789eE")])
		return false;
	double value = strtod(text, &end);
	if (*end || end == text || !isfinite(value))
		return false;
	*out = value;
	return true;
}

bool parse_bool(const char *text, bool *out)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
		*out = true;
	else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
		*out = false;
	else
		return false;
	return true;
}
