#include "cmd/picture.h"

#include <string.h>

#include "draw/image/picture.h"
#include "files/input.h"

enum attn_status picture_read(struct image *image, const char *path, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status = image_parse(bytes.data, bytes.length,
					      strcmp(path, "-") == 0 ? "standard input" : path, image, err);
	file_bytes_release(&bytes);
	return status;
}
