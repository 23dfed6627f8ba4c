#include "model/preprocess.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/memory.h"

enum {
	SIDE_MOST = 10000,
	COLOURS = 3,
};

/* A size: a number, two sides, or the shorter side. */
static enum attn_status read_size(const struct config *c, const char *key, size_t *shortest, size_t *width,
				  size_t *height, struct attn_error *err)
{
	char name[60];
	*shortest = 0;
	snprintf(name, sizeof name, "%s.shortest_edge", key);
	if (config_has(c, name))
		return config_size(c, name, 0, 1, SIDE_MOST, shortest, err);
	snprintf(name, sizeof name, "%s.height", key);
	if (config_has(c, name)) {
		TRY(config_size(c, name, 0, 1, SIDE_MOST, height, err));
		snprintf(name, sizeof name, "%s.width", key);
		return config_size(c, name, *height, 1, SIDE_MOST, width, err);
	}
	TRY(config_size(c, key, *width, 1, SIDE_MOST, width, err));
	*height = *width;
	return ATTN_OK;
}

static enum attn_status read_colours(const struct config *c, const char *key, double least,
				     double out[COLOURS], struct attn_error *err)
{
	if (!config_has(c, key))
		return ATTN_OK;
	for (size_t i = 0; i < COLOURS; i++) {
		double value = config_list_number(c, key, config_list(c, key) == 1 ? 0 : i);
		if (!(fabs(value) <= 1e6) || value < least)
			return config_fail(c, key, "three numbers, one a colour", err);
		out[i] = value;
	}
	return ATTN_OK;
}

static enum attn_status read_steps(struct preprocessor *p, const struct config *c, bool clip,
				   struct attn_error *err)
{
	bool rescales, normalises;
	size_t how, unused;
	TRY(config_bool(c, "do_resize", true, &p->resizes, err));
	TRY(config_bool(c, "do_center_crop", clip, &p->crops, err));
	TRY(config_bool(c, "do_rescale", true, &rescales, err));
	TRY(config_bool(c, "do_normalize", true, &normalises, err));
	TRY(config_size(c, "resample", p->how, 0, RESAMPLINGS - 1, &how, err));
	p->how = (enum resampling)how;
	TRY(read_size(c, "size", &p->shortest, &p->width, &p->height, err));
	/* Files from before 2022 give a number, which CLIP takes for the shorter side. */
	if (clip && p->shortest == 0 && !config_has(c, "size.height"))
		p->shortest = p->width;
	p->crop_width = p->crop_height = p->width;
	TRY(read_size(c, "crop_size", &unused, &p->crop_width, &p->crop_height, err));
	TRY(config_number(c, "rescale_factor", 1.0 / 255, 0, 1e6, &p->factor, err));
	TRY(read_colours(c, "image_mean", -1e6, p->mean, err));
	TRY(read_colours(c, "image_std", 1e-6, p->std, err));
	if (!rescales)
		p->factor = 1;
	for (size_t i = 0; i < COLOURS && !normalises; i++) {
		p->mean[i] = 0;
		p->std[i] = 1;
	}
	return ATTN_OK;
}

/* What each family's processor takes for granted. */
static void set_usual(struct preprocessor *p, const struct model *m, bool clip)
{
	static const double clip_mean[] = {0.48145466, 0.4578275, 0.40821073};
	static const double clip_std[] = {0.26862954, 0.26130258, 0.27577711};
	*p = (struct preprocessor){.resizes = true,
				   .crops = clip,
				   .shortest = clip ? m->a.image : 0,
				   .width = m->a.image,
				   .height = m->a.image,
				   .crop_width = m->a.image,
				   .crop_height = m->a.image,
				   .how = clip ? RESAMPLE_BICUBIC : RESAMPLE_BILINEAR,
				   .factor = 1.0 / 255};
	for (size_t i = 0; i < COLOURS; i++) {
		p->mean[i] = clip ? clip_mean[i] : 0.5;
		p->std[i] = clip ? clip_std[i] : 0.5;
	}
}

