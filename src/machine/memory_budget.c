/* SPDX-License-Identifier: MIT */
/* Reads the limits from /proc and the cgroup files; a limit that cannot be read is ignored. */
#include "machine/memory_budget.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `label` in a /proc or cgroup file, in the file's unit. */
static bool read_number(const char *path, const char *label, uint64_t *out_number)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool is_found = false;

	if (file == NULL)
		return false;
	while (!is_found && fgets(line, sizeof(line), file) != NULL) {
		const char *digits = line + strlen(label);
		if (!g_str_has_prefix(line, label))
			continue;
		digits += strspn(digits, " \t");
		is_found = g_ascii_isdigit(*digits);
		if (is_found)
			*out_number = g_ascii_strtoull(digits, NULL, 10);
	}
	fclose(file);
	return is_found;
}

static uint64_t machine_memory(void)
{
	uint64_t kibibytes;
	long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);

	if (read_number("/proc/meminfo", "MemAvailable:", &kibibytes))
		return kibibytes * 1024;
	return pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
}

static uint64_t group_memory(void)
{
	uint64_t limit, used = 0;

	if (!read_number("/sys/fs/cgroup/memory.max", "", &limit))
		return UINT64_MAX;
	read_number("/sys/fs/cgroup/memory.current", "", &used);
	return limit - MIN(used, limit);
}

uint64_t lode_memory_budget_address_space(void)
{
	struct rlimit limit;
	uint64_t kibibytes = 0;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	read_number("/proc/self/status", "VmSize:", &kibibytes);
	return limit.rlim_cur - MIN(kibibytes * 1024, limit.rlim_cur);
}

uint64_t lode_memory_budget_available(void)
{
	return MIN(MIN(machine_memory(), group_memory()), lode_memory_budget_address_space());
}
