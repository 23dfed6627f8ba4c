/* Fuzz target of text: as a table, and as a token a line. */
#include <stddef.h>

#include "files/formats.h"

static enum attn_status parse(const unsigned char *data, size_t length, const char *origin,
			      struct bundle *out, struct attn_error *err)
{
	struct bundle lines;
	bundle_init(&lines);
	lines_parse(data, length, origin, &lines, NULL);
	bundle_release(&lines);
	return table_parse(data, length, origin, out, err);
}

#define READER parse
#include "target.h"
