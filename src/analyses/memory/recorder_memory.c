/* SPDX-License-Identifier: MIT */
/* Memory of lode's own preloaded libraries, by name and by place. */
#include "analyses/memory/recorder_memory.h"

#include <string.h>

/* Where tools/preload maps its state and its logs: the kernel puts nothing there by itself. */
static const uint64_t own_start = UINT64_C(0x200000000000), own_end = UINT64_C(0x220000000000);

static bool is_own_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	if (strstr(path, "/lode-run-") != NULL)
		return true;
	return (g_str_has_prefix(name, "liblode-") && g_str_has_suffix(name, ".so")) ||
	       (g_str_has_prefix(name, "allocations-") && g_str_has_suffix(name, ".log"));
}

bool lode_recorder_memory_has(const LodeMemory *memory, const LodeMemorySample *sample)
{
	if (sample->address >= own_start && sample->address < own_end)
		return true;
	if (sample->mapping >= memory->mappings->len)
		return false;
	const char *name = LODE_AT(memory->mappings, LodeMemoryMapping, sample->mapping).name;
	return name != NULL && is_own_name(name);
}
