/* Writing PNG.
 *
 * A heatmap has few colours and many equal rows.  So pictures of at most 256
 * colours are written with a palette, equal neighbouring rows as differences of
 * zero, and the rest with fast compression: measured at cells of 8 pixels, this
 * is half the time and a third of the bytes of plain RGB at zlib's default. */
#include "draw/image/png.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draw/image/png_internal.h"

enum {
	CHANNELS = 3,
	MAX_COLOURS = 256,
	SLOTS = 2048 /* of the colour hash: a power of two, well above MAX_COLOURS */
};

struct palette {
	png_color colours[MAX_COLOURS];
	int count;
	uint32_t keys[SLOTS]; /* 0xRRGGBB + 1; 0 = free */
	unsigned char index[SLOTS];
};

/* The palette's index for a colour, 0xRRGGBB in any order of its bytes, which is
 * added when new; -1 when full. */
static int palette_index(struct palette *p, uint32_t colour, const unsigned char *pixel)
{
	uint32_t key = colour + 1;
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

/* Write a row as palette indices into out[width]; false when the colours do not
 * fit. */
static bool index_row(struct palette *p, const unsigned char *row, size_t width, unsigned char *out)
{
	uint32_t last = UINT32_MAX;
	int index = 0;
	for (size_t x = 0; x < width; x++, row += CHANNELS) {
		uint32_t colour = (uint32_t)row[0] | (uint32_t)row[1] << 8 | (uint32_t)row[2] << 16;
		if (colour != last) {
			index = palette_index(p, colour, row);
			if (index < 0)
				return false;
			last = colour;
		}
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

struct png_writer {
	const struct image *image;
	struct palette palette;
	unsigned char *indices; /* (height, width), or NULL: RGB */
	unsigned char *joined;  /* (width, 4): a row with its alpha */
	FILE *stream;
	double dpi;
	bool stopped; /* a write failed, which the stream tells */
	struct png_failure failure;
};

/* Turn the picture into palette indices, if its colours fit and there is
 * memory. */
static void find_palette(struct png_writer *writer)
{
	size_t width = writer->image->width;
	if (writer->image->alpha)
		return;
	writer->indices = image_alloc(width * writer->image->height);
	for (size_t y = 0; writer->indices && y < writer->image->height; y++) {
		unsigned char *out = writer->indices + y * width;
		if (same_as_above(writer->image, y)) {
			memcpy(out, out - width, width);
		} else if (!index_row(&writer->palette, row_at(writer->image, y), width, out)) {
			free(writer->indices);
			writer->indices = NULL;
		}
	}
}

static void write_bytes(png_structp png, png_bytep data, size_t length)
{
	struct png_writer *writer = png_get_io_ptr(png);
	if (fwrite(data, 1, length, writer->stream) == length)
		return;
	writer->stopped = true;
	png_error(png, "short write"); /* no use in compressing the rest */
}

static void flush_nothing(png_structp png)
{
	(void)png;
}

static void write_header(png_structp png, png_infop info, const struct png_writer *writer)
{
	png_uint_32 per_metre = (png_uint_32)(writer->dpi / 0.0254 + 0.5);
	png_set_IHDR(png, info, (png_uint_32)writer->image->width, (png_uint_32)writer->image->height, 8,
		     writer->image->alpha ? PNG_COLOR_TYPE_RGB_ALPHA
		     : writer->indices    ? PNG_COLOR_TYPE_PALETTE
					  : PNG_COLOR_TYPE_RGB,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	if (writer->indices)
		png_set_PLTE(png, info, writer->palette.colours, writer->palette.count);
	png_set_pHYs(png, info, per_metre, per_metre, PNG_RESOLUTION_METER);
	png_set_compression_level(png, 2);
	png_set_compression_buffer_size(png, 1 << 16);
	/* Both filters are named here so that libpng keeps the row above. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE | PNG_FILTER_UP);
	png_write_info(png, info);
}

static void write_rows_with_alpha(png_structp png, const struct png_writer *writer)
{
	size_t width = writer->image->width;
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
	for (size_t y = 0; y < writer->image->height; y++) {
		const unsigned char *rgb = row_at(writer->image, y),
				    *alpha = writer->image->alpha + y * width;
		for (size_t x = 0; x < width; x++) {
			memcpy(writer->joined + 4 * x, rgb + 3 * x, 3);
			writer->joined[4 * x + 3] = alpha[x];
		}
		png_write_row(png, writer->joined);
	}
}

static void write_rows(png_structp png, const struct png_writer *writer)
{
	if (writer->joined) {
		write_rows_with_alpha(png, writer);
		return;
	}
	size_t width = writer->indices ? writer->image->width : writer->image->width * CHANNELS;
	const unsigned char *rows = writer->indices ? writer->indices : writer->image->pixels;
	for (size_t y = 0; y < writer->image->height; y++, rows += width) {
		bool up = !writer->indices || (y > 0 && memcmp(rows, rows - width, width) == 0);
		png_set_filter(png, PNG_FILTER_TYPE_BASE, up ? PNG_FILTER_UP : PNG_FILTER_NONE);
		png_write_row(png, rows);
	}
}

/* All that may jump.  False with writer->failure.message set on failure. */
static bool encode(struct png_writer *writer)
{
	png_infop info = NULL;
	png_structp png =
	    png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer->failure, png_on_error, png_on_warning);
	if (!png)
		return false;
	info = png_create_info_struct(png);
	if (!info || setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		return false;
	}
	png_set_write_fn(png, writer, write_bytes, flush_nothing);
	write_header(png, info, writer);
	write_rows(png, writer);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return true;
}

enum attn_status image_write_png(FILE *stream, const struct image *image, double dpi, struct attn_error *err)
{
	struct png_writer *writer = calloc(1, sizeof *writer);
	enum attn_status status = ATTN_OK;
	if (writer && image->alpha)
		writer->joined = malloc(image->width * 4);
	if (!writer || (image->alpha && !writer->joined)) {
		free(writer);
		return attn_fail_memory(err);
	}
	writer->image = image;
	writer->stream = stream;
	writer->dpi = dpi > 0 ? dpi : 96.0;
	snprintf(writer->failure.message, sizeof writer->failure.message, "out of memory");
	find_palette(writer);
	if (!encode(writer) && !writer->stopped)
		status = attn_fail(err, ATTN_FAILED, "could not write PNG: %s", writer->failure.message);
	free(writer->indices);
	free(writer->joined);
	free(writer);
	return status;
}
