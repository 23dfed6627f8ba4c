/* How many processors the control group of this process leaves it (cgroups(7)). */
#ifndef ATTN_UTIL_CGROUP_H
#define ATTN_UTIL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Processors for a quota of microseconds in each period, rounded up: from the text of
 * cpu.max ("150000 100000" is 2, "max 100000" no limit), or of cpu.cfs_quota_us and
 * cpu.cfs_period_us ("-1": no limit), with a space between.  0 where there is no limit
 * or the text says nothing. */
size_t cgroup_quota(const char *text);

/* The path of this process in the text of /proc/self/cgroup, which has lines such as
 * "0::/user.slice" and "4:cpu,cpuacct:/docker/1f"; `controller` is "" for version 2,
 * or "cpu".  False when it is not there or too long. */
bool cgroup_path(const char *text, const char *controller, char *path, size_t size);

/* The least limit of the process's group and those above it, versions 1 and 2; 0 when
 * there is none.  `root`, "" except in tests, is put before /proc and /sys. */
size_t cgroup_processors(const char *root);

#endif
