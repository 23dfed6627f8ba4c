/* Opening tokenizers. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/input.h"
#include "files/json_internal.h"
#include "tokenizer/fields.h"
#include "tokenizer/tokenizer_internal.h"

enum attn_status tokenizer_read_json(const char *path, cJSON **root, struct attn_error *err)
{
	struct file_bytes bytes;
	*root = NULL;
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status;
	if (bytes.length > TOKENIZER_MAX_FILE)
		status = attn_fail(err, ATTN_BAD_INPUT, "%zu bytes, expected at most %zu", bytes.length,
				   TOKENIZER_MAX_FILE);
	else
		status = json_text_parse(bytes.data, bytes.length, root, err);
	file_bytes_release(&bytes);
	if (status == ATTN_OK && !cJSON_IsObject(*root)) {
		status = attn_fail(err, ATTN_BAD_INPUT, "the document is %s, expected an object",
				   json_kind(*root));
		cJSON_Delete(*root);
		*root = NULL;
	}
	if (status != ATTN_OK)
		attn_error_prefix(err, path);
	return status;
}

static bool is_known(const void *context, size_t id)
{
	return tokenizer_token(context, id) != NULL;
}

static enum attn_status parse_key(struct tokenizer *t, const cJSON *root, const char *key,
				  struct attn_error *err)
{
	const cJSON *value = field_get(root, key);
	enum attn_status status;
	if (strcmp(key, "normalizer") == 0)
		status = normalizer_parse(&t->normalizers, value, err);
	else if (strcmp(key, "pre_tokenizer") == 0)
		status = pretokenizer_parse(&t->pretokenizers, value, err);
	else if (strcmp(key, "added_tokens") == 0)
		status = added_parse(&t->added, value, t->algorithm, &t->normalizers, err);
	else
		status = postprocessor_parse(&t->post, value, is_known, t, err);
	if (status != ATTN_OK)
		attn_error_prefix(err, key);
	return status;
}

enum attn_status tokenizer_parse(struct tokenizer *t, const cJSON *root, struct attn_error *err)
{
	/* Each needs what was read before it. */
	static const char *const keys[] = {"normalizer", "pre_tokenizer", "added_tokens", "post_processor"};
	if (!t->algorithm)
		TRY(algorithm_parse(&t->algorithm, field_get(root, "model"), err));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		TRY(parse_key(t, root, keys[i], err));
	return ATTN_OK;
}

static enum attn_status open_json(struct tokenizer *t, const char *path, struct attn_error *err)
{
	cJSON *root;
	TRY(tokenizer_read_json(path, &root, err));
	enum attn_status status = tokenizer_parse(t, root, err);
	cJSON_Delete(root);
	if (status != ATTN_OK)
		attn_error_prefix(err, path);
	return status;
}

static bool has_file(const char *folder, const char *name)
{
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/%s", folder, name);
	bool found = !path.failed && access(path.data, F_OK) == 0;
	buffer_release(&path);
	return found;
}

/* What SentencePiece models are called. */
static const char *const models[] = {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model",
				     "spm.model", "source.spm"};

/* Vocabularies of CTranslate2: that of a text that is read first. */
static const char *const vocabularies[] = {"source_vocabulary.txt", "shared_vocabulary.txt",
					   "target_vocabulary.txt"};

static enum attn_status open_vocabulary(struct tokenizer *t, const char *folder, const char *name,
					struct attn_error *err)
{
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/%s", folder, name);
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : tokenizer_read_vocabulary(t, path.data, err);
	buffer_release(&path);
	return status;
}

static enum attn_status open_folder(struct tokenizer *t, const char *folder, struct attn_error *err)
{
	if (has_file(folder, "tokenizer.json")) {
		struct buffer path = BUFFER_INIT;
		buffer_printf(&path, "%s/tokenizer.json", folder);
		enum attn_status status = path.failed ? attn_fail_memory(err) : open_json(t, path.data, err);
		buffer_release(&path);
		return status;
	}
	if (has_file(folder, "vocab.txt"))
		return tokenizer_read_wordpiece(t, folder, err);
	if (has_file(folder, "vocab.json") && has_file(folder, "merges.txt"))
		return tokenizer_read_bpe(t, folder, err);
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (has_file(folder, models[i]))
			return tokenizer_read_pieces(t, folder, models[i], err);
	for (size_t i = 0; i < 2; i++)
		if (has_file(folder, vocabularies[i]))
			return open_vocabulary(t, folder, vocabularies[i], err);
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "'%s' has no tokenizer, expected tokenizer.json, vocab.txt, vocab.json and merges.txt, or "
	    "a SentencePiece model",
	    folder);
}

/* One of the older files stands for its folder. */
static enum attn_status open_file(struct tokenizer *t, const char *path, struct attn_error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool wordpiece = strcmp(name, "vocab.txt") == 0;
	bool pieces = strcmp(name, "source.spm") == 0 || strcmp(name, "target.spm") == 0;
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
		if (strcmp(name, vocabularies[i]) == 0)
			return tokenizer_read_vocabulary(t, path, err);
	if (length >= 6 && strcmp(name + length - 6, ".model") == 0)
		return tokenizer_read_sentencepiece(t, path, err);
	if (length >= 5 && strcmp(name + length - 5, ".gguf") == 0)
		return tokenizer_read_gguf(t, path, err);
	if (!wordpiece && !pieces && strcmp(name, "vocab.json") != 0 && strcmp(name, "merges.txt") != 0)
		return open_json(t, path, err);
	char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!folder)
		return attn_fail_memory(err);
	enum attn_status status = wordpiece ? tokenizer_read_wordpiece(t, folder, err)
				  : pieces  ? tokenizer_read_pieces(t, folder, name, err)
					    : tokenizer_read_bpe(t, folder, err);
	free(folder);
	return status;
}

enum attn_status tokenizer_open_target(struct tokenizer **out, const char *path, struct attn_error *err)
{
	static const char *const names[] = {"target.spm", "target_vocabulary.txt"};
	*out = NULL;
	if (has_file(path, "tokenizer.json"))
		return ATTN_OK;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!has_file(path, names[i]))
			continue;
		struct buffer target = BUFFER_INIT;
		buffer_printf(&target, "%s/%s", path, names[i]);
		enum attn_status status =
		    target.failed ? attn_fail_memory(err) : tokenizer_open(out, target.data, err);
		buffer_release(&target);
		return status;
	}
	return ATTN_OK;
}

enum attn_status tokenizer_open(struct tokenizer **out, const char *path, struct attn_error *err)
{
	struct attn_error unused;
	struct stat st;
	struct tokenizer *t = calloc(1, sizeof *t);
	*out = NULL;
	err = err ? err : &unused;
	if (!t)
		return attn_fail_memory(err);
	bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	enum attn_status status = folder ? open_folder(t, path, err) : open_file(t, path, err);
	if (status == ATTN_OK)
		*out = t;
	else
		tokenizer_free(t);
	return status;
}
