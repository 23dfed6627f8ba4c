#include "result/result_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/given.h"
#include "util/buffer.h"

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct result_file *file = (struct result_file *)consumer;
	const float *rows = file->parts.weights ? block->weights : block->scores[file->parts.stage];
	return tensor_writer_put(file->writer, 0, rows, block->count * block->keys, err);
}

static bool done(struct row_consumer *consumer)
{
	return tensor_writer_abandoned(((struct result_file *)consumer)->writer);
}

static void add_axis(struct tensor_spec *spec, const char *name, size_t length, size_t first,
		     const struct string_list *labels)
{
	spec->axes[spec->rank++] =
	    (struct axis){.name = name, .length = length, .first = first, .labels = labels};
}

static void add_layer_axis(struct tensor_spec *spec, const struct rows_info *info)
{
	if (!info->has_layers)
		return;
	add_axis(spec, "layer", info->shape.layers, info->first_layer, NULL);
	spec->axes[spec->rank - 1].numbers = info->layer_numbers;
}

/* weights or scores, (H, N, M) with layers and batch items in front as the input has them. */
static void add_rows_spec(struct result_file *file, const char *name, const char *value_name)
{
	const struct rows_info *info = file->subject->info;
	struct tensor_spec *spec = &file->specs[file->spec_count++];
	*spec = (struct tensor_spec){.name = name, .value_name = value_name, .dtype = DTYPE_F32};
	add_layer_axis(spec, info);
	if (info->has_batch)
		add_axis(spec, "batch", info->shape.batch, 0, NULL);
	add_axis(spec, "head", info->shape.heads, 0, NULL);
	spec->axes[spec->rank - 1].numbers = info->head_numbers;
	spec->axes[spec->rank - 1].text = info->joined_heads;
	add_axis(spec, "query", info->shape.queries, 0, &info->query_labels);
	add_axis(spec, "key", info->shape.keys, 0, &info->key_labels);
}

/* How many layers a context is of: those that are shown. */
static size_t context_layers(const struct subject *subject)
{
	return subject->info->has_layers ? subject->info->shape.layers : 1;
}

/* context or output, (N, columns) or with layers and batch items in front. */
static void add_columns_spec(struct result_file *file, const char *name, size_t columns)
{
	const struct rows_info *info = file->subject->whole;
	struct tensor_spec *spec = &file->specs[file->spec_count++];
	*spec = (struct tensor_spec){.name = name, .value_name = name, .dtype = DTYPE_F32};
	add_layer_axis(spec, file->subject->info);
	if (info->has_batch)
		add_axis(spec, "batch", info->shape.batch, 0, NULL);
	add_axis(spec, "query", info->shape.queries, 0, &info->query_labels);
	add_axis(spec, "column", columns, 0, NULL);
}

void masking_specs(const struct masking *v, struct tensor_spec *specs, size_t *count)
{
	static const char *const names[4] = {"batch", "head", "query", "key"};
	if (v->mask) {
		struct tensor_spec *spec = &specs[(*count)++];
		*spec = (struct tensor_spec){.name = "mask", .dtype = DTYPE_BOOL};
		for (int axis = 0; axis < 4; axis++)
			add_axis(spec, names[axis], v->mask_shape[axis], 0, NULL);
	}
	if (v->padding) {
		struct tensor_spec *spec = &specs[(*count)++];
		*spec = (struct tensor_spec){.name = "key_padding", .dtype = DTYPE_BOOL};
		add_axis(spec, "batch", v->padding_batch, 0, NULL);
		add_axis(spec, "key", v->plain_keys, 0, NULL);
	}
	if (v->lengths) {
		struct tensor_spec *spec = &specs[(*count)++];
		*spec = (struct tensor_spec){.name = "kv_lengths", .dtype = DTYPE_I64};
		add_axis(spec, "batch", v->batch, 0, NULL);
	}
	if (v->query_segments) {
		for (int side = 0; side < 2; side++) {
			struct tensor_spec *spec = &specs[(*count)++];
			*spec = (struct tensor_spec){.name = side ? "source_segments" : "segments",
						     .dtype = DTYPE_I64};
			add_axis(spec, "batch", side ? v->key_segment_batch : v->query_segment_batch, 0,
				 NULL);
			add_axis(spec, side ? "key" : "query", side ? v->plain_keys : v->queries, 0, NULL);
		}
	}
}

