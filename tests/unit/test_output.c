#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/output.h"

static char folder[] = "/tmp/test_output.XXXXXX";

/* Each test starts in an empty directory of its own. */
static int enter(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	char command[100];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void make_file(const char *path, const char *content)
{
	FILE *stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(content, stream);
	assert_int_equal(fclose(stream), 0);
}

static void assert_content(const char *path, const char *content)
{
	char found[1000] = "";
	FILE *stream = fopen(path, "r");
	assert_non_null(stream);
	found[fread(found, 1, sizeof found - 1, stream)] = '\0';
	fclose(stream);
	assert_string_equal(found, content);
}

/* Entries of the current directory, hidden ones too. */
static int count_entries(void)
{
	int count = -2;
	DIR *directory = opendir(".");
	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void write_file(const char *path, const char *content)
{
	struct output out;
	struct attn_error err;
	assert_int_equal(output_open(&out, path, true, &err), ATTN_OK);
	fputs(content, out.stream);
	assert_int_equal(output_commit(&out, &err), ATTN_OK);
	assert_null(out.path);
}

static void test_appears_at_commit(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	make_file("result", "old");
	assert_int_equal(output_open(&out, "result", true, &err), ATTN_OK);
	assert_string_equal(out.path, "result");
	fputs("new", out.stream);
	fflush(out.stream);
	assert_content("result", "old");
	assert_int_equal(count_entries(), 2);
	assert_int_equal(output_commit(&out, &err), ATTN_OK);
	assert_content("result", "new");
	assert_int_equal(count_entries(), 1);
}

static void test_finish_then_commit(void **state)
{
	(void)state;
	struct output a, b;
	struct attn_error err;
	assert_int_equal(output_open(&a, "a", true, &err), ATTN_OK);
	assert_int_equal(output_open(&b, "b", true, &err), ATTN_OK);
	fputs("1", a.stream);
	fputs("2", b.stream);
	assert_int_equal(output_finish(&a, &err), ATTN_OK);
	assert_int_equal(output_finish(&b, &err), ATTN_OK);
	assert_int_equal(access("a", F_OK), -1);
	assert_int_equal(output_commit(&a, &err), ATTN_OK);
	assert_content("a", "1");
	output_abort(&b);
	assert_int_equal(count_entries(), 1);
}

static void test_abort(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	make_file("result", "old");
	assert_int_equal(output_open(&out, "result", true, &err), ATTN_OK);
	fputs("new", out.stream);
	output_abort(&out);
	output_abort(&out);
	assert_content("result", "old");
	assert_int_equal(count_entries(), 1);
}

static void test_mode(void **state)
{
	(void)state;
	struct stat st;
	mode_t mask = umask(027);
	write_file("new", "x");
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	make_file("private", "x");
	chmod("private", 0600);
	umask(0);
	write_file("private", "y");
	assert_int_equal(stat("private", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	umask(mask);
}

static void test_read_only_file(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	bool root = geteuid() == 0; /* may write everywhere, so somebody else tries */
	make_file("result", "kept");
	chmod("result", 0444);
	chmod(folder, 0777);
	assert_true(!root || seteuid(65534) == 0);
	enum attn_status status = output_open(&out, "result", true, &err);
	assert_true(!root || seteuid(0) == 0);
	assert_int_equal(status, ATTN_FAILED);
	assert_string_equal(err.message, "could not write 'result': Permission denied");
	assert_content("result", "kept");
}

static void test_long_name(void **state)
{
	(void)state;
	char name[256];
	for (size_t i = 0; i < 254; i += 2)
		memcpy(name + i, "\xc3\xa9", 3);
	write_file(name, "x");
	assert_content(name, "x");
}

static void test_symlinks(void **state)
{
	(void)state;
	struct stat st;
	struct output out;
	struct attn_error err;
	assert_int_equal(mkdir("there", 0777), 0);
	make_file("there/real", "old");
	assert_int_equal(symlink("real", "there/hop"), 0);
	assert_int_equal(symlink("there/hop", "link"), 0);
	write_file("link", "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content("there/real", "new");

	assert_int_equal(symlink("there/fresh", "dangling"), 0);
	write_file("dangling", "made");
	assert_content("there/fresh", "made");

	assert_int_equal(symlink("circle", "circle"), 0);
	assert_int_equal(output_open(&out, "circle", true, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write 'circle': Too many levels of symbolic links");
}

static void test_refused(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	assert_int_equal(output_open(&out, ".", true, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write '.': it is a directory");
	assert_int_equal(output_open(&out, "missing/x", true, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write 'missing/x': No such file or directory");
	assert_int_equal(output_open(&out, "", true, &err), ATTN_USAGE);
	assert_null(out.stream);
	output_abort(&out);
	assert_int_equal(count_entries(), 0);
}

static void test_devices(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	write_file("/dev/null", "x");
	assert_int_equal(access("/dev/null", F_OK), 0);

	assert_int_equal(output_open(&out, "/dev/full", true, &err), ATTN_OK);
	assert_false(output_can_patch(&out));
	fputs("x", out.stream);
	assert_int_equal(output_commit(&out, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write '/dev/full': No space left on device");
}

/* The reason survives though nobody looked at fwrite's result. */
static void test_reason_is_remembered(void **state)
{
	(void)state;
	static char block[1 << 20];
	struct output out;
	struct attn_error err;
	assert_int_equal(output_open(&out, "/dev/full", true, &err), ATTN_OK);
	assert_int_equal(fwrite(block, 1, sizeof block, out.stream), 0);
	errno = 0;
	assert_int_equal(output_write(&out, block, sizeof block, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write '/dev/full': No space left on device");
	assert_int_equal(output_commit(&out, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write '/dev/full': No space left on device");
}

static void test_failure_leaves_old_file(void **state)
{
	(void)state;
	static char block[1 << 20];
	struct rlimit saved, small;
	struct output out;
	struct attn_error err;
	make_file("result", "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &saved), 0);
	small = saved;
	small.rlim_cur = 4096;
	assert_int_equal(output_open(&out, "result", true, &err), ATTN_OK);
	setrlimit(RLIMIT_FSIZE, &small);
	fwrite(block, 1, sizeof block, out.stream);
	enum attn_status status = output_commit(&out, &err);
	setrlimit(RLIMIT_FSIZE, &saved);
	assert_int_equal(status, ATTN_FAILED);
	assert_string_equal(err.message, "could not write 'result': File too large");
	assert_content("result", "old");
	assert_int_equal(count_entries(), 1);
}

static void test_patch(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	assert_int_equal(output_open(&out, "result", true, &err), ATTN_OK);
	assert_true(output_can_patch(&out));
	fputs("a????f", out.stream);
	assert_int_equal(output_patch(&out, 1, "bcde", 4, &err), ATTN_OK);
	fputs("g", out.stream);
	assert_int_equal(output_commit(&out, &err), ATTN_OK);
	assert_content("result", "abcdefg");
}

static void test_fifo(void **state)
{
	(void)state;
	struct stat st;
	char found[10] = "";
	assert_int_equal(mkfifo("pipe", 0600), 0);
	int reader = open("pipe", O_RDONLY | O_NONBLOCK);
	write_file("pipe", "through");
	assert_int_equal(read(reader, found, sizeof found - 1), 7);
	assert_string_equal(found, "through");
	close(reader);
	assert_int_equal(stat("pipe", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_entries(), 1);
}

/* Put `fd` in the place of standard output; returns what was there. */
static int replace_stdout(int fd)
{
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	return saved;
}

static void restore_stdout(int saved)
{
	dup2(saved, STDOUT_FILENO);
	close(saved);
}

static void test_standard_output(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	int fd = open("caught", O_WRONLY | O_CREAT, 0666);
	int saved = replace_stdout(fd);
	close(fd);
	write_file("-", "one ");
	write_file("/dev/stdout", "two");
	assert_int_equal(output_open(&out, "-", true, &err), ATTN_OK);
	fputs("dropped", out.stream);
	output_abort(&out);
	restore_stdout(saved);
	assert_content("caught", "one two");
	assert_int_equal(count_entries(), 1);
}

static void test_standard_output_full(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	int fd = open("/dev/full", O_WRONLY);
	int saved = replace_stdout(fd);
	close(fd);
	enum attn_status opened = output_open(&out, "-", true, &err);
	fputs("x", out.stream);
	enum attn_status committed = output_commit(&out, &err);
	restore_stdout(saved);
	assert_int_equal(opened, ATTN_OK);
	assert_int_equal(committed, ATTN_FAILED);
	assert_string_equal(err.message, "could not write standard output: No space left on device");
}

static void test_closed_standard_output(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	close(STDOUT_FILENO);
	enum attn_status status = output_open(&out, "-", true, &err);
	restore_stdout(saved);
	assert_int_equal(status, ATTN_FAILED);
	assert_string_equal(err.message, "could not write standard output: Bad file descriptor");
}

static void test_closed_pipe(void **state)
{
	(void)state;
	static char block[1 << 20];
	struct output out;
	struct attn_error err;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	int saved = replace_stdout(ends[1]);
	close(ends[1]);
	enum attn_status opened = output_open(&out, "-", true, &err);
	bool abandoned_before = output_abandoned(&out);
	enum attn_status first = output_write(&out, block, sizeof block, &err);
	bool abandoned_after = output_abandoned(&out);
	enum attn_status second = output_write(&out, block, sizeof block, &err);
	enum attn_status committed = output_commit(&out, &err);
	restore_stdout(saved);
	assert_int_equal(opened, ATTN_OK);
	assert_int_equal(first, ATTN_OK);
	assert_int_equal(second, ATTN_OK);
	assert_int_equal(committed, ATTN_OK);
	assert_false(abandoned_before);
	assert_true(abandoned_after);
}

static void test_terminal(void **state)
{
	(void)state;
	struct output out;
	struct attn_error err;
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		skip();
	const char *name = ptsname(master);
	assert_int_equal(output_open(&out, name, true, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "' is a terminal: give a file, or pipe it"));
	int fd = open(name, O_RDWR | O_NOCTTY);
	int saved = replace_stdout(fd);
	close(fd);
	enum attn_status binary = output_open(&out, "-", true, &err);
	enum attn_status text = output_open(&out, "-", false, NULL);
	output_abort(&out);
	restore_stdout(saved);
	close(master);
	assert_int_equal(binary, ATTN_USAGE);
	assert_string_equal(err.message, "standard output is a terminal: give a file, or pipe it");
	assert_int_equal(text, ATTN_OK);
}

static void on_signal(int number)
{
	output_remove_temporaries();
	_exit(number);
}

static void test_signal(void **state)
{
	(void)state;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		struct output a, b, c;
		signal(SIGTERM, on_signal);
		output_open(&a, "a", true, NULL);
		output_open(&b, "b", true, NULL);
		output_open(&c, "c", true, NULL);
		output_commit(&b, NULL);
		raise(SIGTERM);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), SIGTERM);
	assert_int_equal(access("b", F_OK), 0);
	assert_int_equal(count_entries(), 1);
}

static void test_make_directories(void **state)
{
	(void)state;
	struct stat st;
	struct attn_error err;
	assert_int_equal(make_directories("a//b/c/", &err), ATTN_OK);
	assert_int_equal(stat("a/b/c", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(make_directories("a/b/c", &err), ATTN_OK);
	assert_int_equal(make_directories("/", &err), ATTN_OK);
	make_file("a/file", "");
	assert_int_equal(make_directories("a/file", &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not make directory 'a/file': Not a directory");
	assert_int_equal(make_directories("a/file/x", &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not make directory 'a/file': Not a directory");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_appears_at_commit),
	    TEST(test_finish_then_commit),
	    TEST(test_abort),
	    TEST(test_mode),
	    TEST(test_read_only_file),
	    TEST(test_long_name),
	    TEST(test_symlinks),
	    TEST(test_refused),
	    TEST(test_devices),
	    TEST(test_reason_is_remembered),
	    TEST(test_failure_leaves_old_file),
	    TEST(test_patch),
	    TEST(test_fifo),
	    TEST(test_standard_output),
	    TEST(test_standard_output_full),
	    TEST(test_closed_standard_output),
	    TEST(test_closed_pipe),
	    TEST(test_terminal),
	    TEST(test_signal),
	    TEST(test_make_directories),
	};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
