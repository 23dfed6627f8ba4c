#include "result/vectors_file.h"

#include "result/result_file.h"

static void add_axis(struct tensor_spec *spec, const char *name, size_t length,
		     const struct string_list *labels)
{
	spec->axes[spec->rank++] = (struct axis){.name = name, .length = length, .labels = labels};
}

static enum attn_status add_tokens(struct vectors_file *file, const struct string_list *tokens,
				   struct attn_error *err)
{
	struct string_list copy = {0};
	for (size_t i = 0; i < tokens->count; i++) {
		if (!string_list_add(&copy, tokens->items[i])) {
			string_list_release(&copy);
			return attn_fail_memory(err);
		}
	}
	return bundle_add_text(&file->labels, "tokens", NULL, &copy, err);
}

/* All but the writer. */
static enum attn_status describe(struct vectors_file *file, const struct subject *subject,
				 const struct plan *plan, enum vectors_of which, const char *path,
				 enum format *format, struct attn_error *err)
{
	static const char *const names[VECTORS_KINDS] = {"q", "k", "v"};
	const struct rows_info *info = subject->whole;
	struct vectors_shape shape = plan_vectors(plan, which);
	const struct string_list *labels = which == VECTORS_Q ? &info->query_labels : &info->key_labels;
	*file = (struct vectors_file){.path = path, .which = which, .plan = plan};
	file->spec = (struct tensor_spec){.name = names[which], .dtype = DTYPE_F32};
	TRY(result_format(path, format, err));
	if (info->has_batch)
		add_axis(&file->spec, "batch", info->shape.batch, NULL);
	add_axis(&file->spec, "head", shape.heads, NULL);
	add_axis(&file->spec, which == VECTORS_Q ? "query" : "key", shape.tokens, labels);
	add_axis(&file->spec, "column", shape.size, NULL);
	return which == VECTORS_Q && info->has_tokens ? add_tokens(file, labels, err) : ATTN_OK;
}

enum attn_status vectors_file_open(struct vectors_file *file, const struct subject *subject,
				   const struct plan *plan, enum vectors_of which, const char *path,
				   enum format format, struct attn_error *err)
{
	enum attn_status status = describe(file, subject, plan, which, path, &format, err);
	if (status == ATTN_OK)
		status = tensor_writer_open(&file->writer, path, format, &file->spec, 1, &file->labels, err);
	if (status != ATTN_OK)
		vectors_file_abort(file);
	return status;
}

enum attn_status vectors_file_size(const struct subject *subject, const struct plan *plan,
				   enum vectors_of which, const char *path, enum format format,
				   uint64_t *size, bool *exact, struct attn_error *err)
{
	struct vectors_file file;
	enum attn_status status = describe(&file, subject, plan, which, path, &format, err);
	if (status == ATTN_OK)
		status = tensor_writer_size(format, &file.spec, 1, &file.labels, size, exact, err);
	vectors_file_abort(&file);
	return status;
}

enum attn_status vectors_file_commit(struct vectors_file *file, const struct row_source *source,
				     struct attn_error *err)
{
	struct vectors_shape shape = plan_vectors(file->plan, file->which);
	enum attn_status status = ATTN_OK;
	for (size_t b = 0; b < file->plan->shape.batch; b++)
		for (size_t i = 0; i < shape.heads && status == ATTN_OK; i++)
			status = tensor_writer_put(file->writer, 0, source_vectors(source, file->which, b, i),
						   shape.tokens * shape.size, err);
	if (status == ATTN_OK) {
		status = tensor_writer_commit(file->writer, err);
		file->writer = NULL;
	}
	vectors_file_abort(file);
	return status;
}

void vectors_file_abort(struct vectors_file *file)
{
	tensor_writer_abort(file->writer);
	bundle_release(&file->labels);
	file->writer = NULL;
}
