/* Fuzz target of what there is in any JSON, and of an item by its path. */
#include <stddef.h>

#include "files/formats.h"

/* Everything, and then item 0 of it, whatever that is called. */
static enum attn_status parse(const unsigned char *data, size_t length, const char *origin,
			      struct bundle *out, struct attn_error *err)
{
	struct bundle part;
	enum attn_status status = json_parse_part(data, length, origin, NULL, NULL, out, err);
	bundle_init(&part);
	if (status == ATTN_OK && out->tensor_count > 0)
		json_parse_part(data, length, origin, out->tensors[0].name, NULL, &part, err);
	bundle_release(&part);
	return status;
}

#define READER parse
#include "target.h"
