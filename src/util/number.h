/* Decimal numbers, correctly rounded and fast. */
#ifndef ATTN_UTIL_NUMBER_H
#define ATTN_UTIL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* The double nearest to the JSON number at `text`, as strtod gives it (infinity
 * beyond the range of float64).  The text must be well-formed and followed by a
 * byte that cannot belong to a number.  *end is set to that byte. */
double number_parse(const char *text, const char **end);

/* A number in the fewest digits that read back as the same double, with a point
 * whatever the locale; into text[size], 32 bytes hold any. */
void number_format(double value, char *text, size_t size);

/* What people write: the whole of `text` must be a number, in range and finite, or true,
 * false, 1 or 0.  False, and *out left alone, where it is not. */
bool parse_count(const char *text, size_t *out);
bool parse_number(const char *text, double *out);
bool parse_bool(const char *text, bool *out);

#endif
