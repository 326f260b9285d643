/* SPDX-License-Identifier: MIT */
#include "ingest/traced/traced_functions.h"

#include "base/error.h"
#include "images/dwarf/named_symbol.h"

#include <sys/mman.h>

/* Offsets in each file are looked up once: a program may map one thousands of times. */
static const GArray *offsets_in(GHashTable *known, const char *path, const char *name)
{
	GArray *offsets = g_hash_table_lookup(known, path);

	if (offsets == NULL) {
		offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		lode_named_symbol_functions(path, name, offsets, NULL);
		g_hash_table_insert(known, (void *)path, offsets);
	}
	return offsets;
}

static void add_address(GArray *addresses, uint64_t address)
{
	for (guint i = 0; i < addresses->len; i++)
		if (g_array_index(addresses, uint64_t, i) == address)
			return;
	g_array_append_val(addresses, address);
}

bool lode_traced_functions_choose(LodeTraceReader *reader, const char *name, GError **error)
{
	const GArray *mappings = lode_trace_reader_description(reader)->mappings;
	g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GHashTable) known = g_hash_table_new_full(
		g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);

	for (guint i = 0; i < mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(mappings, LodeTraceMapping, i);
		if ((mapping->protection & PROT_EXEC) == 0 || mapping->path == NULL ||
			mapping->path[0] != '/' || mapping->end <= mapping->start)
			continue;
		const GArray *offsets = offsets_in(known, mapping->path, name);
		for (guint j = 0; j < offsets->len; j++) {
			uint64_t offset = g_array_index(offsets, uint64_t, j);
			if (offset >= mapping->offset &&
				offset - mapping->offset < mapping->end - mapping->start)
				add_address(addresses, mapping->start + (offset - mapping->offset));
		}
	}
	if (addresses->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no image that the trace names has a function '%s'", name);
		return false;
	}
	lode_trace_reader_set_functions(reader, addresses);
	return true;
}
