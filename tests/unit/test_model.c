/* Models against known attention, hidden states and logits: families with random weights, whose
 * values are computed in float64 from the stored ones, and models trained by others.
 *
 * They are in ../shared/models, or where ATTN_SHARED says, but for two: in tests/data and samples. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "files/input.h"
#include "model/model_rows.h"
#include "util/threads.h"

/* Rows of attention as they are streamed. */
struct capture {
	struct row_consumer consumer;
	struct rows_shape shape;
	float *weights; /* (layers, heads, queries, keys) */
};

static enum attn_status capture_block(struct row_consumer *consumer, const struct row_block *block,
				      struct attn_error *err)
{
	struct capture *c = (struct capture *)consumer;
	size_t row = rows_number(&c->shape, block->layer, block->batch, block->head, block->query);
	(void)err;
	memcpy(c->weights + row * block->keys, block->weights, block->count * block->keys * sizeof(float));
	return ATTN_OK;
}

struct known {
	struct bundle expected;
	const char *kind; /* of attention, where a model has several; or NULL */
	size_t *ids, *types, *decoder_ids;
	float *pixels;                /* of a picture; or NULL */
	struct text_ids text, target; /* what a decoder beside an encoder reads */
};

static size_t *whole_numbers(const struct tensor *t)
{
	size_t *numbers = calloc(t->count, sizeof *numbers);
	assert_non_null(numbers);
	for (size_t i = 0; i < t->count; i++)
		numbers[i] = (size_t)tensor_get(t, i);
	return numbers;
}

static float *numbers_of(const struct tensor *t)
{
	float *numbers = calloc(t->count, sizeof *numbers);
	assert_non_null(numbers);
	for (size_t i = 0; i < t->count; i++)
		numbers[i] = (float)tensor_get(t, i);
	return numbers;
}

