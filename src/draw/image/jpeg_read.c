/* JPEG files, by libjpeg-turbo, which is loaded when the first of them comes: linking it would cost every
 * command its time. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <turbojpeg.h>

#include "draw/image/picture.h"
#include "util/checked.h"

#define LIBRARY "libturbojpeg.so.0"

static struct functions {
	tjhandle (*open)(void);
	int (*header)(tjhandle handle, const unsigned char *bytes, unsigned long length, int *width,
		      int *height, int *subsampling, int *colours);
	int (*decompress)(tjhandle handle, const unsigned char *bytes, unsigned long length,
			  unsigned char *out, int width, int pitch, int height, int format, int flags);
	int (*close)(tjhandle handle);
	char *(*error)(tjhandle handle);
} jpeg;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[300]; /* empty: loaded */

static void load(void)
{
	static const char *const names[] = {"tjInitDecompress", "tjDecompressHeader3", "tjDecompress2",
					    "tjDestroy", "tjGetErrorStr2"};
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		snprintf(failure, sizeof failure,
			 "could not load '" LIBRARY "' (%.150s): install TurboJPEG (Debian: libturbojpeg0)",
			 dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *symbol = dlsym(library, names[i]);
		if (!symbol) {
			snprintf(failure, sizeof failure, "'" LIBRARY "' has no '%s'", names[i]);
			return;
		}
		/* POSIX makes this conversion work; C has no cast for it. */
		memcpy((char *)&jpeg + i * sizeof symbol, &symbol, sizeof symbol);
	}
}

static enum attn_status fail(tjhandle handle, const char *origin, struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT, "'%.300s' is not a good JPEG picture: %.150s", origin,
			 jpeg.error(handle));
}

/* As the library's users mostly have it: exact transforms, smooth colours (Pillow's defaults, too). */
static enum attn_status decode(tjhandle handle, const unsigned char *bytes, size_t length, const char *origin,
			       struct image *out, struct attn_error *err)
{
	int width = 0, height = 0, subsampling = 0, colours = 0;
	if (jpeg.header(handle, bytes, length, &width, &height, &subsampling, &colours) != 0)
		return fail(handle, origin, err);
	if (colours == TJCS_CMYK || colours == TJCS_YCCK)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' is a JPEG picture in CMYK, expected RGB or grey", origin);
	if (width < 1 || height < 1) /* tables alone */
		return attn_fail(err, ATTN_BAD_INPUT, "'%.300s' is not a good JPEG picture: it has no pixels",
				 origin);
	if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
	    (size_t)width * (size_t)height > IMAGE_MAX_BYTES / 3)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.300s' is too large: %d x %d pixels", origin, width,
				 height);
	TRY(image_init(out, (size_t)width, (size_t)height, err));
	if (jpeg.decompress(handle, bytes, length, out->pixels, width, 0, height, TJPF_RGB,
			    TJFLAG_ACCURATEDCT) == 0)
		return ATTN_OK;
	image_release(out);
	return fail(handle, origin, err);
}

enum attn_status image_parse_jpeg(const void *bytes, size_t length, const char *origin, struct image *out,
				  struct attn_error *err)
{
	*out = (struct image){0};
	pthread_once(&once, load);
	if (failure[0])
		return attn_fail(err, ATTN_FAILED, "%s", failure);
	tjhandle handle = jpeg.open();
	if (!handle)
		return attn_fail_memory(err);
	enum attn_status status = decode(handle, bytes, length, origin, out, err);
	jpeg.close(handle);
	return status;
}

enum attn_status image_parse(const void *bytes, size_t length, const char *origin, struct image *out,
			     struct attn_error *err)
{
	bool is_jpeg = length >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
	return is_jpeg ? image_parse_jpeg(bytes, length, origin, out, err)
		       : image_parse_png(bytes, length, origin, out, err);
}
