/* From ids to what enters the first layer: words, positions and token types, added up. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "util/memory.h"

/* Tokens that the table of positions has room for. */
static size_t room(const struct model *m)
{
	size_t rows = m->positions ? m->positions->shape[0] : SIZE_MAX;
	size_t skipped =
	    m->a.family->scheme == POSITIONS_AFTER_PADDING ? m->a.padding + 1 : m->a.first_position;
	return rows > skipped ? rows - skipped : 0;
}

/* Patch number `patch` of a picture, row by row, into to[channels side side]. */
static void take_patch(const struct architecture *a, const float *pixels, size_t patch, float *to)
{
	size_t side = a->patch, across = a->image / side;
	size_t top = patch / across * side, left = patch % across * side;
	for (size_t channel = 0; channel < a->channels; channel++)
		for (size_t row = 0; row < side; row++, to += side)
			memcpy(to, pixels + (channel * a->image + top + row) * a->image + left,
			       side * sizeof *to);
}

/* Patches through their matrix, behind the tokens that come first, and the places of all. */
static enum attn_status embed_picture(const struct model *m, const float *pixels, float *out,
				      struct attn_error *err)
{
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	const struct architecture *a = &m->a;
	size_t lead = architecture_lead(a), count = architecture_patches(a), size = m->patches.w.rows;
	float *rows = floats_alloc4(count, size, 1, 1);
	if (!rows)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		take_patch(a, pixels, i, rows + i * size);
	for (size_t i = 0; i < lead; i++)
		memcpy(out + i * a->width, m->lead[i], a->width * sizeof *out);
	enum attn_status status =
	    project_rows(kernels_best(), rows, size, count, &m->patches.w, m->patches.bias, &plain,
			 out + lead * a->width, a->width, "the picture", err);
	free(rows);
	for (size_t i = 0; i < (lead + count) * a->width && status == ATTN_OK; i++)
		out[i] += m->places[i];
	return status;
}

enum attn_status model_check_text(const struct model *m, const struct text_ids *text, struct attn_error *err)
{
	const char *path = checkpoint_path(m->checkpoint);
	if (m->a.family->pictures)
		return ATTN_OK;
	for (size_t i = 0; i < text->count; i++) {
		if (text->ids[i] >= m->words->shape[0])
			return attn_fail(err, ATTN_BAD_INPUT,
					 "token %zu has id %zu, but '%s' of '%s' has rows for ids below %zu",
					 i, text->ids[i], m->words->name, path, m->words->shape[0]);
		if (text->types && m->types && text->types[i] >= m->types->shape[0])
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "token %zu has type %zu, but '%s' of '%s' has rows for types below %zu", i,
			    text->types[i], m->types->name, path, m->types->shape[0]);
	}
	if (text->count > room(m) || text->first > room(m) - text->count)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "the text has %zu tokens, but '%s' has positions for %zu: give a shorter one",
		    text->first + text->count, path, room(m));
	return ATTN_OK;
}

/* Row `row` of a table is added to to[width]. */
static enum attn_status add_row(const struct model_tensor *table, size_t row, size_t width, float *scratch,
				float *to, struct attn_error *err)
{
	TRY(model_tensor_floats(table, row * width, width, scratch, err));
	for (size_t c = 0; c < width; c++)
		to[c] += scratch[c];
	return ATTN_OK;
}

/* What token `position` has added to to[width]: in the one half sines of position / 10000^(j / steps), in
 * the other cosines (Junczys-Dowmunt et al. 2018; Vaswani et al. 2017 have them in turn). */
static void add_sines(size_t position, size_t width, double steps, float *to)
{
	size_t half = width / 2;
	for (size_t j = 0; j < half; j++) {
		double angle = (double)position * pow(10000, -(double)j / steps);
		to[j] += (float)sin(angle);
		to[half + j] += (float)cos(angle);
	}
}

/* The row of a token in the table of positions; *counted tokens were before it. */
static size_t position_row(const struct architecture *a, size_t id, size_t *counted)
{
	if (a->family->scheme != POSITIONS_AFTER_PADDING)
		return a->first_position + (*counted)++;
	return id == a->padding ? id : a->padding + 1 + (*counted)++;
}

enum attn_status model_embed(const struct model *m, const struct text_ids *text, float *out,
			     struct attn_error *err)
{
	size_t width = m->a.embedding_width, counted = text->first;
	if (m->a.family->pictures)
		return embed_picture(m, text->pixels, out, err);
	float *row = floats_alloc(width);
	enum attn_status status = row ? ATTN_OK : attn_fail_memory(err);
	for (size_t i = 0; i < text->count && status == ATTN_OK; i++) {
		float *to = out + i * width;
		memset(to, 0, width * sizeof *to);
		status = add_row(m->words, text->ids[i], width, row, to, err);
		for (size_t c = 0; c < width && m->a.embedding_scale > 0; c++)
			to[c] = (float)((double)to[c] * m->a.embedding_scale);
		if (status == ATTN_OK && m->positions)
			status = add_row(m->positions, position_row(&m->a, text->ids[i], &counted), width,
					 row, to, err);
		if (m->a.family->scheme == POSITIONS_SINES)
			add_sines(m->a.first_position + text->first + i, width, m->a.sine_steps, to);
		if (status == ATTN_OK && m->types)
			status = add_row(m->types, text->types ? text->types[i] : 0, width, row, to, err);
	}
	free(row);
	return status;
}
