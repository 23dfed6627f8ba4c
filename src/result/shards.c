#include "result/shards.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "result/stored.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/threads.h"

/* Rows [first, first + count) of the run, in one file. */
struct piece {
	const struct tensor *weights, *context; /* or NULL */
	size_t first, count;
};

struct parts {
	struct row_source source; /* first: a source is cast to its parts */
	struct masking masking;
	struct output_layer output;
	struct float_pool floats; /* of the output layer */
	struct rows_want want;
	size_t value_size;
	struct piece *pieces;
	size_t count;
	size_t workers;
	unsigned char **cells; /* a worker's (ROWS_BLOCK, keys) */
};

/* --- what a part says about itself ------------------------------------------ */

enum {
	SIZES = 7
};

static void part_sizes(struct part *part, size_t *sizes[SIZES])
{
	size_t *const all[SIZES] = {&part->layers, &part->batch,      &part->heads,      &part->queries,
				    &part->keys,   &part->value_size, &part->output_size};
	memcpy(sizes, all, sizeof all);
}

enum attn_status shard_describe(const struct part *part, struct bundle *to, struct attn_error *err)
{
	struct part copy = *part;
	size_t *sizes[SIZES];
	char text[200];
	int length = 0;
	snprintf(text, sizeof text, "%zu/%zu", part->number, part->count);
	enum attn_status status = bundle_override(to, "attn_part", text, NULL, err);
	snprintf(text, sizeof text, "%016" PRIx64, part->run);
	if (status == ATTN_OK)
		status = bundle_override(to, "attn_run", text, NULL, err);
	part_sizes(&copy, sizes);
	for (int i = 0; i < SIZES; i++)
		length +=
		    snprintf(text + length, sizeof text - (size_t)length, "%s%zu", i ? "," : "", *sizes[i]);
	if (status == ATTN_OK)
		status = bundle_override(to, "attn_sizes", text, NULL, err);
	if (status == ATTN_OK)
		status = bundle_override(to, "attn_tokens", part->has_tokens ? "true" : "false", NULL, err);
	if (status == ATTN_OK)
		status = bundle_override(to, "attn_kernel", part->kernel, NULL, err);
	return status;
}

static const char *setting_text(const struct bundle *b, const char *name)
{
	const struct setting *s = bundle_setting(b, name);
	return s ? s->value : "";
}

/* Numbers with `separator` between them, and nothing else. */
static bool parse_counts(const char *text, char separator, size_t **out, size_t count)
{
	char copy[200], *rest = copy;
	const char separators[2] = {separator, '\0'};
	if (strlen(text) >= sizeof copy)
		return false;
	memcpy(copy, text, strlen(text) + 1);
	for (size_t i = 0; i < count; i++) {
		const char *item = strsep(&rest, separators);
		if (!item || !parse_count(item, out[i]))
			return false;
	}
	return rest == NULL;
}

static bool part_read(const struct bundle *b, struct part *part)
{
	size_t *which[2] = {&part->number, &part->count}, *sizes[SIZES];
	const char *run = setting_text(b, "attn_run");
	char *end;
	*part = (struct part){0};
	part_sizes(part, sizes);
	part->run = strtoull(run, &end, 16);
	part->kernel = setting_text(b, "attn_kernel");
	return parse_counts(setting_text(b, "attn_part"), '/', which, 2) && part->number >= 1 &&
	       part->number <= part->count && part->count <= PARTS_MAX && *run && *end == '\0' &&
	       parse_counts(setting_text(b, "attn_sizes"), ',', sizes, SIZES) && part->layers > 0 &&
	       part->batch > 0 && part->heads > 0 && part->queries > 0 && part->keys > 0 &&
	       (part->value_size > 0 || part->output_size == 0) &&
	       parse_bool(setting_text(b, "attn_tokens"), &part->has_tokens);
}

void shard_range(const struct part *part, size_t blocks, size_t *first, size_t *last)
{
	/* blocks * number / count, without its overflow */
	size_t whole = blocks / part->count, rest = blocks % part->count;
	*first = whole * (part->number - 1) + rest * (part->number - 1) / part->count;
	*last = whole * part->number + rest * part->number / part->count;
}

bool bundle_is_shard(const struct bundle *b)
{
	return bundle_setting(b, "attn_part") != NULL;
}

/* The file of a part: all that is in it came from there. */
static const char *part_name(const struct bundle *b)
{
	return origin_name(bundle_setting(b, "attn_part")->origin);
}