static void open_known(struct known *k, const char *path)
{
	struct attn_error err;
	bundle_init(&k->expected);
	if (input_read_file(&k->expected, path, NULL, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	struct tensor *ids = bundle_tensor(&k->expected, "ids");
	if (!ids)
		ids = bundle_tensor(&k->expected, "in.input_ids");
	struct tensor *pixels = bundle_tensor(&k->expected, "pixel_values");
	struct tensor *types = bundle_tensor(&k->expected, "token_type_ids");
	assert_true(ids || pixels);
	k->ids = ids ? whole_numbers(ids) : NULL;
	k->types = types ? whole_numbers(types) : NULL;
	k->text = (struct text_ids){.ids = k->ids, .types = k->types, .count = ids ? ids->count : 0};
	k->pixels = pixels ? numbers_of(pixels) : NULL;
	k->kind = NULL;
	k->decoder_ids = NULL;
	struct tensor *target = bundle_tensor(&k->expected, "decoder_ids");
	if (target)
		k->target =
		    (struct text_ids){.ids = k->decoder_ids = whole_numbers(target), .count = target->count};
}

static void close_known(struct known *k)
{
	free(k->ids);
	free(k->types);
	free(k->decoder_ids);
	free(k->pixels);
	bundle_release(&k->expected);
}

/* The tensor called one of two ways, of a model that encodes or decodes. */
static struct tensor *of_kind(const struct known *k, const char *what)
{
	char name[60];
	snprintf(name, sizeof name, "%s.%s", what, k->kind ? k->kind : "encoder");
	struct tensor *t = bundle_tensor(&k->expected, name);
	snprintf(name, sizeof name, "%s.decoder", what);
	return t || k->kind ? t : bundle_tensor(&k->expected, name);
}

/* The largest difference of numbers[i] and element first + i, as a share of 1 and that. */
static double difference(const struct tensor *t, size_t first, const float *numbers, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++) {
		double expected = tensor_get(t, first + i);
		double off = fabs((double)numbers[i] - expected) / fmax(1, fabs(expected));
		most = off <= most ? most : off; /* also NaN */
	}
	return most;
}

static void expect_near(const char *model, const char *what, double off, double tolerance)
{
	if (!(off <= tolerance))
		fail_msg("%s: %s differ by %g, expected at most %g", model, what, off, tolerance);
}

/* Weights are in one tensor, or in one a layer. */
static void expect_weights(const char *model, const struct known *k, const struct capture *c)
{
	size_t size = c->shape.heads * c->shape.queries * c->shape.keys;
	const struct tensor *all = of_kind(k, "attention");
	if (!all)
		all = bundle_tensor(&k->expected, "attention");
	for (size_t layer = 0; layer < c->shape.layers; layer++) {
		char name[60];
		snprintf(name, sizeof name, "attentions.%zu", layer);
		const struct tensor *t = all ? all : bundle_tensor(&k->expected, name);
		assert_non_null(t);
		assert_true(t->count == (all ? size * c->shape.layers : size));
		expect_near(model, "weights",
			    difference(t, all ? layer * size : 0, c->weights + layer * size, size), 1e-5);
	}
}

static void expect_hidden(const char *model, const struct known *k, const struct row_source *source,
			  const struct model *m)
{
	size_t size = source->shape.queries * m->a.width;
	const struct tensor *all = of_kind(k, "hidden");
	for (size_t i = 0; i <= m->a.layers; i++) {
		char name[60];
		snprintf(name, sizeof name, "hidden_states.%zu", i);
		const struct tensor *t = all ? all : bundle_tensor(&k->expected, name);
		if (!t)
			return;
		expect_near(model, "hidden states",
			    difference(t, all ? i * size : 0, model_rows_hidden(source) + i * size, size),
			    2e-5);
	}
}

static void expect_logits(const char *model, const struct tensor *logits, const struct row_source *source,
			  const struct model *m)
{
	assert_true(logits->count == source->shape.queries * model_outputs(m));
	expect_near(model, "logits", difference(logits, 0, model_rows_logits(source), logits->count), 5e-5);
}

static struct row_source *rows_of(struct model *m, const struct known *k, const struct model_want *want)
{
	struct row_source *source;
	struct attn_error err;
	if (model_rows_new(&source, m, &k->text, want, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return source;
}

static void capture_rows(struct row_source *source, const struct rows_selection *selection, struct capture *c)
{
	struct attn_error err;
	struct row_consumer *consumers[] = {&c->consumer};
	*c = (struct capture){.consumer = {.consume = capture_block, .any_order = true},
			      .shape = source->shape};
	c->weights =
	    calloc(c->shape.layers * c->shape.heads * c->shape.queries * c->shape.keys, sizeof *c->weights);
	assert_non_null(c->weights);
	if (rows_stream(source, selection, consumers, 1, &err) != ATTN_OK)
		fail_msg("%s", err.message);
}

static void check_model(const char *folder, const char *expected)
{
	struct known k;
	struct model *m;
	struct capture c;
	struct attn_error err;
	open_known(&k, expected);
	if (model_open(&m, folder, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const struct tensor *logits = bundle_tensor(&k.expected, "logits");
	struct row_source *source = rows_of(
	    m, &k, &(struct model_want){.rows = {.weights = true}, .hidden = true, .logits = logits != NULL});
	capture_rows(source, NULL, &c);
	expect_weights(expected, &k, &c);
	if (model_rows_finish(source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	expect_hidden(expected, &k, source, m);
	if (logits)
		expect_logits(expected, logits, source, m);
	free(c.weights);
	source->free(source);
	model_free(m);
	close_known(&k);
}

/* One kind of attention of an encoder and a decoder; hidden states are those of the stack that it is in. */
static void check_kind(struct model *whole, struct known *k, const char *kind, const char *expected)
{
	struct capture c;
	struct attn_error err;
	bool encodes = strcmp(kind, "encoder") == 0, crosses = strcmp(kind, "cross") == 0;
	struct model *m = encodes ? whole->encoder : whole;
	struct row_source *source;
	const struct model_want want = {.rows = {.weights = true},
					.crossing = crosses,
					.source = encodes ? NULL : &k->text,
					.hidden = true,
					.logits = !encodes && bundle_tensor(&k->expected, "logits")};
	if (model_rows_new(&source, m, encodes ? &k->text : &k->target, &want, &err) != ATTN_OK)
		fail_msg("%s: %s", expected, err.message);
	assert_true(source->shape.cross == crosses);
	k->kind = kind;
	capture_rows(source, NULL, &c);
	expect_weights(expected, k, &c);
	if (model_rows_finish(source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	k->kind = encodes ? kind : "decoder";
	expect_hidden(expected, k, source, m);
	const struct tensor *logits = bundle_tensor(&k->expected, "logits");
	if (!encodes && logits)
		expect_logits(expected, logits, source, m);
	free(c.weights);
	source->free(source);
}

static void check_translator(const char *folder, const char *expected)
{
	static const char *const kinds[] = {"encoder", "decoder", "cross"};
	struct known k;
	struct attn_error err;
	open_known(&k, expected);
	for (size_t i = 0; i < 3; i++) {
		struct model *m;
		if (model_open(&m, folder, &err) != ATTN_OK)
			fail_msg("%s", err.message);
		assert_non_null(m->encoder);
		check_kind(m, &k, kinds[i], expected);
		model_free(m);
	}
	close_known(&k);
}

/* One stack of a model that reads a picture, or a text beside another that does. */
static void check_stack(struct model *m, struct known *k, const char *kind, const char *expected)
{
	struct capture c;
	struct attn_error err;
	struct row_source *source;
	const struct text_ids picture = {.pixels = k->pixels,
					 .count = architecture_lead(&m->a) + architecture_patches(&m->a)};
	const struct tensor *logits = m->inner ? NULL : bundle_tensor(&k->expected, "logits");
	bool classes = logits && m->a.family->pictures;
	const struct model_want want = {.rows = {.weights = true}, .hidden = true, .logits = classes};
	k->kind = kind;
	if (model_rows_new(&source, m, m->a.family->pictures ? &picture : &k->text, &want, &err) != ATTN_OK)
		fail_msg("%s: %s", expected, err.message);
	capture_rows(source, NULL, &c);
	expect_weights(expected, k, &c);
	if (model_rows_finish(source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	expect_hidden(expected, k, source, m);
	if (classes) {
		assert_int_equal(logits->count, model_outputs(m));
		expect_near(expected, "logits",
			    difference(logits, 0, model_rows_logits(source), logits->count), 5e-5);
	}
	free(c.weights);
	source->free(source);
}

static void check_picture(const char *folder, const char *expected)
{
	struct known k;
	struct model *m;
	struct attn_error err;
	open_known(&k, expected);
	if (model_open(&m, folder, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	if (m->vision)
		check_stack(m, &k, "text", expected);
	check_stack(m->vision ? m->vision : m, &k, "vision", expected);
	model_free(m);
	close_known(&k);
}

static const char *shared(void)
{
	const char *given = getenv("ATTN_SHARED");
	return given ? given : "../shared";
}

static bool there(const char *path)
{
	struct stat s;
	return stat(path, &s) == 0;
}

/* Every case of a folder whose model type is known. */
static void check_folder(const char *folder, const char *const *names,
			 void (*check)(const char *folder, const char *expected))
{
	char path[1000], expected[1100];
	for (size_t i = 0; names[i]; i++) {
		snprintf(path, sizeof path, "%s/models/%s/%s", shared(), folder, names[i]);
		snprintf(expected, sizeof expected, "%s/expected.safetensors", path);
		if (!there(expected)) {
			print_message("skipped: there is no %s\n", expected);
			skip();
		}
		check(path, expected);
	}
}

/* Those that are here, too: an encoder, and a decoder that was trained. */
static void test_own(void **state)
{
	(void)state;
	check_model("tests/data/models/bert_min_config",
		    "tests/data/models/bert_min_config/expected.safetensors");
	check_model("samples/stories260K", "tests/data/models/stories260K/lily.expected.safetensors");
	check_translator("tests/data/models/marian", "tests/data/models/marian/expected.safetensors");
	check_translator("samples/aren-transliteration",
			 "tests/data/models/aren-transliteration/achison.expected.safetensors");
}

static void test_families(void **state)
{
	(void)state;
	static const char *const names[] = {"albert",
					    "bert_bare",
					    "bert_min_config",
					    "bert_pair",
					    "distilbert",
					    "electra",
					    "roberta",
					    "gpt2",
					    "gpt2_min_config",
					    "xlm_roberta",
					    "llama2",
					    "llama3",
					    "mistral_window",
					    "qwen2",
					    "llama_min_config",
					    "mistral_nowindow",
					    "qwen3",
					    "mixtral",
					    "qwen3_moe",
					    "bloom",
					    "mpnet",
					    "gemma",
					    "gemma2",
					    "gemma3",
					    "phi3",
					    "phi3_longrope_short",
					    "olmo2",
					    "phi",
					    "gpt_neox",
					    "gptj",
					    "opt",
					    "starcoder2",
					    "falcon",
					    "modernbert",
					    NULL};
	check_folder("families", names, check_model);
}

/* Pictures, and texts beside them. */
static void test_pictures(void **state)
{
	(void)state;
	static const char *const names[] = {"vit", "clip", NULL};
	check_folder("families", names, check_picture);
}

/* Encoders with decoders: both and the attention between them. */
static void test_translators(void **state)
{
	(void)state;
	static const char *const names[] = {"t5_relu", "t5_gated", "bart", "marian", NULL};
	check_folder("families", names, check_translator);
}

/* The same models as GGUF files. */
static void test_gguf(void **state)
{
	(void)state;
	static const char *const names[] = {"bert_bare",        "gpt2",  "llama2", "llama3",
					    "mistral_nowindow", "qwen2", "qwen3",  NULL};
	for (size_t i = 0; names[i]; i++) {
		char path[1000], expected[1100];
		snprintf(path, sizeof path, "%s/models/families/%s/model.gguf", shared(), names[i]);
		snprintf(expected, sizeof expected, "%s/models/families/%s/expected.safetensors", shared(),
			 names[i]);
		if (!there(path)) {
			print_message("skipped: there is no %s\n", path);
			skip();
		}
		check_model(path, expected);
	}
}

/* Weights in blocks: the expected values are those of the numbers that the blocks stand for. */
static void test_blocks(void **state)
{
	(void)state;
	static const char *const names[] = {"gguf_llama_blocks", "gguf_llama_q4_0", "gguf_llama_q4_k",
					    "gguf_qwen2_q8_0", NULL};
	check_folder("families", names, check_model);
}

static void test_trained(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"stories260K", "animal.expected"},
	    {"stories260K", "lily.expected"},
	    {"rxnmapper-albert", "expected-0"},
	    {"llm-viz-nano-sort", "expected"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[1000], expected[1100];
		snprintf(path, sizeof path, "%s/models/trained/%s", shared(), files[i][0]);
		snprintf(expected, sizeof expected, "%s/%s.safetensors", path, files[i][1]);
		if (!there(expected)) {
			print_message("skipped: there is no %s\n", expected);
			skip();
		}
		check_model(path, expected);
	}
}

/* Some layers and heads have the same rows as all, whatever is left out, and hidden states and logits
 * don't depend on what is streamed. */
static void test_selections(void **state)
{
	(void)state;
	char path[1000], expected[1100];
	struct known k;
	struct model *m;
	struct capture all, some;
	struct attn_error err;
	snprintf(path, sizeof path, "%s/models/families/llama2", shared());
	snprintf(expected, sizeof expected, "%s/expected.safetensors", path);
	if (!there(expected))
		skip();
	open_known(&k, expected);
	assert_int_equal(model_open(&m, path, &err), ATTN_OK);
	size_t layers = m->a.layers, heads = m->a.heads;
	struct row_source *source = rows_of(m, &k, &(struct model_want){.rows = {.weights = true}});
	capture_rows(source, NULL, &all);
	source->free(source);
	for (size_t layer = 0; layer < layers; layer++)
		for (size_t head = 0; head < heads; head++) {
			bool of_layers[100] = {false}, of_heads[100] = {false};
			of_layers[layer] = of_heads[head] = true;
			const struct rows_selection selection = {.layers = of_layers, .heads = of_heads};
			bool whole = head % 2;
			source = rows_of(m, &k,
					 &(struct model_want){.rows = {.weights = true, .context = whole},
							      .selection = &selection,
							      .last_logits = whole});
			capture_rows(source, &selection, &some);
			size_t size = some.shape.queries * some.shape.keys,
			       at = (layer * heads + head) * size;
			assert_memory_equal(some.weights + at, all.weights + at, size * sizeof(float));
			free(some.weights);
			if (whole) {
				const struct tensor *logits = bundle_tensor(&k.expected, "logits");
				size_t outputs = logits->shape[1];
				assert_int_equal(model_rows_finish(source, &err), ATTN_OK);
				expect_near("llama2", "last logits",
					    difference(logits, logits->count - outputs,
						       model_rows_logits(source), outputs),
					    5e-5);
			}
			source->free(source);
		}
	free(all.weights);
	model_free(m);
	close_known(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own),      cmocka_unit_test(test_families),
	    cmocka_unit_test(test_gguf),     cmocka_unit_test(test_translators),
	    cmocka_unit_test(test_pictures), cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_trained),  cmocka_unit_test(test_selections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
