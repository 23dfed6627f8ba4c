/* From a folder, or a .safetensors file beside its config.json, to a checkpoint. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/weights_internal.h"
#include "util/minmax.h"

#define CONFIG_FILE "config.json"
#define WEIGHTS_FILE "model.safetensors"
#define CT2_FILE "model.bin"
#define INDEX_FILE "model.safetensors.index.json"

enum {
	MAX_INDEX = 64 << 20, /* bytes; 100,000 tensors take 10 MB */
};

char *folder_path(const char *folder, const char *name)
{
	size_t length = strlen(folder);
	bool slash = length == 0 || folder[length - 1] == '/';
	char *path = NULL;
	return asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0 ? NULL : path;
}

/* Also of a link to nothing, so that the message is about that. */
static bool is_there(const char *folder, const char *name)
{
	struct stat st;
	char *path = folder_path(folder, name);
	bool there = path && lstat(path, &st) == 0;
	free(path);
	return there;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), end = strlen(ending);
	return length >= end && strcmp(text + length - end, ending) == 0;
}

/* --- what is there instead ------------------------------------------------------------- */

/* How many names in a folder begin and end so; the first of them, in the order of bytes, into
 * name[256]. */
static size_t find_file(const char *folder, const char *beginning, const char *ending, char *name)
{
	DIR *directory = opendir(folder);
	size_t found = 0;
	if (!directory)
		return 0;
	for (struct dirent *entry; (entry = readdir(directory));) {
		const char *other = entry->d_name;
		if (other[0] == '.' || strncmp(other, beginning, strlen(beginning)) != 0 ||
		    !ends_with(other, ending))
			continue;
		if (found++ == 0 || strcmp(other, name) < 0)
			snprintf(name, 256, "%s", other);
	}
	closedir(directory);
	return found;
}

/* The command reads all parts of a checkpoint, and writes tensors that share memory apart. */
static enum attn_status fail_pickle(const char *folder, const char *name, struct attn_error *err)
{
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "'%.200s' has '%.60s', a pickle, which is not read because it may run code; convert it: python3 "
	    "-c \"import glob, sys, torch; from safetensors.torch import save_file; d = {k: v for f in "
	    "glob.glob(sys.argv[1] + '/pytorch_model*.bin') for k, v in torch.load(f, 'cpu', "
	    "weights_only=True).items()}; save_file({k: v.contiguous().clone() for k, v in d.items()}, "
	    "sys.argv[1] + '/" WEIGHTS_FILE "')\" '%.200s'",
	    folder, name, folder);
}

static enum attn_status fail_no_weights(const char *folder, struct attn_error *err)
{
	static const char *const others[][2] = {
	    {"tf_model", ".h5"}, {"flax_model", ".msgpack"}, {"", ".onnx"}, {"consolidated", ".pth"}};
	char name[256];
	if (find_file(folder, "pytorch_model", ".bin", name))
		return fail_pickle(folder, name, err);
	if (find_file(folder, "", ".safetensors", name) || find_file(folder, "", ".gguf", name))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' has no '" WEIGHTS_FILE "', did you mean '%.300s/%s'", folder,
				 folder, name);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (find_file(folder, others[i][0], others[i][1], name))
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%.300s' has its weights in '%s', which is not read, expected '" WEIGHTS_FILE
			    "', or its shards and '" INDEX_FILE "'",
			    folder, name);
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.300s' has no weights, expected '" WEIGHTS_FILE
			 "', or its shards and '" INDEX_FILE "'",
			 folder);
}

static enum attn_status fail_no_config(const char *folder, struct attn_error *err)
{
	char name[256];
	char *inside = is_there(folder, "snapshots") ? folder_path(folder, "snapshots") : NULL;
	bool cached = inside && find_file(inside, "", "", name) > 0;
	free(inside);
	if (cached)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' is a folder of a download cache, did you mean "
				 "'%.300s/snapshots/%s'",
				 folder, folder, name);
	if (is_there(folder, "adapter_config.json"))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' holds an adapter, which is not read by itself, expected a whole "
				 "model: merge it into its base model first",
				 folder);
	if (find_file(folder, "", ".gguf", name))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' has no '" CONFIG_FILE "', did you mean '%.300s/%s'", folder,
				 folder, name);
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.300s' has no '" CONFIG_FILE "', expected the folder of a model: '" CONFIG_FILE
			 "', '" WEIGHTS_FILE "', 'tokenizer.json'",
			 folder);
}

