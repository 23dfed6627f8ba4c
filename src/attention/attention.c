#include "attention/attention.h"

#include "attention/heads.h"

void attention_set_plain(struct attention *a)
{
	a->maps = 1;
	a->key_size = a->head_size;
	a->score = (struct score){
	    .function = &score_scaled_dot,
	    .inner = a->head_size,
	    .scale = score_default_scale(&score_scaled_dot, a->head_size),
	};
	a->normalization = (struct normalization){.normalizer = &normalizer_softmax};
	const struct rows_shape shape = attention_shape(a);
	a->masking = masking_of_all(&shape);
	a->output.context_size = a->has_values ? a->heads * a->value_size : 0;
}

void attention_release(struct attention *a)
{
	masking_release(&a->masking);
	relative_release(&a->relative);
	positions_release(&a->positions);
	*a = (struct attention){0};
}

struct rows_shape attention_shape(const struct attention *a)
{
	return (struct rows_shape){
	    .batch = a->batch,
	    .layers = 1,
	    .heads = a->heads,
	    .queries = a->queries,
	    .keys = attention_keys(a),
	    .past_keys = a->keys.past,
	    .appended_keys = (size_t)a->keys.bias + a->keys.zero,
	    .cross = a->cross,
	    .signed_weights = is_differential(a),
	};
}
