#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/weights.h"

/* Each test has a folder of its own, which is the working directory meanwhile. */
static char folder[] = "/tmp/attn-checkpoint-XXXXXX";
static char home[4096];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	return getcwd(home, sizeof home) && mkdtemp(folder) && chdir(folder) == 0 && mkdir("m", 0777) == 0
		   ? 0
		   : -1;
}

static int tear_down(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return chdir(home) == 0 && system(command) == 0 ? 0 : -1;
}

static void write_bytes(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
}

static void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

/* A safetensors file of tensors of two float32 each: 10 i, 10 i + 1 for number i. */
static void write_tensors(const char *path, const char *const *names, size_t count)
{
	char header[20000];
	size_t used = 1;
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	header[0] = '{';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(
		    header + used, sizeof header - used,
		    "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[%zu,%zu]}", i ? "," : "",
		    names[i], i * 8, i * 8 + 8);
	header[used++] = '}';
	uint64_t length = used;
	fwrite(&length, 1, 8, file);
	fwrite(header, 1, used, file);
	for (size_t i = 0; i < count; i++)
		fwrite((float[]){10 * (float)i, 10 * (float)i + 1}, 1, 8, file);
	fclose(file);
}

#define WRITE_TENSORS(path, ...)                                                                             \
	write_tensors(path, (const char *const[]){__VA_ARGS__},                                              \
		      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct checkpoint *open_checkpoint(const char *path)
{
	struct checkpoint *cp;
	struct attn_error err;
	if (checkpoint_open(&cp, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return cp;
}

static void expect_bad(const char *path, enum attn_status expected, const char *part)
{
	struct checkpoint *cp;
	struct attn_error err = {0};
	enum attn_status status = checkpoint_open(&cp, path, &err);
	if (status != expected || !strstr(err.message, part) || cp)
		fail_msg("%s: status %d, '%s', expected '%s'", path, (int)status, err.message, part);
}

/* What a name is found as, and the first element. */
static void expect_found(const struct checkpoint *cp, const char *name, const char *as, float first)
{
	const struct model_tensor *t;
	struct attn_error err;
	float values[2];
	if (checkpoint_find(cp, name, &t, &err) != ATTN_OK)
		fail_msg("%s: %s", name, err.message);
	if (!as) {
		assert_null(t);
		return;
	}
	assert_non_null(t);
	assert_string_equal(t->name, as);
	assert_int_equal(t->rank, 2);
	assert_int_equal(t->shape[0], 1);
	assert_int_equal(t->shape[1], 2);
	assert_int_equal(t->count, 2);
	assert_int_equal(t->bytes, 8);
	assert_string_equal(t->type_name, "float32");
	assert_int_equal(model_tensor_floats(t, 0, 2, values, NULL), ATTN_OK);
	assert_true(values[0] == first && values[1] == first + 1);
	assert_int_equal(model_tensor_floats(t, 1, 1, values, NULL), ATTN_OK);
	assert_true(values[0] == first + 1);
}

static void expect_find_fails(const struct checkpoint *cp, const char *name, enum attn_status expected,
			      const char *message)
{
	const struct model_tensor *t;
	struct attn_error err = {0};
	assert_int_equal(checkpoint_find(cp, name, &t, &err), expected);
	assert_string_equal(err.message, message);
	assert_null(t);
}

static void test_single(void **state)
{
	(void)state;
	size_t bytes;
	write_text("m/config.json", "{\"model_type\": \"bert\"}");
	WRITE_TENSORS("m/model.safetensors", "b.weight", "a.weight");
	struct checkpoint *cp = open_checkpoint("m");
	assert_string_equal(checkpoint_path(cp), "m");
	assert_string_equal(config_text(checkpoint_config(cp), "model_type", NULL), "bert");
	assert_string_equal(config_origin(checkpoint_config(cp)), "m/config.json");
	expect_found(cp, "a.weight", "a.weight", 10);
	expect_found(cp, "b.weight", "b.weight", 0);
	expect_found(cp, "c.weight", NULL, 0);
	assert_int_equal(checkpoint_open_shards(cp, NULL), ATTN_OK);
	assert_int_equal(checkpoint_tensors(cp), 2);
	assert_string_equal(checkpoint_tensor(cp, 0)->name, "a.weight");
	assert_string_equal(checkpoint_tensor(cp, 0)->origin, "m/model.safetensors");
	assert_int_equal(checkpoint_files(cp), 1);
	assert_string_equal(checkpoint_file(cp, 0, &bytes), "m/model.safetensors");
	struct stat st;
	assert_int_equal(stat("m/model.safetensors", &st), 0);
	assert_int_equal(bytes, st.st_size);
	checkpoint_free(cp);

	/* The file, a link to the folder, the folder with a slash, the file from within. */
	assert_int_equal(symlink("m", "link"), 0);
	static const char *const paths[] = {"m/model.safetensors", "link", "m/", "./m", "m/."};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		cp = open_checkpoint(paths[i]);
		expect_found(cp, "a.weight", "a.weight", 10);
		checkpoint_free(cp);
	}
	assert_int_equal(chdir("m"), 0);
	checkpoint_free(open_checkpoint("model.safetensors"));
	checkpoint_free(open_checkpoint("."));
}

static void test_prefixes(void **state)
{
	(void)state;
	write_text("m/config.json", "{}");
	WRITE_TENSORS("m/model.safetensors", "bert.embeddings.LayerNorm.gamma",
		      "bert.embeddings.LayerNorm.beta", "bert.layer.0.weight", "cls.bias", "layer.1.weight",
		      "bert.layer.1.weight", "bert");
	struct checkpoint *cp = open_checkpoint("m");
	expect_found(cp, "embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.gamma", 0);
	expect_found(cp, "embeddings.LayerNorm.bias", "bert.embeddings.LayerNorm.beta", 10);
	expect_found(cp, "layer.0.weight", "bert.layer.0.weight", 20);
	expect_found(cp, "cls.bias", "cls.bias", 30);
	expect_found(cp, "layer.1.weight", "layer.1.weight", 40); /* as it is comes first */
	expect_found(cp, "embeddings.LayerNorm", NULL, 0);
	expect_found(cp, "weight", NULL, 0);
	expect_found(cp, "", NULL, 0);
	checkpoint_free(cp);

	static const char *const names[] = {"model.layers.0.q.weight",
					    "model.language_model.layers.0.q.weight",
					    "language_model.model.layers.0.q.weight",
					    "model.decoder.layers.0.q.weight",
					    "transformer.layers.0.q.weight",
					    "gpt_neox.layers.0.q.weight",
					    "roberta.layers.0.q.weight",
					    "electra.layers.0.q.weight",
					    "albert.layers.0.q.weight",
					    "distilbert.layers.0.q.weight",
					    "layers.0.q.weight"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		write_tensors("m/model.safetensors", &names[i], 1);
		cp = open_checkpoint("m");
		expect_found(cp, "layers.0.q.weight", names[i], 0);
		expect_found(cp, "layers.0.q.bias", NULL, 0);
		checkpoint_free(cp);
	}
}

static const char index_text[] =
    "{\"metadata\": {\"total_size\": 24}, \"weight_map\": {\"model.b\": \"two.safetensors\","
    " \"model.a\": \"one.safetensors\", \"lm_head\": \"two.safetensors\"}}";

static void test_shards(void **state)
{
	(void)state;
	write_text("m/config.json", "{}");
	write_text("m/model.safetensors.index.json", index_text);
	WRITE_TENSORS("m/one.safetensors", "model.a");
	WRITE_TENSORS("m/two.safetensors", "lm_head", "unlisted", "model.b");
	struct checkpoint *cp = open_checkpoint("m");
	size_t bytes;
	assert_int_equal(checkpoint_tensors(cp), 3);
	assert_int_equal(checkpoint_files(cp), 2);
	assert_string_equal(checkpoint_file(cp, 1, &bytes), "m/two.safetensors");
	assert_int_equal(bytes, 0);
	expect_found(cp, "a", "model.a", 0);
	checkpoint_file(cp, 1, &bytes);
	assert_int_equal(bytes, 0); /* not opened yet */
	expect_found(cp, "b", "model.b", 20);
	expect_found(cp, "lm_head", "lm_head", 0);
	expect_found(cp, "unlisted", NULL, 0);
	checkpoint_file(cp, 1, &bytes);
	assert_true(bytes > 24);
	assert_int_equal(checkpoint_open_shards(cp, NULL), ATTN_OK);
	checkpoint_free(cp);

	/* A shard is no model. */
	expect_bad("m/two.safetensors", ATTN_BAD_INPUT, "is one of the files of a model, did you mean 'm'");

	/* Shards that are not asked for need not be there. */
	assert_int_equal(unlink("m/two.safetensors"), 0);
	cp = open_checkpoint("m");
	expect_found(cp, "a", "model.a", 0);
	expect_find_fails(cp, "b", ATTN_FAILED,
			  "could not open 'm/two.safetensors': No such file or directory");
	assert_int_equal(checkpoint_open_shards(cp, NULL), ATTN_FAILED);
	checkpoint_free(cp);
}

static void test_bad_shards(void **state)
{
	(void)state;
	write_text("m/config.json", "{}");
	write_text("m/model.safetensors.index.json", index_text);
	WRITE_TENSORS("m/one.safetensors", "model.b");
	WRITE_TENSORS("m/two.safetensors", "lm_head");
	struct checkpoint *cp = open_checkpoint("m");
	struct attn_error err;
	expect_find_fails(cp, "a", ATTN_BAD_INPUT,
			  "'m/one.safetensors': tensor 'model.a' is missing, which the index says is here");
	expect_find_fails(cp, "b", ATTN_BAD_INPUT,
			  "'m/two.safetensors': tensor 'model.b' is missing, which the index says is here");
	expect_found(cp, "lm_head", "lm_head", 0);
	assert_int_equal(checkpoint_open_shards(cp, &err), ATTN_BAD_INPUT);
	checkpoint_free(cp);

	write_text("m/one.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n");
	write_text("m/two.safetensors", "{\"json\": 1}");
	cp = open_checkpoint("m");
	expect_find_fails(
	    cp, "a", ATTN_BAD_INPUT,
	    "'m/one.safetensors' is a pointer of Git LFS in place of the file: fetch it with 'git lfs pull'");
	assert_int_equal(checkpoint_open_shards(cp, &err), ATTN_BAD_INPUT);
	assert_true(strncmp(err.message, "'m/one.safetensors'", 19) == 0);
	const struct model_tensor *t;
	assert_int_equal(checkpoint_find(cp, "b", &t, &err), ATTN_BAD_INPUT);
	assert_true(strncmp(err.message, "'m/two.safetensors': header is ", 31) == 0);
	checkpoint_free(cp);
}

static void test_bad_index(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"{}", "'weight_map' is missing, expected an object of tensors and their files"},
	    {"[]", "'weight_map' is missing"},
	    {"{\"weight_map\": [1]}", "'weight_map' is an array"},
	    {"{\"weight_map\": {\"a\": 1}}", "'weight_map' has a number for 'a', expected a file name"},
	    {"{\"weight_map\": {\"a\": \"../x\"}}",
	     "'weight_map' has \"../x\" for 'a', expected a file beside it"},
	    {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}", "expected a file beside it"},
	    {"{\"weight_map\": {\"a\": \"..\"}}", "expected a file beside it"},
	    {"{\"weight_map\": {\"a\": \".\"}}", "expected a file beside it"},
	    {"{\"weight_map\": {\"a\": \"\"}}", "expected a file beside it"},
	    {"{\"weight_map\": {\"a\": \"x\", \"b\": \"x\", \"a\": \"y\"}}",
	     "'a' may be given only once in 'weight_map'"},
	    {"{\"weight_map\": ", "line 1, column 16: expected a value, found the end"},
	};
	write_text("m/config.json", "{}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char message[300];
		write_text("m/model.safetensors.index.json", cases[i].text);
		expect_bad("m", ATTN_BAD_INPUT, "'m/model.safetensors.index.json': ");
		snprintf(message, sizeof message, "%s", cases[i].message);
		expect_bad("m", ATTN_BAD_INPUT, message);
	}
	write_text("m/model.safetensors.index.json", "{\"weight_map\": {}}");
	struct checkpoint *cp = open_checkpoint("m");
	expect_found(cp, "a", NULL, 0);
	assert_int_equal(checkpoint_open_shards(cp, NULL), ATTN_OK);
	checkpoint_free(cp);
}