/* --- what there is --------------------------------------------------------------------- */

static enum attn_status open_config(struct checkpoint *cp, const char *folder, struct attn_error *err)
{
	char *path = folder_path(folder, CONFIG_FILE);
	enum attn_status status = path ? config_open(&cp->config, path, err) : attn_fail_memory(err);
	free(path);
	return status;
}

static enum attn_status open_index(struct checkpoint *cp, struct attn_error *err)
{
	struct file_bytes bytes = {0};
	char *path = folder_path(cp->path, INDEX_FILE);
	enum attn_status status =
	    path ? file_bytes_open_regular(&bytes, path, MAX_INDEX, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		status = checkpoint_read_index(cp, bytes.data, bytes.length, path, err);
	file_bytes_release(&bytes);
	free(path);
	return status;
}

/* A file that is not a folder's, but beside its config.json; `folder` is where it is. */
static enum attn_status open_beside(struct checkpoint *cp, const char *folder, struct attn_error *err)
{
	if (is_there(folder, INDEX_FILE) && !ends_with(cp->path, WEIGHTS_FILE))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s' is one of the files of a model, did you mean '%.300s'", cp->path,
				 folder);
	if (!is_there(folder, CONFIG_FILE))
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%.300s' has no '" CONFIG_FILE "' beside it, which says what model it is of", cp->path);
	TRY(open_config(cp, folder, err));
	return checkpoint_open_file(cp, strdup(cp->path), err);
}

/* A folder with a GGUF file and nothing else to read. */
static enum attn_status open_only(struct checkpoint *cp, const char *name, struct attn_error *err)
{
	char *path = folder_path(cp->path, name);
	enum attn_status status = path ? gguf_checkpoint_open(cp, path, err) : attn_fail_memory(err);
	free(path);
	return status;
}

static enum attn_status open_single(struct checkpoint *cp, struct attn_error *err)
{
	const char *slash = strrchr(cp->path, '/'), *name = slash ? slash + 1 : cp->path;
	char *folder = slash ? strndup(cp->path, size_max((size_t)(slash - cp->path), 1)) : strdup(".");
	enum attn_status status;
	if (!folder)
		return attn_fail_memory(err);
	if (ends_with(name, ".gguf"))
		status = gguf_checkpoint_open(cp, cp->path, err);
	else if (ends_with(name, ".safetensors"))
		status = open_beside(cp, folder, err);
	else if (ends_with(name, ".bin") && strncmp(name, "pytorch_model", 13) == 0)
		status = fail_pickle(folder, name, err);
	else if (is_there(folder, CONFIG_FILE))
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%.300s' is one of the files of a model, did you mean '%.300s'", cp->path,
				   folder);
	else
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%.300s' is no model, expected a folder with '" CONFIG_FILE
				   "' and '" WEIGHTS_FILE "', or a .gguf file",
				   cp->path);
	free(folder);
	return status;
}

/* Also newer ones, whose config.json is of other things. */
static bool is_ct2_folder(const char *folder)
{
	return is_there(folder, CT2_FILE) && !is_there(folder, WEIGHTS_FILE) &&
	       !is_there(folder, INDEX_FILE) &&
	       (is_there(folder, "target_vocabulary.txt") || is_there(folder, "shared_vocabulary.txt") ||
		is_there(folder, "target_vocabulary.json") || is_there(folder, "shared_vocabulary.json"));
}

enum attn_status folder_open(struct checkpoint *cp, struct attn_error *err)
{
	struct stat st;
	char name[256];
	if (stat(cp->path, &st) != 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not open '%.300s'", cp->path);
	if (!S_ISDIR(st.st_mode))
		return open_single(cp, err);
	if (is_ct2_folder(cp->path))
		return ct2_checkpoint_open(cp, cp->path, folder_path(cp->path, CT2_FILE), err);
	if (!is_there(cp->path, CONFIG_FILE))
		return find_file(cp->path, "", ".gguf", name) == 1 ? open_only(cp, name, err)
								   : fail_no_config(cp->path, err);
	TRY(open_config(cp, cp->path, err));
	if (is_there(cp->path, WEIGHTS_FILE))
		return checkpoint_open_file(cp, folder_path(cp->path, WEIGHTS_FILE), err);
	if (is_there(cp->path, INDEX_FILE))
		return open_index(cp, err);
	return fail_no_weights(cp->path, err);
}
