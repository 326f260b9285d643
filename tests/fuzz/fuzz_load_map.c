/* SPDX-License-Identifier: MIT */
/* Any bytes as a load map; the entries must come out sorted and apart. */
#include "fuzz_target.h"
#include "sources/code/load_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeLoadMap) map = lode_load_map_new();
	bool is_read = lode_load_map_read(map, fuzz_file(data, size), &error);

	if (is_read == (error != NULL))
		g_error("a result and an error");
	for (guint i = 0; i < map->entries->len; i++) {
		const LodeLoadMapEntry *entry = &g_array_index(map->entries, LodeLoadMapEntry, i);
		if (entry->start >= entry->end || (i > 0 && entry[-1].end > entry->start))
			g_error("entries overlap");
		if (lode_load_map_find(map, entry->start) != entry ||
			lode_load_map_find(map, entry->end - 1) != entry)
			g_error("an entry is not found");
	}
	return 0;
}
