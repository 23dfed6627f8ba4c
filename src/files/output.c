#include "files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STREAM_BUFFER = 1 << 18, /* bytes a write */
	MAX_LINKS = 40,          /* as the kernel has it */
	NAME_KEPT = 200,         /* bytes of a name in its temporary's: NAME_MAX is 255 */
	SHOWN_SIZE = 800,        /* of a path in a message */
};

struct output_file {
	int fd;
	int error;       /* errno of the first failed write */
	bool abandoned;  /* nobody reads any more: drop what is written */
	char *final;     /* the name to rename to; NULL when written in place */
	char *temporary; /* the name until then */
	bool registered;
	struct output_file *next, **link; /* in the registry, under its lock */
	char *buffer;                     /* of the stream */
};

/* The registry of temporaries.  Who holds the lock has all signals blocked, so a
 * handler that waits for it waits for another thread, which goes on. */
static struct output_file *registry;
static atomic_flag registry_busy = ATOMIC_FLAG_INIT;

static void lock_registry(sigset_t *saved)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, saved);
	while (atomic_flag_test_and_set_explicit(&registry_busy, memory_order_acquire))
		;
}

static void unlock_registry(const sigset_t *saved)
{
	int kept = errno;
	atomic_flag_clear_explicit(&registry_busy, memory_order_release);
	pthread_sigmask(SIG_SETMASK, saved, NULL);
	errno = kept;
}

void output_remove_temporaries(void)
{
	sigset_t saved;
	int kept = errno;
	lock_registry(&saved);
	for (const struct output_file *file = registry; file; file = file->next)
		unlink(file->temporary);
	unlock_registry(&saved);
	errno = kept;
}

static void unregister(struct output_file *file)
{
	sigset_t saved;
	lock_registry(&saved);
	*file->link = file->next;
	if (file->next)
		file->next->link = file->link;
	file->registered = false;
	unlock_registry(&saved);
}

/* Create the temporary and register it in one step, as a signal sees it. */
static int open_registered(struct output_file *file)
{
	sigset_t saved;
	lock_registry(&saved);
	file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd >= 0) {
		file->next = registry;
		file->link = &registry;
		if (registry)
			registry->link = &file->next;
		registry = file;
		file->registered = true;
	}
	unlock_registry(&saved);
	return file->fd;
}

/* ".NAME.XXXXXX" in the directory of `path`; NULL when there is no memory. */
static char *temporary_name(const char *path)
{
	static const char digits[33] = "abcdefghijklmnopqrstuvwxyz012345";
	const char *slash = strrchr(path, '/');
	size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
	const char *name = path + directory;
	size_t length = strlen(name);
	if (length > NAME_KEPT) {
		length = NAME_KEPT;
		while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
			length--; /* not inside a character: some file systems mind */
	}
	unsigned char random[6] = {0};
	if (getrandom(random, sizeof random, 0) < 0)
		random[0] = (unsigned char)getpid(); /* names need to differ, not to be secret */
	char suffix[sizeof random + 1] = "";
	for (size_t i = 0; i < sizeof random; i++)
		suffix[i] = digits[random[i] % 32];
	char *text = NULL;
	if (asprintf(&text, "%.*s.%.*s.%s", (int)directory, path, (int)length, name, suffix) < 0)
		return NULL;
	return text;
}

/* Open a new file beside file->final, with the mode of `old` if there is one.
 * mkostemp would make it 0600 and leave the umask to us, which no thread can ask
 * for safely; open() applies it, and a directory's default ACL. */
static int open_temporary(struct output_file *file, const struct stat *old)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		free(file->temporary);
		file->temporary = temporary_name(file->final);
		if (!file->temporary) {
			errno = ENOMEM;
			return -1;
		}
		if (open_registered(file) >= 0 || errno != EEXIST)
			break;
	}
	if (file->fd >= 0 && old) {
		/* As if written in place.  Only root may give a file away, but that opens it
		 * to nobody; another group must not get the old one's rights. */
		bool same_group = fchown(file->fd, (uid_t)-1, old->st_gid) == 0;
		(void)!fchown(file->fd, old->st_uid, (gid_t)-1);
		fchmod(file->fd, old->st_mode & (same_group ? 0777 : 0707));
	}
	return file->fd;
}

/* What `path` names in the end, though it may not exist yet: realpath() would
 * not say.  NULL with errno on failure; else the caller frees it. */