enum attn_status masking_put(struct tensor_writer *writer, size_t index, const struct masking *v,
			     struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (v->mask)
		status = tensor_writer_put(
		    writer, index++, v->mask,
		    v->mask_shape[0] * v->mask_shape[1] * v->mask_shape[2] * v->mask_shape[3], err);
	if (v->padding && status == ATTN_OK)
		status =
		    tensor_writer_put(writer, index++, v->padding, v->padding_batch * v->plain_keys, err);
	for (size_t i = 0; v->lengths && i < v->batch && status == ATTN_OK; i++) {
		int64_t length = (int64_t)v->lengths[i];
		status = tensor_writer_put(writer, index, &length, 1, err);
	}
	index += v->lengths != NULL;
	if (v->query_segments && status == ATTN_OK)
		status = tensor_writer_put(writer, index++, v->query_segments,
					   v->query_segment_batch * v->queries, err);
	if (v->query_segments && status == ATTN_OK)
		status = tensor_writer_put(writer, index, v->key_segments,
					   v->key_segment_batch * v->plain_keys, err);
	return status;
}

static enum attn_status copy_text(struct bundle *labels, const char *name, const struct string_list *list,
				  size_t first, size_t count, struct attn_error *err)
{
	struct string_list copy = {0};
	for (size_t i = 0; i < count; i++) {
		if (!string_list_add(&copy, list->items[first + i])) {
			string_list_release(&copy);
			return attn_fail_memory(err);
		}
	}
	return bundle_add_text(labels, name, NULL, &copy, err);
}

/* The names of heads.  Those of chosen ones say their numbers, unless they have others, and
 * joined ones what they are. */
static enum attn_status add_head_names(struct bundle *labels, const struct rows_info *info,
				       struct attn_error *err)
{
	struct string_list names = {0};
	struct buffer name = BUFFER_INIT;
	bool ok = true;
	if (!info->head_names.count && !info->head_numbers && !info->joined_heads && !info->joined_layers)
		return ATTN_OK;
	for (size_t i = 0; i < info->shape.heads && ok; i++) {
		buffer_clear(&name);
		if (info->joined_heads)
			buffer_add_string(&name, info->joined_heads);
		else if (info->head_names.count)
			buffer_add_string(&name, info->head_names.items[i]);
		else
			buffer_printf(&name, "head %zu", head_number(info, i));
		if (info->joined_layers)
			buffer_printf(&name, ", %s", info->joined_layers);
		ok = !name.failed && string_list_add(&names, name.data);
	}
	buffer_release(&name);
	if (ok)
		return bundle_add_text(labels, "head_names", NULL, &names, err);
	string_list_release(&names);
	return attn_fail_memory(err);
}

/* Tokens and head names.  The keys get labels of their own in cross-attention, always, so
 * that a stored result cannot be taken for self-attention, and in a view of some. */
static enum attn_status add_texts(struct bundle *labels, const struct subject *subject,
				  struct attn_error *err)
{
	const struct rows_info *info = subject->info;
	bool kept = subject_keeps_masking(subject);
	bool some = !kept && (info->key_numbers || info->shape.keys != info->shape.queries);
	size_t keys = kept ? subject->masking->plain_keys : info->shape.keys;
	if (info->has_tokens || some)
		TRY(copy_text(labels, "tokens", &info->query_labels, 0, info->shape.queries, err));
	if (info->shape.cross || some)
		TRY(copy_text(labels, "source_tokens", &info->key_labels, 0, keys, err));
	return add_head_names(labels, info, err);
}

static enum attn_status add_number(struct bundle *labels, const char *name, size_t number,
				   struct attn_error *err)
{
	char text[32];
	snprintf(text, sizeof text, "%zu", number);
	return bundle_override(labels, name, text, NULL, err);
}