/* Elements of all types that are computed with; others say why not. */
static void test_types(void **state)
{
	(void)state;
	static const char header[] = "{\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
				     "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[6,10]},"
				     "\"d\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[10,18]},"
				     "\"i\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[18,20]},"
				     "\"e\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[20,21]},"
				     "\"f\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[21,22]},"
				     "\"n\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[22,26]}}";
	static const unsigned char data[] = {0x00, 0x3c, 0x01, 0x00, 0x00, 0xc0, /* 1, 2^-24, -2 */
					     0x80, 0x3f, 0x00, 0xc0,             /* 1, -2 */
					     0,    0,    0,    0,    0,    0,    0xe0, 0x3f,  /* 0.5 */
					     1,    2,    3,    4,    0x00, 0x3c, 0x00, 0x7c}; /* ... 1, inf */
	unsigned char file[1000] = {(sizeof header - 1) & 0xff, (sizeof header - 1) >> 8};
	memcpy(file + 8, header, sizeof header - 1);
	memcpy(file + 7 + sizeof header, data, sizeof data);
	write_text("m/config.json", "{}");
	write_bytes("m/model.safetensors", file, 7 + sizeof header + sizeof data);
	struct checkpoint *cp = open_checkpoint("m");
	const struct model_tensor *t;
	struct attn_error err;
	float out[3];
	checkpoint_find(cp, "h", &t, NULL);
	assert_int_equal(model_tensor_floats(t, 0, 3, out, NULL), ATTN_OK);
	assert_true(out[0] == 1 && out[1] == 0x1p-24f && out[2] == -2);
	checkpoint_find(cp, "b", &t, NULL);
	assert_int_equal(model_tensor_floats(t, 1, 1, out, NULL), ATTN_OK);
	assert_true(out[0] == -2);
	checkpoint_find(cp, "d", &t, NULL);
	assert_int_equal(t->rank, 0);
	assert_int_equal(model_tensor_floats(t, 0, 1, out, NULL), ATTN_OK);
	assert_true(out[0] == 0.5f);
	static const char *const refused[][2] = {{"i", "int8"}, {"e", "F8_E4M3"}, {"f", "F4"}};
	for (size_t i = 0; i < 3; i++) {
		char message[200];
		checkpoint_find(cp, refused[i][0], &t, NULL);
		assert_int_equal(model_tensor_floats(t, 0, 1, out, &err), ATTN_BAD_INPUT);
		snprintf(message, sizeof message,
			 "'m/model.safetensors': '%s' is of %s, expected " MODEL_TYPES_EXPECTED,
			 refused[i][0], refused[i][1]);
		assert_string_equal(err.message, message);
	}
	checkpoint_find(cp, "n", &t, NULL);
	assert_int_equal(model_tensor_floats(t, 1, 1, out, &err), ATTN_BAD_INPUT);
	assert_string_equal(err.message, "'m/model.safetensors': 'n[1,0]' is inf, expected a finite number");
	checkpoint_free(cp);
}

