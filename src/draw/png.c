/* PNG by libpng's full interface, whose errors jump: they are caught here and
 * go no further.
 *
 * A heatmap has few colours and many equal rows.  So pictures of at most 256
 * colours are written with a palette, equal neighbouring rows as differences of
 * zero, and the rest with fast compression: measured at cells of 8 pixels, this
 * is half the time and a third of the bytes of plain RGB at zlib's default. */
#include "draw/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/checked.h"

enum {
	CHANNELS = 3,
	MAX_COLOURS = 256,
	SLOTS = 2048 /* of the colour hash: a power of two, well above MAX_COLOURS */
};

enum attn_status image_init(struct image *image, size_t width, size_t height, struct attn_error *err)
{
	size_t bytes;

	memset(image, 0, sizeof *image);
	if (width == 0 || height == 0 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
	    !size_mul(width * CHANNELS, height, &bytes) || bytes > IMAGE_MAX_BYTES)
		return attn_fail(err, ATTN_USAGE,
				 "a picture of %zu x %zu pixels is too large (at most %d a side and %d MiB)",
				 width, height, IMAGE_MAX_SIDE, IMAGE_MAX_BYTES / (1024 * 1024));
	image->pixels = malloc(bytes);
	if (!image->pixels)
		return attn_fail_memory(err);
	memset(image->pixels, 0xff, bytes);
	image->width = width;
	image->height = height;
	return ATTN_OK;
}

void image_release(struct image *image)
{
	free(image->pixels);
	memset(image, 0, sizeof *image);
}

struct palette {
	png_color colours[MAX_COLOURS];
	int count;
	uint32_t keys[SLOTS]; /* 0xRRGGBB + 1; 0 = free */
	unsigned char index[SLOTS];
};

/* The palette's index for a colour, which is added when new; -1 when full. */
static int palette_index(struct palette *p, const unsigned char *pixel)
{
	uint32_t key = ((uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2]) + 1;
	size_t slot = (key * 2654435761u) >> 21;

	while (p->keys[slot] != 0 && p->keys[slot] != key)
		slot = (slot + 1) % SLOTS;
	if (p->keys[slot] == key)
		return p->index[slot];
	if (p->count == MAX_COLOURS)
		return -1;
	p->keys[slot] = key;
	p->index[slot] = (unsigned char)p->count;
	p->colours[p->count].red = pixel[0];
	p->colours[p->count].green = pixel[1];
	p->colours[p->count].blue = pixel[2];
	return p->count++;
}

/* Write a row as palette indices into out[width] (may be NULL); false when the
 * colours do not fit. */
static bool index_row(struct palette *p, const unsigned char *row, size_t width, unsigned char *out)
{
	int index = 0;

	for (size_t x = 0; x < width; x++, row += CHANNELS) {
		if (x == 0 || row[0] != row[-3] || row[1] != row[-2] || row[2] != row[-1]) {
			index = palette_index(p, row);
			if (index < 0)
				return false;
		}
		if (out)
			out[x] = (unsigned char)index;
	}
	return true;
}

static const unsigned char *row_at(const struct image *image, size_t y)
{
	return image->pixels + y * image->width * CHANNELS;
}

static bool same_as_above(const struct image *image, size_t y)
{
	return y > 0 && memcmp(row_at(image, y), row_at(image, y - 1), image->width * CHANNELS) == 0;
}

static bool palette_collect(struct palette *p, const struct image *image)
{
	for (size_t y = 0; y < image->height; y++)
		if (!same_as_above(image, y) && !index_row(p, row_at(image, y), image->width, NULL))
			return false;
	return true;
}

struct png_job {
	const struct image *image;
	struct palette *palette; /* NULL: RGB */
	unsigned char *row;      /* (width): palette indices of the row being written */
	FILE *stream;
	double dpi;
	char message[200]; /* libpng's */
};

static void on_error(png_structp png, png_const_charp message)
{
	struct png_job *job = png_get_error_ptr(png);

	snprintf(job->message, sizeof job->message, "%s", message);
	longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

static void write_bytes(png_structp png, png_bytep data, size_t length)
{
	struct png_job *job = png_get_io_ptr(png);

	if (fwrite(data, 1, length, job->stream) != length)
		png_error(png, "short write");
}

static void flush_nothing(png_structp png)
{
	(void)png;
}

static void write_header(png_structp png, png_infop info, const struct png_job *job)
{
	png_uint_32 per_metre = (png_uint_32)(job->dpi / 0.0254 + 0.5);

	png_set_IHDR(png, info, (png_uint_32)job->image->width, (png_uint_32)job->image->height, 8,
		     job->palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	if (job->palette)
		png_set_PLTE(png, info, job->palette->colours, job->palette->count);
	png_set_pHYs(png, info, per_metre, per_metre, PNG_RESOLUTION_METER);
	png_set_compression_level(png, 1);
	png_set_compression_buffer_size(png, 1 << 16);
	/* Both filters are named here so that libpng keeps the row above. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE | PNG_FILTER_UP);
	png_write_info(png, info);
}

static void write_rows(png_structp png, const struct png_job *job)
{
	for (size_t y = 0; y < job->image->height; y++) {
		bool same = same_as_above(job->image, y);

		png_set_filter(png, PNG_FILTER_TYPE_BASE,
			       same || !job->palette ? PNG_FILTER_UP : PNG_FILTER_NONE);
		if (!job->palette) {
			png_write_row(png, row_at(job->image, y));
			continue;
		}
		if (!same)
			index_row(job->palette, row_at(job->image, y), job->image->width, job->row);
		png_write_row(png, job->row);
	}
}

/* All that may jump.  False with job->message set on failure. */
static bool encode(struct png_job *job)
{
	png_infop info = NULL;
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);

	if (!png)
		return false;
	info = png_create_info_struct(png);
	if (!info || setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		return false;
	}
	png_set_write_fn(png, job, write_bytes, flush_nothing);
	write_header(png, info, job);
	write_rows(png, job);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return true;
}

enum attn_status image_write_png(FILE *stream, const struct image *image, double dpi, struct attn_error *err)
{
	struct png_job job = {image, NULL, NULL, stream, dpi > 0.0 ? dpi : 96.0, "out of memory"};
	enum attn_status status = ATTN_OK;

	job.palette = calloc(1, sizeof *job.palette);
	job.row = malloc(image->width);
	if (!job.palette || !job.row) {
		status = attn_fail_memory(err);
	} else {
		struct palette *palette = job.palette;

		if (!palette_collect(palette, image))
			job.palette = NULL;
		if (!encode(&job))
			status = attn_fail(err, ATTN_FAILED, "could not write PNG: %s", job.message);
		job.palette = palette;
	}
	free(job.palette);
	free(job.row);
	return status;
}
