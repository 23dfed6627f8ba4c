/* How far the outputs of A and B are apart: computed from contexts, or held by files. */
#include <stdlib.h>

#include "cmd/compare_sides.h"
#include "util/checked.h"
#include "util/memory.h"

/* An output (rows, *size), computed from a context or read. */
static enum attn_status find_output(const struct sides *s, const struct side *side, const float *context,
				    float **output, size_t *size, struct attn_error *err)
{
	const struct rows_shape *shape = &s->in.rows.info.shape;
	size_t rows = shape->layers * shape->batch * shape->queries, count;
	struct tensor *held = NULL;
	*size = subject_output_size(&side->in.subject);
	if (!context)
		TRY(arrays_output(&side->in.bundle, shape, &held, size, err));
	*output = size_mul(rows, *size, &count) ? floats_alloc(count) : NULL;
	if (!*output)
		return attn_fail_memory(err);
	if (!context)
		return tensor_to_f32(held, *output, err);
	const struct kernels *before = kernels_swap(side->kernels);
	enum attn_status status = output_layer_project(side->in.subject.output, context, rows, *output, err);
	kernels_swap(before);
	return status;
}

enum attn_status sides_outputs(struct sides *s, const float *const contexts[2],
			       const struct tolerance *tolerance, struct difference *differences,
			       struct attn_error *err)
{
	const struct rows_shape *shape = &s->in.rows.info.shape;
	const struct side *const sides[] = {&s->a, &s->b};
	float *outputs[2] = {NULL, NULL};
	size_t sizes[2] = {0, 0};
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < 2 && status == ATTN_OK; i++)
		status = find_output(s, sides[i], contexts[i], &outputs[i], &sizes[i], err);
	if (status == ATTN_OK && sizes[0] != sizes[1])
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "an output has %zu numbers in A and %zu in B, expected the same", sizes[0],
				   sizes[1]);
	for (size_t row = 0; status == ATTN_OK && row < shape->layers * shape->batch * shape->queries;
	     row++) {
		size_t item = row / shape->queries;
		if (rows_chosen(s->rows.batch, item % shape->batch))
			difference_add_row(&differences[item * shape->heads], tolerance, row % shape->queries,
					   outputs[0] + row * sizes[0], outputs[1] + row * sizes[0],
					   sizes[0]);
	}
	free(outputs[0]);
	free(outputs[1]);
	return status;
}
