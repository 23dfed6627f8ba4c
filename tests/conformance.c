/* Runs conformance cases through the command line and compares what the program
 * writes with expected values that other implementations computed:
 *
 *   onnx-attention  the node tests of the ONNX operator Attention
 *   torch-mha       torch.nn.MultiheadAttention
 *   real            what enters and leaves attention blocks of trained models
 *
 * The first two are in tests/data.  ATTN is the program (./attn), ATTN_SHARED the folder
 * that has the real cases, which are not part of this repository (../shared); without it
 * they count as skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "files/input.h"
#include "files/tensor_writer.h"

enum {
	MAX_WORDS = 40, /* of a command line, a NULL included */
	MAX_PATH = 1000,
};

static char scratch[] = "/tmp/attn-conformance-XXXXXX";
static const char *program;

/* One case: what is run, and whether anything was wrong. */
struct trial {
	const char *suite, *name;
	const char *path; /* of the case: a directory, or a file */
	cJSON *spec;      /* case.json, or NULL */
	char *words[MAX_WORDS];
	size_t word_count;
	bool failed;
};

static void fail(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *path_to(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tests do not go on without memory or a scratch directory. */
static void give_up(const char *what)
{
	perror(what);
	exit(2);
}

static void fail(struct trial *t, const char *format, ...)
{
	va_list args;
	if (t->failed) /* one line a case: what follows a failure is often its consequence */
		return;
	printf("FAIL %s/%s: ", t->suite, t->name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	t->failed = true;
}

/* A path in one of a few buffers, for use at once. */
static char *path_to(const char *format, ...)
{
	static char paths[4][MAX_PATH];
	static size_t turn;
	char *path = paths[turn++ % 4];
	va_list args;
	va_start(args, format);
	vsnprintf(path, MAX_PATH, format, args);
	va_end(args);
	return path;
}

static void add_word(struct trial *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (t->word_count + 1 == MAX_WORDS || vasprintf(&t->words[t->word_count++], format, args) < 0)
		give_up("a command line");
	va_end(args);
}

/* "--name value" where the object has `key`. */
static void add_option(struct trial *t, const cJSON *object, const char *key, const char *option)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
	if (cJSON_IsNumber(value))
		add_word(t, "--%s=%.17g", option, value->valuedouble);
}

static bool is_set(const cJSON *object, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsTrue(value) || (cJSON_IsNumber(value) && value->valuedouble != 0);
}

/* The first line of what the program said on standard error. */
static void fail_status(struct trial *t, int status)
{
	char line[300] = "";
	FILE *file = fopen(path_to("%s/stderr", scratch), "r");
	if (file && fgets(line, sizeof line, file))
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	if (WIFEXITED(status))
		fail(t, "exit status %d: %s", WEXITSTATUS(status), line);
	else
		fail(t, "killed by signal %d: %s", WTERMSIG(status), line);
}

/* The child's part of run: both streams go to a file in scratch. */
static void run_program(struct trial *t)
{
	int fd = open(path_to("%s/stderr", scratch), O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(126);
	execv(t->words[0], t->words);
	perror(t->words[0]);
	_exit(127);
}

/* Run the program; false (and a failed trial) unless it ends with status 0. */
static bool run(struct trial *t)
{
	int status;
	t->words[t->word_count] = NULL;
	fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		give_up("fork");
	if (child == 0)
		run_program(t);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			give_up("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_status(t, status);
	return !t->failed;
}

/* A tensor of a file; NULL (and a failed trial) where there is none.  `name` is ""
 * in an npy. */
static const struct tensor *load(struct trial *t, struct bundle *b, const char *path, const char *name)
{
	struct attn_error err = {ATTN_OK, ""};
	const struct tensor *tensor = NULL;
	bundle_init(b);
	if (input_read_file(b, path, NULL, &err) != ATTN_OK)
		fail(t, "%s", err.message);
	else if (!(tensor = bundle_tensor(b, name)))
		fail(t, "%s has no '%s'", path, name);
	return tensor;
}

/* Where element i of (B, H, N, e) is in (B, N, H e), heads side by side. */
static size_t side_by_side(const size_t *shape, size_t i)
{
	size_t e = i % shape[3], n = i / shape[3] % shape[2], h = i / shape[3] / shape[2] % shape[1];
	size_t b = i / shape[3] / shape[2] / shape[1];
	return ((b * shape[2] + n) * shape[1] + h) * shape[3] + e;
}

struct tolerance {
	double absolute, relative;
};

/* How far a value is beyond the tolerance: not at all where it is 0 or less. */
static double excess(double got, double want, struct tolerance tolerance)
{
	if (got == want) /* infinities, too */
		return 0;
	double difference = fabs(got - want);
	return isfinite(difference) ? difference - tolerance.absolute - tolerance.relative * fabs(want)
				    : INFINITY;
}

static void compare(struct trial *t, const struct tensor *got, const struct tensor *want, const char *what,
		    struct tolerance tolerance)
{
	bool joined = want->rank == 4 && got->rank == 3; /* heads side by side */
	char found[200], expected[200];
	if (got->count != want->count ||
	    (!joined && (got->rank != want->rank || memcmp(got->shape, want->shape, sizeof got->shape)))) {
		fail(t, "%s is %s, expected %s", what,
		     tensor_shape_text(got->rank, got->shape, found, sizeof found),
		     tensor_shape_text(want->rank, want->shape, expected, sizeof expected));
		return;
	}
	size_t worst = 0;
	double most = 0;
	for (size_t i = 0; i < want->count; i++) {
		size_t at = joined ? side_by_side(want->shape, i) : i;
		double beyond = excess(tensor_get(got, at), tensor_get(want, i), tolerance);
		if (beyond > most) {
			most = beyond;
			worst = i;
		}
	}
	if (most == 0)
		return;
	double value = tensor_get(got, joined ? side_by_side(want->shape, worst) : worst);
	double wanted = tensor_get(want, worst);
	fail(t, "%s differs by %g at %s: %.9g, expected %.9g", what, fabs(value - wanted),
	     tensor_index_text(want, worst, found, sizeof found), value, wanted);
}

/* Compare scratch/WHAT.npy with a tensor of a file. */
static void expect(struct trial *t, const char *what, const char *path, const char *name,
		   struct tolerance tolerance)
{
	struct bundle got_file, want_file;
	const struct tensor *got = load(t, &got_file, path_to("%s/%s.npy", scratch, what), "");
	const struct tensor *want = load(t, &want_file, path, name);
	if (got && want)
		compare(t, got, want, what, tolerance);
	bundle_release(&got_file);
	bundle_release(&want_file);
}

/* The same with an npy of the case's directory, whose type says how much to expect. */
static void expect_npy(struct trial *t, const char *what, const char *name)
{
	static const struct tolerance f32 = {2e-6, 1e-5}, f16 = {2e-3, 0};
	struct bundle file;
	const char *path = path_to("%s/%s.npy", t->path, name);
	const struct tensor *want = load(t, &file, path, "");
	if (want)
		expect(t, what, path, "", want->dtype == DTYPE_F16 ? f16 : f32);
	bundle_release(&file);
}

/* --WHAT scratch/WHAT.npy */
static void ask_for(struct trial *t, const char *what)
{
	add_word(t, "--%s=%s/%s.npy", what, scratch, what);
}

/* Which file of a case's directory is bound to which role. */
struct binding {
	const char *role, *file;
};

static bool has_file(const struct trial *t, const char *file)
{
	return access(path_to("%s/%s.npy", t->path, file), F_OK) == 0;
}

/* ROLE=FILE for every file that is there. */
static void bind_files(struct trial *t, const struct binding *bindings)
{
	for (; bindings->role; bindings++)
		if (has_file(t, bindings->file))
			add_word(t, "%s=%s/%s.npy", bindings->role, t->path, bindings->file);
}

static void run_onnx(struct trial *t)
{
	static const struct binding bindings[] = {
	    {"q", "q"},
	    {"k", "k"},
	    {"v", "v"},
	    {"mask", "mask"},
	    {"past_k", "past_key"},
	    {"past_v", "past_value"},
	    {"kv_lengths", "nonpad_kv_seqlen"},
	    {NULL, NULL},
	};
	static const char *const stages[] = {"raw", "capped", "masked"};
	const cJSON *attributes = cJSON_GetObjectItemCaseSensitive(t->spec, "attributes");
	const cJSON *mode = cJSON_GetObjectItemCaseSensitive(attributes, "qk_matmul_output_mode");
	size_t stage = mode ? (size_t)mode->valueint : 0;
	bool weights = stage == 3, qk = has_file(t, "qk");

	bind_files(t, bindings);
	add_option(t, attributes, "q_num_heads", "num-heads");
	add_option(t, attributes, "kv_num_heads", "num-kv-heads");
	add_option(t, attributes, "scale", "scale");
	add_option(t, attributes, "softcap", "softcap");
	if (cJSON_GetObjectItemCaseSensitive(attributes, "q_num_heads"))
		add_word(t, "--packed");
	if (is_set(attributes, "is_causal"))
		add_word(t, "--causal");
	ask_for(t, "context");
	if (qk)
		ask_for(t, weights ? "weights" : "scores");
	if (qk && !weights)
		add_word(t, "--scores-stage=%s", stages[stage % 3]);
	if (!run(t))
		return;
	expect_npy(t, "context", "y");
	if (qk)
		expect_npy(t, weights ? "weights" : "scores", "qk");
}

/* Write a tensor to scratch/NAME.npy. */
static void write_npy(struct trial *t, const char *name, const struct tensor *tensor)
{
	struct attn_error err = {ATTN_OK, ""};
	struct tensor_spec spec = {.name = name, .dtype = tensor->dtype, .rank = tensor->rank};
	struct tensor_writer *writer;
	for (int axis = 0; axis < tensor->rank; axis++)
		spec.axes[axis] = (struct axis){.name = "axis", .length = tensor->shape[axis]};
	const char *path = path_to("%s/%s.npy", scratch, name);
	enum attn_status status = tensor_writer_open(&writer, path, FORMAT_NPY, &spec, 1, NULL, &err);
	if (status == ATTN_OK) {
		status = tensor_writer_put(writer, 0, tensor->data, tensor->count, &err);
		if (status == ATTN_OK)
			status = tensor_writer_commit(writer, &err);
		else
			tensor_writer_abort(writer);
	}
	if (status != ATTN_OK)
		fail(t, "%s", err.message);
}

/* PyTorch's mask for attn: there true means "not allowed", and one a head is
 * (B H, N, M). */
static void bind_torch_mask(struct trial *t, const char *role, const char *name, size_t heads)
{
	struct bundle file;
	if (!has_file(t, name))
		return;
	const struct tensor *mask = load(t, &file, path_to("%s/%s.npy", t->path, name), "");
	if (mask) {
		struct tensor inverse = *mask;
		unsigned char *allowed = calloc(mask->count, 1);
		if (!allowed)
			give_up("a mask");
		for (size_t i = 0; i < mask->count; i++)
			allowed[i] = tensor_get(mask, i) == 0;
		if (mask->dtype == DTYPE_BOOL)
			inverse.data = allowed;
		if (mask->rank == 3) {
			inverse.rank = 4;
			memmove(inverse.shape + 2, mask->shape + 1, 2 * sizeof *inverse.shape);
			inverse.shape[0] = mask->shape[0] / heads;
			inverse.shape[1] = heads;
		}
		write_npy(t, role, &inverse);
		add_word(t, "%s=%s/%s.npy", role, scratch, role);
		free(allowed);
	}
	bundle_release(&file);
}

static void run_torch(struct trial *t)
{
	static const struct binding bindings[] = {
	    {"embeddings", "x"},        {"source_embeddings", "kv"},
	    {"source_embeddings", "k"}, {"source_values", "v"},
	    {"wqkv", "in_proj_weight"}, {"bqkv", "in_proj_bias"}, /* also of separate projections */
	    {"wq", "q_proj_weight"},    {"wk", "k_proj_weight"},
	    {"wv", "v_proj_weight"},    {"bias_k", "bias_k"},
	    {"bias_v", "bias_v"},       {"wo", "out_proj_weight"},
	    {"bo", "out_proj_bias"},    {NULL, NULL},
	};
	const cJSON *heads = cJSON_GetObjectItemCaseSensitive(t->spec, "num_heads");

	add_word(t, "--layout=out,in");
	add_option(t, t->spec, "num_heads", "num-heads");
	if (is_set(t->spec, "add_zero_attn"))
		add_word(t, "--add-zero-attn");
	bind_files(t, bindings);
	bind_torch_mask(t, "mask", "attn_mask", heads ? (size_t)heads->valueint : 1);
	bind_torch_mask(t, "key_padding", "key_padding_mask", 1);
	ask_for(t, "context");
	ask_for(t, "output");
	ask_for(t, "weights");
	if (t->failed || !run(t))
		return;
	expect_npy(t, "context", "heads");
	expect_npy(t, "output", "context");
	expect_npy(t, "weights", "weights");
}

/* FILE.safetensors has its results beside it, in FILE.expected.safetensors. */
static void expect_real(struct trial *t)
{
	static const struct tolerance tolerance = {2e-5, 0};
	ask_for(t, "context");
	ask_for(t, "weights");
	if (!run(t))
		return;
	int stem = (int)(strlen(t->path) - strlen(".safetensors"));
	const char *path = path_to("%.*s.expected.safetensors", stem, t->path);
	expect(t, "context", path, "context", tolerance);
	expect(t, "weights", path, "weights", tolerance);
}

/* A sentence; the weights of its layer are in a file of their own. */
static void run_sentence(struct trial *t)
{
	const char *layer = strstr(t->name, "-layer");
	int directory = (int)(strrchr(t->path, '/') - t->path);
	add_word(t, "%s", t->path);
	add_word(t, "%.*s/layer%c-weights.safetensors", directory, t->path, layer ? layer[6] : '?');
	expect_real(t);
}

/* A file with both Q, K, V and what they were projected from. */
static void run_precomputed(struct trial *t)
{
	for (const char *role = "qkv"; *role; role++)
		add_word(t, "%c=%s:%c", *role, t->path, *role);
	add_word(t, "--causal");
	expect_real(t);
}

/* The same from the embeddings, so that q and k have to be rotated. */
static void run_rotary(struct trial *t)
{
	static const char *const names[] = {"embeddings", "wq", "wk", "wv"};
	static const char *const options[] = {"--causal", "--num-heads=8", "--num-kv-heads=4", "--rope=10000",
					      "--rope-style=interleaved"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_word(t, "%s=%s", names[i], t->path);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		add_word(t, "%s", options[i]);
	expect_real(t);
}

static void run_whole(struct trial *t)
{
	add_word(t, "%s", t->path);
	expect_real(t);
}

struct suite {
	const char *name, *directory;
	bool shared;         /* below ATTN_SHARED */
	size_t cases;        /* how many there are: none may go missing unseen */
	const char *pattern; /* of the entries that are cases */
	void (*run)(struct trial *t);
};

static const struct suite suites[] = {
    {"torch-mha", "tests/data/torch-mha", false, 24, "*_*", run_torch},
    {"onnx-attention", "tests/data/onnx-attention", false, 52, "attention_*", run_onnx},
    {"use-lite", "real/use-lite", true, 6, "*-layer[0-9].safetensors", run_sentence},
    {"stories260K", "real/stories260K", true, 5, "*-layer[0-9].safetensors", run_precomputed},
    {"stories260K rotary", "real/stories260K", true, 5, "*-layer[0-9].safetensors", run_rotary},
    {"aren", "real/aren-transliteration", true, 12, "*-layer[0-9].safetensors", run_whole},
};

/* The case.json of a directory; NULL for a file. */
static cJSON *read_spec(const char *path)
{
	struct file_bytes bytes;
	cJSON *spec = NULL;
	if (file_bytes_open(&bytes, path_to("%s/case.json", path), NULL) == ATTN_OK) {
		spec = cJSON_ParseWithLength((const char *)bytes.data, bytes.length);
		file_bytes_release(&bytes);
	}
	return spec;
}

/* Leave scratch empty, so that no case can read what another wrote. */
static void clear_scratch(void)
{
	DIR *directory = opendir(scratch);
	struct dirent *entry;
	if (!directory)
		give_up(scratch);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' || entry->d_type == DT_REG)
			unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
}

static bool run_case(const struct suite *suite, const char *directory, const char *name)
{
	char *path;
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		give_up("a path");
	struct trial t = {.suite = suite->name, .name = name, .path = path, .spec = read_spec(path)};
	add_word(&t, "%s", program);
	add_word(&t, "run");
	suite->run(&t);
	for (size_t i = 0; i < t.word_count; i++)
		free(t.words[i]);
	cJSON_Delete(t.spec);
	free(path);
	clear_scratch();
	return !t.failed;
}

struct tally {
	size_t passed, failed, skipped;
};

static void run_suite(const struct suite *suite, const char *shared, struct tally *tally)
{
	char directory[MAX_PATH];
	struct dirent **entries;
	size_t found = 0;
	snprintf(directory, sizeof directory, "%s%s%s", suite->shared ? shared : "", suite->shared ? "/" : "",
		 suite->directory);
	int count = scandir(directory, &entries, NULL, alphasort);
	if (count < 0 && suite->shared && errno == ENOENT) {
		printf("SKIP: %zu cases of %s: there is no %s\n", suite->cases, suite->name, directory);
		tally->skipped += suite->cases;
		return;
	}
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (fnmatch(suite->pattern, name, FNM_PERIOD) == 0) {
			bool passed = run_case(suite, directory, name);
			tally->passed += passed;
			tally->failed += !passed;
			found++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (found != suite->cases) {
		printf("FAIL %s: %zu cases in %s, expected %zu\n", suite->name, found, directory,
		       suite->cases);
		tally->failed++;
	}
}

int main(void)
{
	const char *shared = getenv("ATTN_SHARED");
	struct tally tally = {0};
	program = getenv("ATTN");
	if (!program)
		program = "./attn";
	if (!mkdtemp(scratch))
		give_up(scratch);
	for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
		run_suite(&suites[i], shared ? shared : "../shared", &tally);
	rmdir(scratch);
	printf("%zu passed, %zu failed, %zu skipped\n", tally.passed, tally.failed, tally.skipped);
	return tally.failed > 0;
}