static char *follow_links(const char *path)
{
	char *current = strdup(path);
	for (int links = 0; current && links < MAX_LINKS; links++) {
		char target[PATH_MAX];
		ssize_t length = readlink(current, target, sizeof target - 1);
		if (length < 0)
			return current;
		target[length] = '\0';
		const char *slash = strrchr(current, '/');
		size_t directory = slash && target[0] != '/' ? (size_t)(slash - current) + 1 : 0;
		char *next = NULL;
		if (asprintf(&next, "%.*s%s", (int)directory, current, target) < 0)
			next = NULL;
		free(current);
		current = next;
	}
	errno = current ? ELOOP : ENOMEM;
	free(current);
	return NULL;
}

/* The name that `path` has in the end, by its real directory where there is one;
 * NULL on failure. */
static char *settled_path(const char *path)
{
	char *final = follow_links(path);
	if (!final)
		return NULL;
	char *slash = strrchr(final, '/');
	const char *name = slash ? slash + 1 : final;
	char *text = NULL, *directory;
	if (slash)
		*slash = '\0';
	directory = realpath(!slash ? "." : *final ? final : "/", NULL);
	if (asprintf(&text, "%s/%s", directory ? directory : final, name) < 0)
		text = NULL;
	free(directory);
	free(final);
	return text;
}

bool output_same_file(const char *a, const char *b)
{
	struct stat st;
	if (stat(a, &st) == 0 && !S_ISREG(st.st_mode))
		return false;
	char *settled_a = settled_path(a), *settled_b = settled_path(b);
	bool same = settled_a && settled_b && strcmp(settled_a, settled_b) == 0;
	free(settled_a);
	free(settled_b);
	return same;
}

static bool same_file(const char *path, const struct stat *known)
{
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == known->st_dev && st.st_ino == known->st_ino;
}

/* Open what `path` names; -1 with errno on failure. */
static int open_path(struct output_file *file, const char *path)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (!exists || S_ISREG(st.st_mode)) {
		file->final = follow_links(path);
		if (!file->final)
			return -1;
		/* Renaming asks only for a writable directory; respect the file's mode too. */
		if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
			return -1;
		if (!exists || same_file(file->final, &st))
			return open_temporary(file, exists ? &st : NULL);
		/* /dev/fd/N of a file without a name */
		free(file->final);
		file->final = NULL;
	}
	file->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	return file->fd;
}

/* The stream's write function.  Returns 0 on failure, as fopencookie wants. */
static ssize_t write_stream(void *cookie, const char *bytes, size_t length)
{
	struct output_file *file = cookie;
	size_t done = 0;
	while (done < length && !file->abandoned && !file->error) {
		ssize_t count = write(file->fd, bytes + done, length - done);
		if (count > 0) {
			done += (size_t)count;
		} else if (count < 0 && errno == EAGAIN) {
			/* Standard output may be shared with somebody who made it non-blocking. */
			struct pollfd ready = {.fd = file->fd, .events = POLLOUT};
			poll(&ready, 1, -1);
		} else if (count < 0 && errno == EPIPE) {
			file->abandoned = true;
		} else if (count == 0 || errno != EINTR) {
			file->error = count == 0 ? EIO : errno;
		}
	}
	if (file->error) {
		errno = file->error;
		return 0;
	}
	return (ssize_t)length;
}

static void discard(struct output *out)
{
	struct output_file *file = out->file;
	if (out->stream) {
		file->abandoned = true;
		fclose(out->stream);
	}
	if (file) {
		if (file->registered) {
			unlink(file->temporary);
			unregister(file);
		}
		if (file->fd >= 0)
			close(file->fd);
		free(file->temporary);
		free(file->final);
		free(file->buffer);
		free(file);
	}
	free(out->path);
	*out = (struct output){0};
}

/* How messages call an output: standard output, or 'PATH'. */
static const char *shown(const char *path, char *text, size_t size)
{
	if (strcmp(path, "-") == 0)
		return "standard output";
	snprintf(text, size, "'%s'", path);
	return text;
}