static enum attn_status check_result(const struct preprocessor *p, const struct model *m, const char *path,
				     struct attn_error *err)
{
	size_t width = p->crops ? p->crop_width : p->width, height = p->crops ? p->crop_height : p->height;
	if (p->shortest > 0 && !p->crops)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' makes pictures of any shape, expected 'do_center_crop'", path);
	if (width == m->a.image && height == m->a.image)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.300s' makes pictures of %zu x %zu, expected %zu x %zu as the model's "
			 "'image_size' says",
			 path, width, height, m->a.image, m->a.image);
}

enum attn_status preprocessor_open(struct preprocessor *p, const struct model *m, struct attn_error *err)
{
	char path[4096];
	struct stat st;
	struct config *c = NULL;
	bool clip = strcmp(m->a.family->title, "CLIP") == 0;
	set_usual(p, m, clip);
	if (m->a.channels != COLOURS)
		return attn_fail(err, ATTN_BAD_INPUT, "the model reads %zu colours, and a picture has %d",
				 m->a.channels, COLOURS);
	int length =
	    snprintf(path, sizeof path, "%s/preprocessor_config.json", checkpoint_path(m->checkpoint));
	if (length >= (int)sizeof path || stat(path, &st) != 0)
		return ATTN_OK;
	TRY(config_open(&c, path, err));
	enum attn_status status = read_steps(p, c, clip, err);
	config_free(c);
	return status == ATTN_OK ? check_result(p, m, path, err) : status;
}

/* The sides of a picture that was resized. */
static void find_sides(const struct preprocessor *p, const struct pixels *picture, size_t *width,
		       size_t *height)
{
	bool upright = picture->width < picture->height;
	size_t least = upright ? picture->width : picture->height;
	size_t longer = p->shortest * (upright ? picture->height : picture->width) / least;
	*width = !p->resizes ? picture->width : p->shortest == 0 ? p->width : upright ? p->shortest : longer;
	*height = !p->resizes        ? picture->height
		  : p->shortest == 0 ? p->height
		  : upright          ? longer
				     : p->shortest;
}

static enum attn_status resize(const struct preprocessor *p, const struct pixels *picture, struct pixels *out,
			       struct attn_error *err)
{
	size_t width, height;
	find_sides(p, picture, &width, &height);
	if (width > 100 * SIDE_MOST || height > 100 * SIDE_MOST)
		return attn_fail(err, ATTN_BAD_INPUT, "a picture of %zu x %zu is too narrow", picture->width,
				 picture->height);
	return pixels_resize(picture, width, height, p->how, out, err);
}

static void to_numbers(const struct preprocessor *p, const struct pixels *picture, float *out)
{
	size_t count = picture->width * picture->height;
	for (size_t c = 0; c < COLOURS; c++)
		for (size_t i = 0; i < count; i++) {
			double value = picture->data[i * COLOURS + c] * p->factor;
			out[c * count + i] = (float)((value - p->mean[c]) / p->std[c]);
		}
}

enum attn_status preprocess(const struct preprocessor *p, const struct pixels *picture, float *out,
			    struct pixels *middle, struct attn_error *err)
{
	struct pixels resized = {0}, cropped = {0};
	enum attn_status status = resize(p, picture, &resized, err);
	if (status == ATTN_OK && p->crops)
		status = pixels_crop(&resized, p->crop_width, p->crop_height, &cropped, err);
	struct pixels *last = p->crops ? &cropped : &resized;
	if (status == ATTN_OK)
		to_numbers(p, last, out);
	if (status == ATTN_OK && middle) {
		*middle = *last;
		*last = (struct pixels){0};
	}
	pixels_release(&resized);
	pixels_release(&cropped);
	return status;
}

/* Where a crop of `size` of a side begins, and how long it is, in a side of the picture before. */
static void find_part(size_t picture, size_t resized, size_t size, size_t *first, size_t *length)
{
	size_t from = resized > size ? (resized - size) / 2 : 0;
	size_t end = resized > size ? from + size : resized;
	*first = from * picture / resized;
	*length = (end * picture + resized - 1) / resized - *first;
}

void preprocessor_seen(const struct preprocessor *p, const struct pixels *picture, size_t *x, size_t *y,
		       size_t *width, size_t *height)
{
	size_t across, down;
	find_sides(p, picture, &across, &down);
	find_part(picture->width, across, p->crops ? p->crop_width : across, x, width);
	find_part(picture->height, down, p->crops ? p->crop_height : down, y, height);
}