/* --- all of them ------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	struct part x, y;
	part_read(a, &x);
	part_read(b, &y);
	return (x.number > y.number) - (x.number < y.number);
}

static enum attn_status check_part(const struct bundle *b, const struct bundle *first, const char *version,
				   struct attn_error *err)
{
	struct part part, model;
	if (strcmp(setting_text(b, roles[ROLE_VERSION].name), version) != 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is of version '%s', expected '%s', as this program", part_name(b),
				 setting_text(b, roles[ROLE_VERSION].name), version);
	if (!part_read(b, &part))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' has damaged settings, expected what 'attn run --shard' writes",
				 part_name(b));
	part_read(first, &model);
	if (part.count != model.count)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is one of %zu parts and '%s' one of %zu, expected parts of one run",
				 part_name(first), model.count, part_name(b), part.count);
	model.number = part.number;
	model.kernel = part.kernel;
	if (part.run != model.run || part.layers != model.layers || part.batch != model.batch ||
	    part.heads != model.heads || part.queries != model.queries || part.keys != model.keys ||
	    part.value_size != model.value_size || part.output_size != model.output_size ||
	    part.has_tokens != model.has_tokens)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is a part of another run than '%s'", part_name(b),
				 part_name(first));
	return ATTN_OK;
}

/* Sorted parts: each number once. */
static enum attn_status check_numbers(const struct bundle *parts, size_t count, struct attn_error *err)
{
	struct part part, before = {0};
	size_t missing = 0;
	for (size_t i = 0; i <= count; i++) {
		if (i < count)
			part_read(&parts[i], &part);
		else
			part.number = part.count + 1; /* what should come after the last */
		if (i > 0 && part.number == before.number)
			return attn_fail(err, ATTN_BAD_INPUT, "'%s' and '%s' are the same part, %zu of %zu",
					 part_name(&parts[i - 1]), part_name(&parts[i]), part.number,
					 part.count);
		if (!missing && part.number > before.number + 1)
			missing = before.number + 1;
		before = part;
	}
	if (!missing)
		return ATTN_OK;
	size_t more = part.count - count - 1;
	if (more == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "part %zu of %zu is missing", missing, part.count);
	return attn_fail(err, ATTN_BAD_INPUT, "part %zu of %zu is missing, and %zu more", missing, part.count,
			 more);
}

static enum attn_status check_all(struct bundle *parts, size_t count, const char *version,
				  struct string_list *notes, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	char note[400];
	struct part part, first;
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		status = check_part(&parts[i], &parts[0], version, err);
	if (status != ATTN_OK)
		return status;
	qsort(parts, count, sizeof *parts, by_number);
	status = check_numbers(parts, count, err);
	part_read(&parts[0], &first);
	for (size_t i = 1; i < count && status == ATTN_OK; i++) {
		part_read(&parts[i], &part);
		if (strcmp(part.kernel, first.kernel) == 0)
			continue;
		snprintf(
		    note, sizeof note,
		    "'%s' was computed by kernel '%.40s' and '%s' by '%.40s', which may differ in the last "
		    "digit",
		    part_name(&parts[0]), first.kernel, part_name(&parts[i]), part.kernel);
		return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
	}
	return status;
}

/* --- as a source -------------------------------------------------------------- */

static void parts_free(struct row_source *source)
{
	struct parts *s = (struct parts *)source;
	float_pool_release(&s->floats);
	masking_release(&s->masking);
	for (size_t i = 0; i < s->workers && s->cells; i++)
		free(s->cells[i]);
	free(s->cells);
	free(s->pieces);
	free(s);
}