static enum attn_status fail_write(const char *path, int error, struct attn_error *err)
{
	char text[SHOWN_SIZE];
	if (error == ENOMEM)
		return attn_fail_memory(err);
	if (error == EISDIR)
		return attn_fail(err, ATTN_FAILED, "could not write %s: it is a directory",
				 shown(path, text, sizeof text));
	errno = error;
	return attn_fail_errno(err, ATTN_FAILED, "could not write %s", shown(path, text, sizeof text));
}

static bool names_standard_output(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static int open_descriptor(struct output_file *file, const char *path)
{
	if (!names_standard_output(path))
		return open_path(file, path);
	fflush(stdout); /* what was printed before comes first; main checks stdout itself */
	/* A copy, so that closing it tells of a full disk on NFS. */
	file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return file->fd;
}

enum attn_status output_open(struct output *out, const char *path, bool binary, struct attn_error *err)
{
	*out = (struct output){0};
	if (path[0] == '\0')
		return attn_fail(err, ATTN_USAGE, "the name of an output file is empty");
	out->path = strdup(names_standard_output(path) ? "-" : path);
	struct output_file *file = out->file = calloc(1, sizeof *file);
	if (file) {
		file->fd = -1;
		file->buffer = malloc(STREAM_BUFFER);
	}
	if (!out->path || !file || !file->buffer) {
		discard(out);
		return attn_fail_memory(err);
	}
	if (open_descriptor(file, path) < 0) {
		int error = errno;
		enum attn_status status = fail_write(out->path, error, err);
		discard(out);
		return status;
	}
	if (binary && isatty(file->fd)) {
		char text[SHOWN_SIZE];
		attn_fail(err, ATTN_USAGE, "%s is a terminal: give a file, or pipe it",
			  shown(out->path, text, sizeof text));
		discard(out);
		return ATTN_USAGE;
	}
	out->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_stream});
	if (!out->stream) {
		discard(out);
		return attn_fail_memory(err);
	}
	setvbuf(out->stream, file->buffer, _IOFBF, STREAM_BUFFER);
	return ATTN_OK;
}

enum attn_status output_write(struct output *out, const void *bytes, size_t length, struct attn_error *err)
{
	if (fwrite(bytes, 1, length, out->stream) == length)
		return ATTN_OK;
	return fail_write(out->path, out->file->error ? out->file->error : errno, err);
}

bool output_abandoned(const struct output *out)
{
	return out->file->abandoned;
}

bool output_can_patch(const struct output *out)
{
	return out->file->temporary != NULL;
}

enum attn_status output_patch(struct output *out, uint64_t offset, const void *bytes, size_t length,
			      struct attn_error *err)
{
	fflush(out->stream);
	const char *from = bytes;
	while (length > 0 && !out->file->error) {
		ssize_t count = pwrite(out->file->fd, from, length, (off_t)offset);
		if (count > 0) {
			from += count;
			offset += (uint64_t)count;
			length -= (size_t)count;
		} else if (count == 0 || errno != EINTR) {
			out->file->error = count == 0 ? EIO : errno;
		}
	}
	return out->file->error ? fail_write(out->path, out->file->error, err) : ATTN_OK;
}

enum attn_status output_finish(struct output *out, struct attn_error *err)
{
	struct output_file *file = out->file;
	if (out->stream) {
		FILE *stream = out->stream;
		out->stream = NULL;
		if (fclose(stream) != 0 && !file->error)
			file->error = errno;
		free(file->buffer);
		file->buffer = NULL;
		if (!file->error && file->temporary)
			sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* only a hint */
	}
	return file->error ? fail_write(out->path, file->error, err) : ATTN_OK;
}

/* So that the name stays, too.  The file is there and whole: what can't be synced is no failure. */
static void sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

/* Returns 0, or an errno. */
static int sync_and_rename(struct output_file *file)
{
	/* Some file systems cannot sync, and say so. */
	if (file->temporary && fsync(file->fd) != 0 && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
		return errno;
	int fd = file->fd;
	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR)
		return errno;
	if (file->temporary) {
		if (rename(file->temporary, file->final) != 0)
			return errno;
		unregister(file);
		sync_folder(file->final);
	}
	return 0;
}

enum attn_status output_commit(struct output *out, struct attn_error *err)
{
	enum attn_status status = output_finish(out, err);
	if (status == ATTN_OK) {
		int error = sync_and_rename(out->file);
		if (error)
			status = fail_write(out->path, error, err);
	}
	discard(out);
	return status;
}

void output_abort(struct output *out)
{
	discard(out);
}
