/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf map; the entries must come out sorted, apart and with names. */
#include "fuzz_target.h"
#include "sources/code/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfMap) map = lode_perf_map_read(fuzz_file(data, size), &error);

	if ((map == NULL) != (error != NULL))
		g_error("a result and an error");
	for (guint i = 0; map != NULL && i < map->entries->len; i++) {
		const LodePerfMapEntry *entry = &g_array_index(map->entries, LodePerfMapEntry, i);
		if (entry->size == 0 || entry->size > UINT64_MAX - entry->address ||
			(i > 0 && entry[-1].address + entry[-1].size > entry->address))
			g_error("entries overlap");
		if (!g_utf8_validate(entry->name, -1, NULL))
			g_error("a name that is no text");
		if (lode_perf_map_find(map, entry->address) != entry ||
			lode_perf_map_find(map, entry->address + entry->size - 1) != entry)
			g_error("an entry is not found");
	}
	return 0;
}
