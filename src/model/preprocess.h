/* From a picture to what a vision model reads, as the preprocessor_config.json of its folder says. */
#ifndef ATTN_MODEL_PREPROCESS_H
#define ATTN_MODEL_PREPROCESS_H

#include "model/model.h"
#include "model/resample.h"

struct preprocessor {
	bool resizes, crops;
	size_t shortest;      /* the shorter side becomes so long; 0: sides become width and height */
	size_t width, height; /* of what is resized */
	size_t crop_width, crop_height;
	enum resampling how;
	double factor;          /* that 8-bit values are multiplied by */
	double mean[3], std[3]; /* then (value - mean) / std of each colour */
};

/* Of a model that reads pictures; what no file says is as its family has it.  ATTN_BAD_INPUT where what
 * comes out would not be of the model's size. */
enum attn_status preprocessor_open(struct preprocessor *p, const struct model *m, struct attn_error *err);

/* out (3, side, side) of the picture; *middle, unless it is NULL, becomes its pixels before they are
 * numbers, released by the caller. */
enum attn_status preprocess(const struct preprocessor *p, const struct pixels *picture, float *out,
			    struct pixels *middle, struct attn_error *err);

/* The part of a picture that the model sees: all of it, or what a crop leaves. */
void preprocessor_seen(const struct preprocessor *p, const struct pixels *picture, size_t *x, size_t *y,
		       size_t *width, size_t *height);

#endif
