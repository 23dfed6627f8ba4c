/* Lines on pixels, with soft edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/canvas/canvas.h"
#include "util/memory.h"
#include "util/minmax.h"

/* Pixels of the picture that a stroke may touch, and how much of each it covers. */
struct cover {
	struct rect box;
	float *share; /* (box.height, box.width), owned */
};

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* The pixels from `a` to `b`, and `reach` around, that lie in [0, end). */
static void find_side(double a, double b, double reach, int end, int *first, int *count)
{
	double low = clamp(floor(fmin(a, b) - reach), 0, end),
	       high = clamp(ceil(fmax(a, b) + reach), low, end);
	*first = (int)low;
	*count = (int)high - *first;
}

static struct rect box_of(const struct image *image, struct canvas_point a, struct canvas_point b,
			  double reach)
{
	struct rect box;
	find_side(a.x, b.x, reach, (int)image->width, &box.x, &box.width);
	find_side(a.y, b.y, reach, (int)image->height, &box.y, &box.height);
	return box;
}

static double distance_to(struct canvas_point p, struct canvas_point a, struct canvas_point b)
{
	double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
	double at = length > 0 ? clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0, 1) : 0;
	return hypot(p.x - a.x - at * dx, p.y - a.y - at * dy);
}

/* A pixel whose middle is r from the line is covered by width / 2 + 1/2 - r, between 0 and 1: parts of a
 * line are joined by the largest, so that none shows through another. */
static void cover_part(const struct image *image, const struct cover *c, struct canvas_point a,
		       struct canvas_point b, double width)
{
	struct rect part = box_of(image, a, b, width / 2 + 1);
	for (int y = part.y; y < part.y + part.height; y++) {
		float *row = c->share + (size_t)(y - c->box.y) * (size_t)c->box.width;
		for (int x = part.x; x < part.x + part.width; x++) {
			double r = distance_to((struct canvas_point){x + 0.5, y + 0.5}, a, b);
			float share = (float)clamp(width / 2 + 0.5 - r, 0, fmin(width, 1));
			row[x - c->box.x] = fmaxf(row[x - c->box.x], share);
		}
	}
}

/* The "over" operator of Porter and Duff (SIGGRAPH 1984). */
static void blend(struct image *image, size_t pixel, struct rgb colour, double share)
{
	const unsigned char over[3] = {colour.r, colour.g, colour.b};
	double rest = (image->alpha ? image->alpha[pixel] / 255.0 : 1) * (1 - share), all = share + rest;
	for (int i = 0; share > 0 && i < 3; i++) {
		unsigned char *under = &image->pixels[3 * pixel + (size_t)i];
		*under = (unsigned char)((over[i] * share + *under * rest) / all + 0.5);
	}
	if (image->alpha && share > 0)
		image->alpha[pixel] = (unsigned char)(255 * all + 0.5);
}

void canvas_pixels_stroke(struct canvas *canvas, const struct canvas_stroke *s)
{
	struct image *image = ((struct canvas_pixels *)canvas)->image;
	struct canvas_point low = s->points[0], high = low;
	for (size_t i = 1; i < s->count; i++) {
		low = (struct canvas_point){fmin(low.x, s->points[i].x), fmin(low.y, s->points[i].y)};
		high = (struct canvas_point){fmax(high.x, s->points[i].x), fmax(high.y, s->points[i].y)};
	}
	struct cover c = {.box = box_of(image, low, high, s->width / 2 + 1)};
	size_t width = (size_t)c.box.width, height = (size_t)c.box.height;
	if (width == 0 || height == 0)
		return;
	c.share = floats_alloc4(height, width, 1, 1);
	if (!c.share) {
		attn_fail_memory(&canvas->error);
		return;
	}
	memset(c.share, 0, height * width * sizeof *c.share);
	for (size_t i = 0; i < s->count; i++)
		cover_part(image, &c, s->points[i ? i - 1 : 0], s->points[i], s->width);
	for (size_t y = 0; y < height; y++)
		for (size_t x = 0; x < width; x++)
			blend(image, ((size_t)c.box.y + y) * image->width + (size_t)c.box.x + x, s->colour,
			      (double)c.share[y * width + x]);
	free(c.share);
}
