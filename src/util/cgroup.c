#include "util/cgroup.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_SIZE = 4096
};

size_t cgroup_quota(const char *text)
{
	char *end;
	long long quota = strtoll(text, &end, 10);
	if (end == text || quota <= 0)
		return 0;
	const char *rest = end;
	long long period = strtoll(rest, &end, 10);
	if (end == rest || period <= 0)
		return 0;
	return (size_t)(quota / period) + (quota % period != 0);
}

/* Whether `list` ("cpu,cpuacct", `length` characters) has the name. */
static bool has_name(const char *list, size_t length, const char *name)
{
	const char *end = list + length;
	for (;;) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t part = (size_t)((comma ? comma : end) - list);
		if (part == strlen(name) && memcmp(list, name, part) == 0)
			return true;
		if (!comma)
			return false;
		list = comma + 1;
	}
}

bool cgroup_path(const char *text, const char *controller, char *path, size_t size)
{
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		const char *names = memchr(line, ':', length);
		names = names ? names + 1 : line + length;
		const char *colon = memchr(names, ':', (size_t)(line + length - names));
		if (colon && has_name(names, (size_t)(colon - names), controller)) {
			size_t count = (size_t)(line + length - colon) - 1;
			if (count >= size)
				return false;
			memcpy(path, colon + 1, count);
			path[count] = '\0';
			return true;
		}
		line += length + (line[length] == '\n');
	}
	return false;
}

/* Append a small file's text; what does not fit is left out. */
static bool read_text(const char *path, char *text, size_t size)
{
	size_t length = strlen(text);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	length += fread(text + length, 1, size - length - 1, file);
	text[length] = '\0';
	fclose(file);
	return true;
}

/* The limit of one group, whose files are in `directory`. */
static size_t group_limit(const char *directory)
{
	char path[PATH_SIZE + 40], text[100] = "";
	snprintf(path, sizeof path, "%s/cpu.max", directory);
	if (read_text(path, text, sizeof text))
		return cgroup_quota(text);
	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
	if (!read_text(path, text, sizeof text / 2))
		return 0;
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
	return read_text(path, text, sizeof text) ? cgroup_quota(text) : 0;
}

static size_t least(size_t a, size_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The least limit of a group below `mount` and those above it. */
static size_t least_limit(const char *root, const char *mount, const char *group)
{
	char directory[PATH_SIZE];
	int length = snprintf(directory, sizeof directory, "%s%s", root, mount);
	size_t top = (size_t)length, limit = 0;
	length += snprintf(directory + top, sizeof directory - top, "%s", group);
	if ((size_t)length >= sizeof directory)
		directory[top] = '\0';
	for (;;) {
		limit = least(limit, group_limit(directory));
		char *slash = strrchr(directory + top, '/');
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

size_t cgroup_processors(const char *root)
{
	static const struct {
		const char *mount, *controller;
	} places[] = {
	    {"/sys/fs/cgroup", ""},
	    {"/sys/fs/cgroup/unified", ""},
	    {"/sys/fs/cgroup/cpu", "cpu"},
	    {"/sys/fs/cgroup/cpu,cpuacct", "cpu"},
	};
	char path[PATH_SIZE], text[PATH_SIZE] = "", group[PATH_SIZE / 2];
	size_t limit = 0;
	if (strlen(root) > PATH_SIZE / 4)
		return 0;
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	if (!read_text(path, text, sizeof text))
		return 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (cgroup_path(text, places[i].controller, group, sizeof group))
			limit = least(limit, least_limit(root, places[i].mount, group));
	return limit;
}
