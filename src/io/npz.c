/* npz: a zip archive of npy files.
 *
 * A member that is not an npy file is an error, not skipped: an archive with
 * other things in it (a PyTorch checkpoint, say) is not what it was taken for,
 * and what was silently left out would be missed only later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/formats.h"
#include "io/npy_internal.h"
#include "io/zip_internal.h"

static enum attn_status add_array(const struct zip_member *m, const unsigned char *data, const char *origin,
				  struct bundle *out, struct attn_error *err)
{
	const unsigned char *bytes;
	unsigned char *owned;
	char *name = strndup(m->name, strlen(m->name) - strlen(".npy"));
	if (!name)
		return attn_fail_memory(err);
	enum attn_status status = zip_extract(m, data, &bytes, &owned, err);
	if (status == ATTN_OK)
		status = npy_add(bytes, m->size, owned, name, origin, out, err);
	free(name);
	return status;
}

static enum attn_status add_member(const struct zip_member *m, const unsigned char *data, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	size_t length = strlen(m->name), ending = strlen(".npy");
	if (length <= ending || strcmp(m->name + length - ending, ".npy") != 0)
		return length >= 8 && strcmp(m->name + length - 8, "data.pkl") == 0
			   ? attn_fail(
				 err, ATTN_BAD_INPUT,
				 "a PyTorch checkpoint, expected npz or safetensors: save it as one of them")
			   : attn_fail(err, ATTN_BAD_INPUT,
				       "archive holds '%.200s', expected only arrays, which end in '.npy'",
				       m->name);
	enum attn_status status = add_array(m, data, origin, out, err);
	if (status == ATTN_BAD_INPUT) {
		char prefix[200];
		snprintf(prefix, sizeof prefix, "'%.190s'", m->name);
		attn_error_prefix(err, prefix);
	}
	return status;
}

enum attn_status npz_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			   struct attn_error *err)
{
	struct zip zip;
	enum attn_status status = zip_open(&zip, data, length, err);
	for (size_t i = 0; i < zip.count && status == ATTN_OK; i++)
		status = add_member(&zip.members[i], data, origin, out, err);
	zip_release(&zip);
	return status;
}
