/* How long the values are that a head's output adds up: |v_j W_O|, W_O the head's rows of the output layer
 * (Kobayashi et al. 2020, equation 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "util/memory.h"

/* The head's rows of wo, (e, columns), whatever they are stored as: the output of unit contexts. */
static enum attn_status output_rows(const struct attention *a, size_t head, float *rows,
				    struct attn_error *err)
{
	size_t e = a->value_size, width = a->heads * e;
	struct output_layer layer = a->output;
	float *unit = floats_alloc4(e, width, 1, 1);
	layer.bo = NULL;
	if (!unit)
		return attn_fail_memory(err);
	memset(unit, 0, e * width * sizeof *unit);
	for (size_t i = 0; i < e; i++)
		unit[i * width + head * e + i] = 1;
	enum attn_status status = output_layer_project(&layer, unit, e, rows, err);
	free(unit);
	return status;
}

/* gram (e, e) = W_O W_O^T, so that |v W_O|^2 = v gram v^T. */
static enum attn_status find_gram(const struct attention *a, size_t head, double *gram,
				  struct attn_error *err)
{
	size_t e = a->value_size, columns = a->output.wo.cols;
	float *rows = floats_alloc4(e, columns, 1, 1);
	if (!rows)
		return attn_fail_memory(err);
	enum attn_status status = output_rows(a, head, rows, err);
	for (size_t i = 0; i < e && status == ATTN_OK; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = 0;
			for (size_t c = 0; c < columns; c++)
				sum += (double)rows[i * columns + c] * (double)rows[j * columns + c];
			gram[i * e + j] = gram[j * e + i] = sum;
		}
	free(rows);
	return status;
}

static double length_of(const float *v, const double *gram, size_t e)
{
	double sum = 0;
	for (size_t i = 0; i < e; i++) {
		double row = gram ? 0 : (double)v[i];
		for (size_t j = 0; j < e && gram; j++)
			row += gram[i * e + j] * (double)v[j];
		sum += (double)v[i] * row;
	}
	return sqrt(fmax(sum, 0));
}

enum attn_status engine_value_norms(struct row_source *source, size_t batch, size_t head, float *norms,
				    struct attn_error *err)
{
	const struct engine *engine = (const struct engine *)source;
	const struct attention *a = engine->attention;
	const struct head_set *set = engine->prepared[VECTORS_V].set;
	size_t e = a->value_size, slot = set->slots[head / (a->heads / a->kv_heads)];
	const float *values = source_vectors(source, VECTORS_V, batch, slot);
	double *gram = NULL;
	enum attn_status status = ATTN_OK;
	if (a->output.wo.data) {
		gram = array_alloc(e * e, sizeof *gram);
		status = gram ? find_gram(a, head, gram, err) : attn_fail_memory(err);
	}
	for (size_t j = 0; j < engine->keys && status == ATTN_OK; j++)
		norms[j] = (float)length_of(values + j * e, gram, e);
	free(gram);
	return status;
}
