/* The whole of a file in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/input.h"

/* Standard input can be read once by a process, whoever asks. */
static bool stdin_taken;

typedef bool (*hopeless_test)(const unsigned char *data, size_t length);

static enum attn_status read_to_end(int fd, const char *path, struct file_bytes *bytes,
				    hopeless_test hopeless, struct attn_error *err)
{
	size_t capacity = 0;
	for (;;) {
		if (bytes->length == capacity) {
			size_t larger = capacity ? capacity + capacity / 2 : STREAM_BEGINNING;
			if (capacity == STREAM_BEGINNING && hopeless && hopeless(bytes->data, capacity))
				return ATTN_OK; /* whoever parses it says why */
			unsigned char *data = larger > capacity ? realloc(bytes->data, larger) : NULL;
			if (!data)
				return attn_fail_memory(err);
			bytes->data = data;
			capacity = larger;
		}
		ssize_t got = read(fd, bytes->data + bytes->length, capacity - bytes->length);
		if (got == 0)
			return ATTN_OK;
		if (got > 0)
			bytes->length += (size_t)got;
		else if (errno != EINTR)
			return attn_fail_errno(err, ATTN_FAILED, "could not read '%s'", path);
	}
}

/* A directory that attn run made holds the file that was meant. */
static enum attn_status fail_directory(const char *path, struct attn_error *err)
{
	static const char name[] = "attention.safetensors";
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	char inside[300];
	int length = snprintf(inside, sizeof inside, "%s%s%s", path, slash, name);
	if (length < (int)sizeof inside && access(inside, F_OK) == 0)
		return attn_fail(err, ATTN_FAILED, "'%s' is a directory, did you mean '%s'", path, inside);
	return attn_fail(err, ATTN_FAILED, "'%s' is a directory, expected a file", path);
}

static enum attn_status load(int fd, const char *path, struct file_bytes *bytes, hopeless_test hopeless,
			     struct attn_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return fail_directory(path, err);
	/* Files of /proc are regular, and say 0 bytes. */
	bool whole = S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
	if (whole && (uintmax_t)st.st_size <= SIZE_MAX) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			*bytes = (struct file_bytes){map, (size_t)st.st_size, true};
			return ATTN_OK;
		}
	}
	return read_to_end(fd, path, bytes, hopeless, err);
}

static enum attn_status open_any(struct file_bytes *bytes, const char *path, hopeless_test hopeless,
				 struct attn_error *err)
{
	*bytes = (struct file_bytes){0};
	bool standard = strcmp(path, "-") == 0;
	if (standard && stdin_taken)
		return attn_fail(err, ATTN_USAGE, "standard input ('-') may be given only once");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not open '%s'", path);
	stdin_taken |= standard;
	enum attn_status status = load(fd, standard ? "standard input" : path, bytes, hopeless, err);
	if (!standard)
		close(fd);
	if (status != ATTN_OK)
		file_bytes_release(bytes);
	return status;
}

enum attn_status file_bytes_open_text(struct file_bytes *bytes, const char *path, struct attn_error *err)
{
	return open_any(bytes, path, NULL, err);
}

static enum attn_status refuse_empty(struct file_bytes *bytes, const char *name, struct attn_error *err)
{
	if (bytes->length > 0)
		return ATTN_OK;
	file_bytes_release(bytes);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' is empty", name);
}

enum attn_status file_bytes_open(struct file_bytes *bytes, const char *path, struct attn_error *err)
{
	return file_bytes_open_unless(bytes, path, NULL, err);
}

enum attn_status file_bytes_open_unless(struct file_bytes *bytes, const char *path, hopeless_test hopeless,
					struct attn_error *err)
{
	TRY(open_any(bytes, path, hopeless, err));
	return refuse_empty(bytes, strcmp(path, "-") == 0 ? "standard input" : path, err);
}

enum attn_status file_bytes_open_regular(struct file_bytes *bytes, const char *path, size_t most,
					 struct attn_error *err)
{
	struct stat st;
	*bytes = (struct file_bytes){0};
	/* Before it is opened, since opening a pipe waits for its writer. */
	if (stat(path, &st) != 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not open '%s'", path);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return attn_fail(err, ATTN_FAILED,
				 "'%s' is a device, pipe or socket, expected a regular file", path);
	if (st.st_size > 0 && (uintmax_t)st.st_size > most)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %ju bytes, expected at most %zu", path,
				 (uintmax_t)st.st_size, most);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not open '%s'", path);
	enum attn_status status = load(fd, path, bytes, NULL, err);
	close(fd);
	if (status == ATTN_OK)
		return refuse_empty(bytes, path, err);
	file_bytes_release(bytes);
	return status;
}

void file_bytes_release(struct file_bytes *bytes)
{
	if (bytes->mapped)
		munmap(bytes->data, bytes->length);
	else
		free(bytes->data);
	*bytes = (struct file_bytes){0};
}
