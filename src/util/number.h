/* Decimal numbers, correctly rounded and fast. */
#ifndef ATTN_UTIL_NUMBER_H
#define ATTN_UTIL_NUMBER_H

/* The double nearest to the JSON number at `text`, as strtod gives it (infinity
 * beyond the range of float64).  The text must be well-formed and followed by a
 * byte that cannot belong to a number.  *end is set to that byte. */
double number_parse(const char *text, const char **end);

#endif
