/* Run a fuzz target on files, without a fuzzer: each argument is a file, or a
 * directory whose files are taken.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static size_t replayed;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	if (!file || fstat(fileno(file), &st) != 0) {
		perror(path);
		return 1;
	}
	/* Just as large as the file, so that a sanitizer sees a read past it. */
	size_t length = (size_t)st.st_size;
	uint8_t *data = malloc(length ? length : 1);
	int failed = !data || fread(data, 1, length, file) != length;
	fclose(file);
	if (failed)
		perror(path);
	else
		LLVMFuzzerTestOneInput(data, length);
	free(data);
	replayed++;
	return failed;
}

static int replay(const char *path)
{
	DIR *directory = opendir(path);
	if (!directory)
		return replay_file(path);
	int failed = 0;
	for (struct dirent *entry; (entry = readdir(directory));) {
		char file[1024];
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < (int)sizeof file)
			failed |= replay_file(file);
	}
	closedir(directory);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%s: %zu files\n", argv[0], replayed);
	return failed || replayed == 0;
}
