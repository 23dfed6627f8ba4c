/* The lambdas of differential attention, wherever they are. */
#include <stdlib.h>

#include "input/given.h"
#include "result/subject.h"
#include "util/memory.h"

/* "0.5,0.25" as `count` numbers. */
static void read_numbers(const char *text, float *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *end;
		to[i] = strtof(text, &end);
		text = *end ? end + 1 : end;
	}
}

static size_t count_numbers(const char *text)
{
	size_t count = 1;
	for (; *text; text++)
		count += *text == ',';
	return count;
}

enum attn_status subject_lambda(const struct subject *subject, float **out, size_t *count,
				struct attn_error *err)
{
	const struct attention *a = subject->attention;
	struct tensor *t = a ? NULL : use_tensor(subject->settings, ROLE_LAMBDA);
	const struct setting *s = a ? NULL : use_setting(subject->settings, ROLE_LAMBDA);
	*out = NULL;
	if (a ? !a->lambda : !t && !s)
		return ATTN_OK;
	if (t)
		TRY(tensor_load(t, err));
	*count = a ? a->heads : t ? t->count : count_numbers(s->value);
	*out = array_alloc(*count, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < *count && (a || t); i++)
		(*out)[i] = a ? a->lambda[i] : (float)tensor_get(t, i);
	if (!a && !t)
		read_numbers(s->value, *out, *count);
	return ATTN_OK;
}
