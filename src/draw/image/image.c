/* Pictures in memory: making them, and bringing them to another size. */
#include "draw/image/image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	CHANNELS = 3
};

/* Large pictures take huge pages where the system has them: touching new memory
 * costs more than painting it otherwise. */
unsigned char *image_alloc(size_t bytes)
{
	const size_t huge = 2 * 1024 * 1024;
	size_t rounded = (bytes + huge - 1) / huge * huge;
	if (bytes < huge / 2)
		return malloc(bytes);
	void *memory;
	if (posix_memalign(&memory, huge, rounded) != 0)
		return NULL;
	madvise(memory, rounded, MADV_HUGEPAGE);
	return memory;
}

enum attn_status image_init(struct image *image, size_t width, size_t height, struct attn_error *err)
{
	*image = (struct image){0};
	size_t bytes;
	if (width == 0 || height == 0 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
	    !size_mul(width * CHANNELS, height, &bytes) || bytes > IMAGE_MAX_BYTES)
		return attn_fail(err, ATTN_USAGE,
				 "a picture of %zu x %zu pixels is too large (at most %d a side and %d MiB)",
				 width, height, IMAGE_MAX_SIDE, IMAGE_MAX_BYTES / (1024 * 1024));
	image->pixels = image_alloc(bytes);
	if (!image->pixels)
		return attn_fail_memory(err);
	memset(image->pixels, 0xff, bytes);
	image->width = width;
	image->height = height;
	return ATTN_OK;
}

enum attn_status image_clear(struct image *image, struct attn_error *err)
{
	if (!image->alpha)
		image->alpha = image_alloc(image->width * image->height);
	if (!image->alpha)
		return attn_fail_memory(err);
	memset(image->alpha, 0, image->width * image->height);
	return ATTN_OK;
}

void image_release(struct image *image)
{
	free(image->pixels);
	free(image->alpha);
	*image = (struct image){0};
}

void image_fill(struct image *image, struct rect r, struct rgb colour)
{
	int right = int_min(r.x + r.width, (int)image->width);
	int bottom = int_min(r.y + r.height, (int)image->height);
	for (int y = int_max(r.y, 0); y < bottom; y++)
		for (int x = int_max(r.x, 0); x < right; x++)
			pixel_set(image_at(image, (size_t)x, (size_t)y), colour);
}

/* Pixel `i` of `to` pixels covers [first, last) of `from`, with the shares that its two ends
 * have of the pixels that they cut. */
struct span {
	size_t first, last;
	double head, tail; /* of the first and the last pixel */
};

static struct span span_of(size_t i, size_t from, size_t to)
{
	if (to >= from) { /* the pixel in whose middle it is */
		size_t nearest = (size_t)(((2 * (uint64_t)i + 1) * from) / (2 * (uint64_t)to));
		return (struct span){nearest, nearest + 1, 1, 1};
	}
	uint64_t low = (uint64_t)i * from, high = low + from; /* in parts of 1 / to */
	struct span s = {.first = (size_t)(low / to), .last = (size_t)((high + to - 1) / to)};
	s.head = 1 - (double)(low % to) / (double)to;
	s.tail = high % to ? (double)(high % to) / (double)to : 1;
	return s;
}

/* The share of pixel `i` that a span covers. */
static double share_in(const struct span *s, size_t i)
{
	if (s->last - s->first == 1)
		return 1;
	return i == s->first ? s->head : i + 1 == s->last ? s->tail : 1;
}

static struct rgb mean_of(const struct image *image, const struct span *across, const struct span *down)
{
	double sum[3] = {0, 0, 0}, all = 0;
	for (size_t y = down->first; y < down->last; y++) {
		for (size_t x = across->first; x < across->last; x++) {
			double area = share_in(down, y) * share_in(across, x);
			struct rgb p = image_pixel(image, x, y);
			sum[0] += area * p.r;
			sum[1] += area * p.g;
			sum[2] += area * p.b;
			all += area;
		}
	}
	return (struct rgb){(unsigned char)(sum[0] / all + 0.5), (unsigned char)(sum[1] / all + 0.5),
			    (unsigned char)(sum[2] / all + 0.5)};
}

enum attn_status image_resize(const struct image *image, size_t width, size_t height, struct image *out,
			      struct attn_error *err)
{
	enum attn_status status = image_init(out, width, height, err);
	struct span *across = array_alloc(width, sizeof *across);
	if (status != ATTN_OK || !across) {
		image_release(out);
		free(across);
		return status != ATTN_OK ? status : attn_fail_memory(err);
	}
	for (size_t x = 0; x < width; x++)
		across[x] = span_of(x, image->width, width);
	for (size_t y = 0; y < height; y++) {
		struct span down = span_of(y, image->height, height);
		for (size_t x = 0; x < width; x++)
			pixel_set(image_at(out, x, y), mean_of(image, &across[x], &down));
	}
	free(across);
	return ATTN_OK;
}
