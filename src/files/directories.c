#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/output.h"

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum attn_status make_directories(const char *path, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (!path[0]) /* an unset variable, perhaps: nothing may land in the root */
		return attn_fail(err, ATTN_USAGE, "the name of a directory is empty");
	char *prefix = strdup(path);
	if (!prefix)
		return attn_fail_memory(err);
	for (char *end = prefix; status == ATTN_OK && *end;) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		char kept = *end;
		*end = '\0';
		/* Another process may make it at the same time: what counts is that it is there. */
		if (mkdir(prefix, 0777) != 0) {
			int error = errno;
			if (!is_directory(prefix)) {
				errno = error == EEXIST ? ENOTDIR : error;
				status = attn_fail_errno(err, ATTN_FAILED, "could not make directory '%s'",
							 prefix);
			}
		}
		*end = kept;
	}
	free(prefix);
	return status;
}
