/* The lines of a text in memory. */
#ifndef ATTN_TOKENIZER_LINES_H
#define ATTN_TOKENIZER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The next line of *text, which ends at `end`, into line[*length] without its "\n" or "\r\n", and *text
 * behind it; false: there is none.  An empty rest after the last newline is no line. */
static inline bool next_line(const char **text, const char *end, const char **line, size_t *length)
{
	if (*text >= end)
		return false;
	const char *newline = memchr(*text, '\n', (size_t)(end - *text));
	*line = *text;
	*text = newline ? newline + 1 : end;
	*length = (size_t)((newline ? newline : end) - *line);
	if (*length > 0 && (*line)[*length - 1] == '\r')
		--*length;
	return true;
}

static inline size_t count_lines(const char *text, size_t length)
{
	const char *end = text + length, *line;
	size_t count = 0, used;
	while (next_line(&text, end, &line, &used))
		count++;
	return count;
}

#endif