static const struct piece *find_piece(const struct parts *s, size_t row)
{
	size_t low = 0, high = s->count; /* the last piece that begins at row or before: not an empty one */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (s->pieces[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return &s->pieces[low];
}

static enum attn_status read_weights(const struct parts *s, const struct piece *piece, size_t first,
				     unsigned char *cells, struct row_block *block, struct attn_error *err)
{
	block->weights = (const float *)piece->weights->data + first * block->keys;
	block->cells = cells;
	for (size_t r = 0; r < block->count; r++)
		masking_row(&s->masking, block->batch, block->head, block->query + r,
			    cells + r * block->keys);
	return stored_check(piece->weights, &s->source.shape, first * block->keys, block, cells, err);
}

/* Rows in which nothing is cells, without weights. */
static size_t count_masked(const struct parts *s, const struct row_block *block, unsigned char *cells)
{
	const struct masking *v = &s->masking;
	size_t masked = 0, first, end;
	for (size_t r = 0; r < block->count; r++) {
		if (masking_is_interval(v)) {
			masking_interval(v, block->batch, block->query + r, &first, &end);
			masked += first == end;
			continue;
		}
		masking_row(v, block->batch, block->head, block->query + r, cells);
		masked += memchr(cells, 1, block->keys) == NULL;
	}
	return masked;
}

static enum attn_status read_context(const struct parts *s, const struct piece *piece, size_t first,
				     struct row_block *block, struct attn_error *err)
{
	const struct tensor *t = piece->context;
	block->context = (const float *)t->data + first * s->value_size;
	block->context_stride = s->value_size;
	for (size_t i = 0; i < block->count * s->value_size; i++) {
		char place[300];
		if (!isfinite(block->context[i]))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected a finite number",
					 origin_name(t->origin),
					 tensor_index_text(t, first * s->value_size + i, place, sizeof place),
					 (double)block->context[i]);
	}
	return ATTN_OK;
}

static enum attn_status parts_read(struct row_source *source, size_t worker, struct row_block *block,
				   struct attn_error *err)
{
	struct parts *s = (struct parts *)source;
	size_t row = rows_number(&s->source.shape, block->layer, block->batch, block->head, block->query);
	const struct piece *piece = find_piece(s, row);
	enum attn_status status = ATTN_OK;
	block->weights = block->context = NULL;
	block->cells = NULL;
	if (s->want.weights)
		status = read_weights(s, piece, row - piece->first, s->cells[worker], block, err);
	else
		block->masked = count_masked(s, block, s->cells[worker]);
	if (s->want.context && status == ATTN_OK)
		status = read_context(s, piece, row - piece->first, block, err);
	return status;
}

/* A part's `weights` or `context`, (rows, cols) float32: NULL where it has none. */
static enum attn_status find_tensor(const struct bundle *b, enum role_id role, size_t rows, size_t cols,
				    const struct tensor **out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	char found[200];
	*out = t;
	enum attn_status status = t ? tensor_load(t, err) : ATTN_OK;
	if (status != ATTN_OK || !t)
		return status;
	if (t->dtype != DTYPE_F32 || t->rank != 2 || t->shape[0] != rows || t->shape[1] != cols)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %s of %s, expected %zu x %zu of float32",
				 part_name(b), t->name,
				 tensor_shape_text(t->rank, t->shape, found, sizeof found),
				 dtype_name(t->dtype), rows, cols);
	if ((uintptr_t)t->data % _Alignof(float) != 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': '%s' is not aligned, expected it as 'attn run --shard' writes it",
				 part_name(b), t->name);
	return ATTN_OK;
}

static enum attn_status fail_lacking(const struct bundle *b, const char *name, struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' holds no %s, expected it: give 'attn run --shard' the outputs that the parts "
			 "shall make, or none",
			 part_name(b), name);
}

static enum attn_status bind_piece(struct parts *s, const struct bundle *b, size_t blocks,
				   struct piece *piece, struct attn_error *err)
{
	struct part part;
	size_t first, last;
	part_read(b, &part);
	shard_range(&part, blocks, &first, &last);
	piece->first = rows_before_block(&s->source.shape, first);
	piece->count = rows_before_block(&s->source.shape, last) - piece->first;
	if (piece->count == 0)
		return ATTN_OK;
	enum attn_status status = find_tensor(b, ROLE_WEIGHTS, piece->count, part.keys, &piece->weights, err);
	if (status == ATTN_OK && part.value_size > 0)
		status = find_tensor(b, ROLE_CONTEXT, piece->count, part.value_size, &piece->context, err);
	if (status != ATTN_OK)
		return status;
	if (!piece->weights && (s->want.weights || !piece->context))
		return fail_lacking(b, "weights", err);
	if (!piece->context && s->want.context)
		return fail_lacking(b, "context", err);
	return ATTN_OK;
}

/* Sizes, and each part's rows: the files are as large as they say. */
static enum attn_status bind_pieces(struct parts *s, const struct bundle *parts, const struct part *part,
				    struct attn_error *err)
{
	size_t blocks, rows;
	s->source.shape.layers = part->layers;
	s->source.shape.batch = part->batch;
	s->source.shape.heads = part->heads;
	s->source.shape.queries = part->queries;
	s->source.shape.keys = part->keys;
	if (!rows_block_count(&s->source.shape, &blocks) || !size_mul(blocks, ROWS_BLOCK, &rows))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has damaged settings: too many rows",
				 part_name(parts));
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < s->count && status == ATTN_OK; i++)
		status = bind_piece(s, &parts[i], blocks, &s->pieces[i], err);
	return status;
}

/* Nothing but weights in the file shows that there are as many keys as it says, and each
 * gets a label: own keys are tokens or queries, which are counted. */