/* The lambdas of differential attention, whose weights may be negative: also where they
 * came as a tensor. */
static enum attn_status add_lambda(struct bundle *labels, const struct subject *subject,
				   struct attn_error *err)
{
	struct buffer text = {0};
	float *lambda;
	size_t count = 0;
	TRY(subject_lambda(subject, &lambda, &count, err));
	for (size_t h = 0; h < count; h++) {
		if (h > 0)
			buffer_add_char(&text, ',');
		buffer_add_float(&text, lambda[h]);
	}
	free(lambda);
	enum attn_status status = ATTN_OK;
	if (text.failed)
		status = attn_fail_memory(err);
	else if (count > 0)
		status = bundle_override(labels, "lambda", text.data, NULL, err);
	buffer_release(&text);
	return status;
}

/* What is no role's but tells how rows came to be. */
static bool tells(const char *name)
{
	return strcmp(name, "_without_heads") == 0 || strcmp(name, "_generated") == 0;
}

/* Whether a result says what its input said.  What is about the form of the input's tensors it
 * does not, and a view may have keys of its own, or other layers. */
static bool is_kept(const struct setting *s, const struct subject *subject)
{
	unsigned about = roles[s->role].about;
	bool of_keys = about & (ABOUT_MASKING | ABOUT_KEYS);
	bool of_layer =
	    s->role == ROLE_LAYER && (subject->info->layer_numbers || subject->info->joined_layers);
	return s->role == ROLE_NONE
		   ? tells(s->name)
		   : !(about & ABOUT_FORM) && !of_layer && !(of_keys && !subject_keeps_masking(subject));
}

/* What the keys of a computed row are, beside own ones. */
static enum attn_status add_keys(struct bundle *labels, const struct key_counts *keys, struct attn_error *err)
{
	if (keys->past)
		TRY(add_number(labels, "past_keys", keys->past, err));
	if (keys->bias || keys->zero)
		TRY(bundle_override(labels, "appended_keys",
				    keys->bias && keys->zero ? "bias,zero"
				    : keys->bias             ? "bias"
							     : "zero",
				    NULL, err));
	return ATTN_OK;
}

/* The input's settings, and what a result needs to be read back. */
static enum attn_status add_settings(struct bundle *labels, const struct subject *subject,
				     struct attn_error *err)
{
	const struct rows_info *info = subject->info;
	const struct attention *a = subject->attention;
	for (size_t i = 0; i < subject->settings->setting_count; i++) {
		const struct setting *s = &subject->settings->settings[i];
		if (is_kept(s, subject))
			TRY(bundle_override(labels, s->name, s->value, NULL, err));
	}
	TRY(add_number(labels, "num_heads", subject->whole->shape.heads, err));
	if (info->layer_numbers)
		TRY(add_number(labels, "layer", info->layer_numbers[0], err));
	if (a)
		TRY(add_number(labels, "num_kv_heads", a->kv_heads, err));
	if ((a && a->lambda) || (!a && given_tensor(subject->settings, ROLE_LAMBDA)))
		TRY(add_lambda(labels, subject, err));
	if (a && subject_keeps_masking(subject))
		TRY(add_keys(labels, &a->keys, err));
	if (info->has_layers || info->has_batch)
		TRY(bundle_override(labels, "axes",
				    info->has_layers && info->has_batch ? "layer,batch"
				    : info->has_batch                   ? "batch"
									: "layer",
				    NULL, err));
	return bundle_override(labels, "version", ATTN_VERSION, NULL, err);
}

static int by_name(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	return strcmp(x->name, y->name);
}

enum attn_status result_labels(struct bundle *labels, const struct subject *subject, struct attn_error *err)
{
	enum attn_status status = add_texts(labels, subject, err);
	if (status == ATTN_OK)
		status = add_settings(labels, subject, err);
	if (status == ATTN_OK) /* whatever order they were given in */
		qsort(labels->settings, labels->setting_count, sizeof *labels->settings, by_name);
	return status;
}

