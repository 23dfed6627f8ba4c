#include "model/resample.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	COLOURS = 3,
	PRECISION = 22, /* bits behind the point of a coefficient */
};

void pixels_release(struct pixels *p)
{
	free(p->data);
	*p = (struct pixels){0};
}

static enum attn_status pixels_init(struct pixels *p, size_t width, size_t height, struct attn_error *err)
{
	size_t bytes;
	*p = (struct pixels){width, height, NULL};
	if (size_mul(width, height, &bytes) && size_mul(bytes, COLOURS, &bytes))
		p->data = calloc(bytes ? bytes : 1, 1);
	return p->data ? ATTN_OK : attn_fail_memory(err);
}

/* --- filters -------------------------------------------------------------------------- */

static double sinc(double x)
{
	const double pi = 3.14159265358979323846;
	return x == 0 ? 1 : sin(x * pi) / (x * pi);
}

static double lanczos(double x)
{
	return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static double bilinear(double x)
{
	return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

/* Keys 1981, of a = -0.5. */
static double bicubic(double x)
{
	const double a = -0.5;
	x = fabs(x);
	if (x < 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double box(double x)
{
	return x > -0.5 && x <= 0.5 ? 1 : 0;
}

static double hamming(double x)
{
	const double pi = 3.14159265358979323846;
	x = fabs(x);
	return x >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * cos(x * pi));
}

static const struct filter {
	double (*at)(double x);
	double support; /* it is 0 farther away */
} filters[RESAMPLINGS] = {
    [RESAMPLE_LANCZOS] = {lanczos, 3}, [RESAMPLE_BILINEAR] = {bilinear, 1}, [RESAMPLE_BICUBIC] = {bicubic, 2},
    [RESAMPLE_BOX] = {box, 0.5},       [RESAMPLE_HAMMING] = {hamming, 1},
};

/* --- one side ------------------------------------------------------------------------- */

/* What each pixel of a side is made of: coefficients of `counts` pixels from `firsts` on. */
struct side {
	size_t length, most;     /* of the result; coefficients of a pixel */
	size_t *firsts, *counts; /* (length) each, owned */
	int32_t *weights;        /* (length, most), owned */
};

static void side_release(struct side *s)
{
	free(s->firsts);
	free(s->counts);
	free(s->weights);
}

/* Coefficients of pixel `i`, which add up to 1, before they are rounded. */
static void find_weights(struct side *s, const struct filter *filter, size_t i, double scale, size_t from,
			 double *exact)
{
	double wide = fmax(scale, 1), support = filter->support * wide, sum = 0;
	double centre = ((double)i + 0.5) * scale;
	double low = centre - support + 0.5, high = centre + support + 0.5;
	size_t first = low < 0 ? 0 : (size_t)low, end = size_min((size_t)high, from);
	s->firsts[i] = first;
	s->counts[i] = end > first ? end - first : 0;
	for (size_t k = 0; k < s->counts[i]; k++) {
		exact[k] = filter->at(((double)(k + first) - centre + 0.5) * (1 / wide));
		sum += exact[k];
	}
	for (size_t k = 0; k < s->counts[i]; k++) {
		double weight = (sum != 0 ? exact[k] / sum : exact[k]) * (1 << PRECISION);
		s->weights[i * s->most + k] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
	}
}

static enum attn_status side_init(struct side *s, size_t from, size_t to, const struct filter *filter,
				  struct attn_error *err)
{
	double scale = (double)from / (double)to;
	size_t count;
	*s = (struct side){.length = to};
	s->most = (size_t)ceil(filter->support * fmax(scale, 1)) * 2 + 1;
	if (!size_mul(s->most, to, &count))
		return attn_fail_memory(err);
	double *exact = array_alloc(s->most, sizeof *exact);
	s->firsts = array_alloc(to, sizeof *s->firsts);
	s->counts = array_alloc(to, sizeof *s->counts);
	s->weights = array_alloc(count, sizeof *s->weights);
	bool ok = exact && s->firsts && s->counts && s->weights;
	for (size_t i = 0; i < to && ok; i++)
		find_weights(s, filter, i, scale, from, exact);
	free(exact);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* A pixel's colour of those that are `stride` bytes apart. */
static unsigned char mix(const struct side *s, size_t i, const unsigned char *from, size_t stride)
{
	const int32_t *weights = s->weights + i * s->most;
	int64_t sum = 1 << (PRECISION - 1);
	for (size_t k = 0; k < s->counts[i]; k++)
		sum += (int64_t)weights[k] * from[(s->firsts[i] + k) * stride];
	sum >>= PRECISION;
	return (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static enum attn_status resize_across(const struct pixels *in, size_t width, const struct filter *filter,
				      struct pixels *out, struct attn_error *err)
{
	struct side s;
	enum attn_status status = side_init(&s, in->width, width, filter, err);
	if (status == ATTN_OK)
		status = pixels_init(out, width, in->height, err);
	for (size_t y = 0; y < in->height && status == ATTN_OK; y++)
		for (size_t x = 0; x < width; x++)
			for (size_t c = 0; c < COLOURS; c++)
				out->data[(y * width + x) * COLOURS + c] =
				    mix(&s, x, in->data + y * in->width * COLOURS + c, COLOURS);
	side_release(&s);
	return status;
}

static enum attn_status resize_down(const struct pixels *in, size_t height, const struct filter *filter,
				    struct pixels *out, struct attn_error *err)
{
	struct side s;
	size_t row = in->width * COLOURS;
	enum attn_status status = side_init(&s, in->height, height, filter, err);
	if (status == ATTN_OK)
		status = pixels_init(out, in->width, height, err);
	for (size_t y = 0; y < height && status == ATTN_OK; y++)
		for (size_t i = 0; i < row; i++)
			out->data[y * row + i] = mix(&s, y, in->data + i, row);
	side_release(&s);
	return status;
}

/* --- both ------------------------------------------------------------------------------- */

/* The nearest pixel, by positions that add up as Pillow's do (ImagingScaleAffine). */
static void take_nearest(const struct pixels *in, struct pixels *out)
{
	double down = (double)in->height / (double)out->height, y = down * 0.5;
	double across = (double)in->width / (double)out->width;
	for (size_t row = 0; row < out->height; row++, y += down) {
		double x = across * 0.5;
		for (size_t column = 0; column < out->width; column++, x += across) {
			size_t from = size_min((size_t)y, in->height - 1) * in->width +
				      size_min((size_t)x, in->width - 1);
			memcpy(out->data + (row * out->width + column) * COLOURS, in->data + from * COLOURS,
			       COLOURS);
		}
	}
}

static enum attn_status copy(const struct pixels *in, struct pixels *out, struct attn_error *err)
{
	TRY(pixels_init(out, in->width, in->height, err));
	memcpy(out->data, in->data, in->width * in->height * COLOURS);
	return ATTN_OK;
}

enum attn_status pixels_resize(const struct pixels *in, size_t width, size_t height, enum resampling how,
			       struct pixels *out, struct attn_error *err)
{
	const struct filter *filter = &filters[how];
	struct pixels across = {0};
	*out = (struct pixels){0};
	if (width == in->width && height == in->height)
		return copy(in, out, err);
	if (how == RESAMPLE_NEAREST) {
		TRY(pixels_init(out, width, height, err));
		take_nearest(in, out);
		return ATTN_OK;
	}
	if (width == in->width)
		return resize_down(in, height, filter, out, err);
	if (height == in->height)
		return resize_across(in, width, filter, out, err);
	enum attn_status status = resize_across(in, width, filter, &across, err);
	if (status == ATTN_OK)
		status = resize_down(&across, height, filter, out, err);
	pixels_release(&across);
	return status;
}

enum attn_status pixels_crop(const struct pixels *in, size_t width, size_t height, struct pixels *out,
			     struct attn_error *err)
{
	size_t whole_width = size_max(width, in->width), whole_height = size_max(height, in->height);
	/* Where the picture lies in the whole, and the result. */
	size_t left = (whole_width - in->width + 1) / 2, top = (whole_height - in->height + 1) / 2;
	size_t from_x = (whole_width - width) / 2, from_y = (whole_height - height) / 2;
	TRY(pixels_init(out, width, height, err));
	for (size_t y = 0; y < height; y++)
		for (size_t x = 0; x < width; x++) {
			size_t at_x = from_x + x - left, at_y = from_y + y - top; /* wrapped where outside */
			if (at_x < in->width && at_y < in->height)
				memcpy(out->data + (y * width + x) * COLOURS,
				       in->data + (at_y * in->width + at_x) * COLOURS, COLOURS);
		}
	return ATTN_OK;
}
