/* The pixels of an overlay: sizes, patches, blending. */
#include "draw/overlay/overlay.h"

#include <stdint.h>
#include <stdlib.h>

#include "draw/overlay/overlay_internal.h"
#include "util/memory.h"

/* How much of its contrast the picture keeps. */
#define CONTRAST 0.45

/* How far lines between patches are from what they cross to white or black. */
#define LINE_SHARE 0.2

const struct colormap *overlay_colormap(void)
{
	return colormap_find("inferno");
}

size_t overlay_border(size_t i, size_t pixels, size_t count)
{
	/* floor(i pixels / count + 1/2), in whole numbers */
	return (size_t)((2 * (uint64_t)i * pixels + count) / (2 * (uint64_t)count));
}

static unsigned char channel(double value)
{
	return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

static double mix(double from, double to, double share)
{
	return from + (to - from) * share;
}

/* Lightness as Rec. 601 weights the channels. */
static double grey_of(struct rgb p, bool light)
{
	double luma = 0.299 * p.r + 0.587 * p.g + 0.114 * p.b;
	return light ? 255 - CONTRAST * (255 - luma) : CONTRAST * luma;
}

struct rgb overlay_blend(struct rgb pixel, struct rgb colour, double share, bool light)
{
	double grey = grey_of(pixel, light), a = share > 0 ? OVERLAY_OPACITY * (share < 1 ? share : 1) : 0;
	return (struct rgb){channel(mix(grey, colour.r, a)), channel(mix(grey, colour.g, a)),
			    channel(mix(grey, colour.b, a))};
}

static struct rgb pixel_at(const struct image *image, size_t x, size_t y)
{
	const unsigned char *p = image->pixels + (y * image->width + x) * 3;
	return (struct rgb){p[0], p[1], p[2]};
}

static void set_pixel(struct image *image, size_t x, size_t y, struct rgb colour)
{
	unsigned char *p = image->pixels + (y * image->width + x) * 3;
	p[0] = colour.r;
	p[1] = colour.g;
	p[2] = colour.b;
}

bool overlay_is_light(const struct rgb *table)
{
	return grey_of(table[0], false) > grey_of(table[OVERLAY_LEVELS - 1], false);
}

struct rgb overlay_colour(const struct rgb *table, double share)
{
	double s = share > 0 ? share < 1 ? share : 1 : 0;
	return table[colormap_entry(mix(OVERLAY_FIRST, 1, s), OVERLAY_LEVELS)];
}

static struct rgb lift(struct rgb p, double to, double share)
{
	return (struct rgb){channel(mix(p.r, to, share)), channel(mix(p.g, to, share)),
			    channel(mix(p.b, to, share))};
}

/* Patches and what is drawn over them, in one panel. */
struct patch {
	size_t left, right, top, bottom; /* pixels of the panel */
	double share;
	struct rgb colour;
	bool masked;
};

static void paint_patch(const struct overlay_style *style, const struct patch *p, const struct image *picture,
			struct image *out, size_t x0, size_t y0)
{
	double line_to = style->light ? 0 : 255;
	size_t line = (size_t)style->line, hatch = (size_t)style->hatch;
	for (size_t y = p->top; y < p->bottom; y++) {
		for (size_t x = p->left; x < p->right; x++) {
			struct rgb pixel =
			    overlay_blend(pixel_at(picture, x, y), p->colour, p->share, style->light);
			if (p->masked && (x + y) % (6 * hatch) < hatch)
				pixel = lift(pixel, line_to, 0.5);
			/* On a patch's upper and left side, but not around the panel. */
			if ((p->left > 0 && x < p->left + line) || (p->top > 0 && y < p->top + line))
				pixel = lift(pixel, line_to, LINE_SHARE);
			set_pixel(out, x0 + x, y0 + y, pixel);
		}
	}
}

void overlay_paint(const struct overlay_style *style, const struct overlay_panel *panel,
		   const struct image *picture, struct image *out, int x, int y)
{
	for (size_t row = 0; row < style->patch_rows; row++) {
		for (size_t col = 0; col < style->patch_cols; col++) {
			size_t at = row * style->patch_cols + col;
			struct patch patch = {
			    .left = overlay_border(col, picture->width, style->patch_cols),
			    .right = overlay_border(col + 1, picture->width, style->patch_cols),
			    .top = overlay_border(row, picture->height, style->patch_rows),
			    .bottom = overlay_border(row + 1, picture->height, style->patch_rows),
			    .share = (double)panel->weights[at] / style->top,
			    .masked = panel->masked && panel->masked[at],
			};
			patch.colour = overlay_colour(style->table, patch.share);
			paint_patch(style, &patch, picture, out, (size_t)x, (size_t)y);
		}
	}
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

static double share_in(const struct span *s, size_t i)
{
	if (s->last - s->first == 1)
		return 1;
	return i == s->first ? s->head : i + 1 == s->last ? s->tail : 1;
}

static struct rgb mean_of(const struct image *picture, const struct span *across, const struct span *down)
{
	double sum[3] = {0, 0, 0}, all = 0;
	for (size_t y = down->first; y < down->last; y++) {
		for (size_t x = across->first; x < across->last; x++) {
			double area = share_in(down, y) * share_in(across, x);
			struct rgb p = pixel_at(picture, x, y);
			sum[0] += area * p.r;
			sum[1] += area * p.g;
			sum[2] += area * p.b;
			all += area;
		}
	}
	return (struct rgb){channel(sum[0] / all), channel(sum[1] / all), channel(sum[2] / all)};
}

enum attn_status picture_resize(const struct image *picture, size_t width, size_t height, struct image *out,
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
		across[x] = span_of(x, picture->width, width);
	for (size_t y = 0; y < height; y++) {
		struct span down = span_of(y, picture->height, height);
		for (size_t x = 0; x < width; x++)
			set_pixel(out, x, y, mean_of(picture, &across[x], &down));
	}
	free(across);
	return ATTN_OK;
}