enum attn_status result_format(const char *path, enum format *format, struct attn_error *err)
{
	enum format ending = format_of_name(path);
	if (ending != FORMAT_UNKNOWN)
		*format = ending;
	else if (*format == FORMAT_UNKNOWN && strcmp(path, "-") == 0)
		*format = FORMAT_NPY;
	if (*format == FORMAT_UNKNOWN || *format == FORMAT_JSONL)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' has no known ending, expected .safetensors, .npy, .npz, .json or .tsv, or "
		    "--format",
		    path);
	return ATTN_OK;
}

/* All but the writer. */
static enum attn_status describe(struct result_file *file, const struct subject *subject, const char *path,
				 enum format *chosen, struct result_parts parts, struct attn_error *err)
{
	*file = (struct result_file){
	    .consumer = {.consume = consume, .done = done}, .path = path, .parts = parts, .subject = subject};
	TRY(result_format(path, chosen, err));
	enum format format = *chosen;
	if (parts.weights)
		add_rows_spec(file, "weights", "weight");
	if (parts.scores)
		add_rows_spec(file, "scores", "score");
	if (parts.context)
		add_columns_spec(file, "context", subject->output->context_size);
	if (parts.output)
		add_columns_spec(file, "output", subject_output_size(subject));
	if (parts.weights && subject_keeps_masking(subject) &&
	    (format == FORMAT_SAFETENSORS || format == FORMAT_JSON))
		masking_specs(subject->masking, file->specs, &file->spec_count);
	/* An npz has no settings, but weights that may be negative must be known for such. */
	if (parts.weights && format == FORMAT_NPZ)
		TRY(subject_lambda(subject, &file->lambda, &file->lambda_count, err));
	if (file->lambda) {
		struct tensor_spec *spec = &file->specs[file->spec_count++];
		*spec = (struct tensor_spec){.name = "lambda", .dtype = DTYPE_F32};
		add_axis(spec, "head", file->lambda_count, 0, NULL);
	}
	return result_labels(&file->labels, subject, err);
}

enum attn_status result_size(const struct subject *subject, const char *path, enum format format,
			     struct result_parts parts, uint64_t *size, bool *exact, struct attn_error *err)
{
	struct result_file file;
	enum attn_status status = describe(&file, subject, path, &format, parts, err);
	if (status == ATTN_OK)
		status =
		    tensor_writer_size(format, file.specs, file.spec_count, &file.labels, size, exact, err);
	result_abort(&file);
	return status;
}

enum attn_status result_open(struct result_file *file, const struct subject *subject, const char *path,
			     enum format format, struct result_parts parts, struct attn_error *err)
{
	enum attn_status status = describe(file, subject, path, &format, parts, err);
	if (status == ATTN_OK)
		status = tensor_writer_open(&file->writer, path, format, file->specs, file->spec_count,
					    &file->labels, err);
	if (status != ATTN_OK)
		result_abort(file);
	return status;
}

enum attn_status result_commit(struct result_file *file, const float *context, const float *output,
			       struct attn_error *err)
{
	const struct subject *subject = file->subject;
	size_t rows = context_layers(subject) * subject->whole->shape.batch * subject->whole->shape.queries,
	       index = file->parts.weights || file->parts.scores;
	enum attn_status status = ATTN_OK;
	if (file->parts.context)
		status = tensor_writer_put(file->writer, index++, context,
					   rows * subject->output->context_size, err);
	if (file->parts.output && status == ATTN_OK)
		status = tensor_writer_put(file->writer, index++, output, rows * subject_output_size(subject),
					   err);
	if (file->lambda && status == ATTN_OK)
		status = tensor_writer_put(file->writer, index, file->lambda, file->lambda_count, err);
	else if (index < file->spec_count && status == ATTN_OK)
		status = masking_put(file->writer, index, file->subject->masking, err);
	if (status == ATTN_OK) {
		status = tensor_writer_commit(file->writer, err);
		file->writer = NULL;
	}
	result_abort(file);
	return status;
}

void result_abort(struct result_file *file)
{
	tensor_writer_abort(file->writer);
	bundle_release(&file->labels);
	free(file->lambda);
	file->lambda = NULL;
	file->writer = NULL;
}
