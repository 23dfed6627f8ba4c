/* Scaling as the head size grows: input that is made up, one head of each size. */
#include "cmd/random_numbers.h"
#include "cmd/scaling.h"
#include "util/memory.h"

/* A tensor `role` of one head (1, tokens, size). */
static enum attn_status add_vectors(struct bundle *b, const char *role, uint64_t *seed, size_t tokens,
				    size_t size, struct attn_error *err)
{
	const size_t shape[] = {1, tokens, size};
	struct tensor t;
	float *numbers = floats_alloc4(tokens, size, 1, 1);
	if (!numbers)
		return attn_fail_memory(err);
	random_fill(seed, numbers, tokens * size, 1);
	enum attn_status status = tensor_init(&t, role, "--sizes", DTYPE_F32, 3, shape, err);
	t.data = t.owned = numbers;
	if (status == ATTN_OK)
		return bundle_add_tensor(b, &t, err);
	tensor_release(&t);
	return status;
}

static enum attn_status make_input(struct inputs *in, const struct scaling_sizes *sizes, size_t size,
				   const struct bundle *settings, const struct command *self,
				   struct attn_error *err)
{
	uint64_t seed = RANDOM_SEED;
	for (size_t i = 0; i < settings->setting_count; i++) {
		const struct setting *s = &settings->settings[i];
		TRY(bundle_override(&in->bundle, s->name, s->value, s->origin, err));
	}
	if (!bundle_setting(settings, "num_heads")) /* what the shapes say, said */
		TRY(bundle_override(&in->bundle, "num_heads", "1", NULL, err));
	TRY(add_vectors(&in->bundle, "q", &seed, sizes->tokens, size, err));
	TRY(add_vectors(&in->bundle, "k", &seed, sizes->tokens, size, err));
	return inputs_open_made(in, self, err);
}

enum attn_status scaling_add_sizes(struct scaling *s, const struct scaling_sizes *sizes,
				   const struct bundle *settings, const struct command *self,
				   struct attn_error *err)
{
	static const struct selection all = {0};
	for (size_t i = 0; i < sizes->count; i++) {
		struct inputs in = {0};
		enum attn_status status = make_input(&in, sizes, sizes->sizes[i], settings, self, err);
		if (status == ATTN_OK)
			status = scaling_add(s, &in, &all, self, err);
		inputs_release(&in);
		TRY(status);
	}
	return ATTN_OK;
}