static void test_buffers(void **state)
{
	(void)state;
	static const char *const buffers[] = {"h.0.attn.bias", "transformer.h.0.attn.masked_bias",
					      "bert.embeddings.position_ids",
					      "gpt_neox.layers.0.attention.rotary_emb.inv_freq"};
	static const char *const parameters[] = {"h.0.attn.c_attn.bias", "layer.0.attention.self.query.bias",
						 "bias", "embeddings.token_type_embeddings.weight"};
	for (size_t i = 0; i < 4; i++) {
		assert_true(model_tensor_is_buffer(&(struct model_tensor){.name = buffers[i]}));
		assert_false(model_tensor_is_buffer(&(struct model_tensor){.name = parameters[i]}));
	}
}

/* What is not a model, and what is said of it. */
static void test_folders(void **state)
{
	(void)state;
	expect_bad("gone", ATTN_FAILED, "could not open 'gone': No such file or directory");
	expect_bad("m", ATTN_BAD_INPUT, "'m' has no 'config.json', expected the folder of a model");
	write_text("m/adapter_config.json", "{}");
	expect_bad("m", ATTN_BAD_INPUT, "'m' holds an adapter");
	assert_int_equal(mkdir("m/config.json", 0777), 0);
	expect_bad("m", ATTN_FAILED, "'m/config.json' is a directory, expected a file");
	assert_int_equal(rmdir("m/config.json"), 0);
	assert_int_equal(mkfifo("m/config.json", 0666), 0);
	expect_bad("m", ATTN_FAILED, "'m/config.json' is a device, pipe or socket, expected a regular file");
	assert_int_equal(unlink("m/config.json"), 0);
	assert_int_equal(symlink("nothing", "m/config.json"), 0);
	expect_bad("m", ATTN_FAILED, "could not open 'm/config.json': No such file");
	assert_int_equal(unlink("m/config.json"), 0);
	write_text("m/config.json", "");
	expect_bad("m", ATTN_BAD_INPUT, "'m/config.json' is empty");
	write_text("m/config.json", "[]");
	expect_bad("m", ATTN_BAD_INPUT, "'m/config.json': document is an array, expected an object");
	assert_int_equal(truncate("m/config.json", 100 << 20), 0);
	expect_bad("m", ATTN_BAD_INPUT, "'m/config.json' is 104857600 bytes, expected at most 8388608");

	write_text("m/config.json", "{}");
	expect_bad("m", ATTN_BAD_INPUT, "'m' has no weights, expected 'model.safetensors', or its shards");
	write_text("m/tf_model.h5", "x");
	expect_bad("m", ATTN_BAD_INPUT, "'m' has its weights in 'tf_model.h5', which is not read");
	write_text("m/other.safetensors", "x");
	expect_bad("m", ATTN_BAD_INPUT, "did you mean 'm/other.safetensors'");
	write_text("m/pytorch_model-00002-of-00002.bin", "x");
	expect_bad("m", ATTN_BAD_INPUT, "'m' has 'pytorch_model-00002-of-00002.bin', a pickle");
	expect_bad("m/pytorch_model-00002-of-00002.bin", ATTN_BAD_INPUT,
		   "'m' has 'pytorch_model-00002-of-00002.bin'");
	expect_bad("m/config.json", ATTN_BAD_INPUT,
		   "'m/config.json' is one of the files of a model, did you mean 'm'");
	write_text("m/model.safetensors", "x");
	expect_bad("m", ATTN_BAD_INPUT, "'m/model.safetensors': file is 1 bytes, too short");

	write_text("note.txt", "x");
	expect_bad("note.txt", ATTN_BAD_INPUT,
		   "'note.txt' is no model, expected a folder with 'config.json'");
	write_text("lone.safetensors", "x");
	expect_bad("lone.safetensors", ATTN_BAD_INPUT, "'lone.safetensors' has no 'config.json' beside it");
	assert_int_equal(
	    mkdir("hub", 0777) | mkdir("hub/snapshots", 0777) | mkdir("hub/snapshots/1f2e", 0777), 0);
	expect_bad("hub", ATTN_BAD_INPUT,
		   "'hub' is a folder of a download cache, did you mean 'hub/snapshots/1f2e'");
}

#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(test_single),    test(test_prefixes), test(test_shards),  test(test_bad_shards),
	    test(test_bad_index), test(test_types),    test(test_buffers), test(test_folders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