static enum attn_status check_past(const struct parts *s, const struct bundle *b,
				   const struct key_counts *keys, struct attn_error *err)
{
	if (s->pieces[0].weights || keys->past <= PARTS_MAX_PAST)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' has %zu past keys and no weights, expected at most %d of them", part_name(b),
			 keys->past, PARTS_MAX_PAST);
}

/* Labels and masks, which the first part has. */
static enum attn_status bind_names(struct parts *s, struct rows_info *info, const struct bundle *b,
				   const struct part *part, struct string_list *notes, struct attn_error *err)
{
	struct key_counts keys;
	bool set;
	info->shape = s->source.shape;
	info->shape.signed_weights = given_setting(b, ROLE_LAMBDA) != NULL;
	enum attn_status status = setting_axes(b, &info->has_layers, &info->has_batch, &set, err);
	if (status == ATTN_OK)
		status = stored_keys(&info->shape, b, &keys, err);
	if (status == ATTN_OK)
		status = check_past(s, b, &keys, err);
	/* Only what has labels of its own has other keys than queries. */
	if (status == ATTN_OK && keys.own != part->queries && !given_text(b, ROLE_SOURCE_TOKENS))
		status = attn_fail(err, ATTN_BAD_INPUT, "'%s' has no 'source_tokens', expected %zu strings",
				   part_name(b), keys.own);
	if (status == ATTN_OK)
		status = bind_labels(info, b, &keys, err);
	if (status != ATTN_OK)
		return status;
	info->has_tokens = part->has_tokens; /* numbers may stand for labels */
	s->source.shape = info->shape;
	s->masking = masking_of_all(&info->shape);
	return bind_masking(&s->masking, b, notes, err);
}

/* What a result is finished with. */
static enum attn_status bind_finishing(struct parts *s, const struct bundle *b, const struct part *part,
				       struct attn_error *err)
{
	struct output_layer *output = &s->output;
	if (!size_mul(part->heads, part->value_size, &output->context_size))
		return attn_fail_memory(err);
	output->wo.cols = part->output_size;
	if (!s->want.context || part->output_size == 0)
		return ATTN_OK;
	return given_tensor(b, ROLE_WO) ? bind_output_layer(&s->floats, b, output, err)
					: fail_lacking(b, "wo", err);
}

static bool allocate(struct parts *s)
{
	s->workers = threads_count();
	s->cells = array_alloc(s->workers, sizeof *s->cells);
	for (size_t i = 0; i < s->workers && s->cells; i++) {
		s->cells[i] = array_alloc(s->want.weights ? ROWS_BLOCK : 1, s->source.shape.keys);
		if (!s->cells[i])
			return false;
	}
	return s->cells != NULL;
}

static enum attn_status bind(struct parts *s, struct rows_info *info, struct bundle *parts,
			     const char *version, struct string_list *notes, struct attn_error *err)
{
	struct part part;
	enum attn_status status = check_all(parts, s->count, version, notes, err);
	if (status != ATTN_OK)
		return status;
	part_read(&parts[0], &part);
	s->value_size = part.value_size;
	s->want.context &= part.value_size > 0;
	s->source.row_cost = part.keys * 8; /* as for a stored result */
	s->pieces = array_alloc(s->count, sizeof *s->pieces);
	if (!s->pieces)
		return attn_fail_memory(err);
	status = bind_pieces(s, parts, &part, err);
	if (status == ATTN_OK)
		status = bind_names(s, info, &parts[0], &part, notes, err);
	if (status == ATTN_OK)
		status = bind_finishing(s, &parts[0], &part, err);
	return status;
}

static enum attn_status parts_start(struct row_source *source, struct attn_error *err)
{
	struct parts *s = (struct parts *)source;
	return s->cells || allocate(s) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status shards_open(struct opened_parts *opened, struct bundle *parts, size_t count,
			     const char *version, struct rows_want want, struct string_list *notes,
			     struct attn_error *err)
{
	struct parts *s = calloc(1, sizeof *s);
	*opened = (struct opened_parts){0};
	if (!s)
		return attn_fail_memory(err);
	s->source = (struct row_source){.start = parts_start, .read = parts_read, .free = parts_free};
	s->want = want;
	s->count = count;
	opened->rows.source = &s->source;
	enum attn_status status = bind(s, &opened->rows.info, parts, version, notes, err);
	if (status != ATTN_OK) {
		named_rows_release(&opened->rows);
		return status;
	}
	opened->masking = &s->masking;
	opened->output = &s->output;
	return ATTN_OK;
}
