/* SPDX-License-Identifier: MIT */
#include "process/live_mappings.h"

#include "sources/live_ranges.h"

#include <string.h>

/* What ranges are of: equal ones are one. */
typedef struct {
	const char *name;
	uint32_t protection;
} Kind;

struct LodeLiveMappings {
	GHashTable *spaces;  /* pid → LodeLiveRanges */
	GArray *kinds;       /* Kind; the owners of ranges */
	GHashTable *kind_of; /* Kind as text → its number + 1 */
	GStringChunk *names;
	uint64_t generation;
};

static const char anonymous[] = "[anon]";

static void free_space(void *data)
{
	lode_live_ranges_free(data);
}

LodeLiveMappings *lode_live_mappings_new(void)
{
	LodeLiveMappings *self = g_new0(LodeLiveMappings, 1);

	self->spaces = g_hash_table_new_full(NULL, NULL, NULL, free_space);
	self->kinds = g_array_new(FALSE, FALSE, sizeof(Kind));
	self->kind_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->names = g_string_chunk_new(4096);
	return self;
}

void lode_live_mappings_free(LodeLiveMappings *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->spaces);
	g_hash_table_unref(self->kind_of);
	g_array_unref(self->kinds);
	g_string_chunk_free(self->names);
	g_free(self);
}

static LodeLiveRanges *space_of(LodeLiveMappings *self, uint32_t pid)
{
	LodeLiveRanges *space = g_hash_table_lookup(self->spaces, GUINT_TO_POINTER(pid));

	if (space == NULL) {
		space = lode_live_ranges_new();
		g_hash_table_insert(self->spaces, GUINT_TO_POINTER(pid), space);
	}
	return space;
}

static uint32_t kind_number(LodeLiveMappings *self, const char *name, uint32_t protection)
{
	g_autofree char *text = g_strdup_printf("%x %s", protection, name);
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->kind_of, text));

	if (found != 0)
		return found - 1;
	const Kind kind = {g_string_chunk_insert_const(self->names, name), protection};
	g_array_append_val(self->kinds, kind);
	g_hash_table_insert(
		self->kind_of, g_steal_pointer(&text), GUINT_TO_POINTER(self->kinds->len));
	return self->kinds->len - 1;
}

/* A stack that grew, or was told of again, is still that thread's. */
static const char *name_of(LodeLiveMappings *self, uint32_t pid, const LodeLiveMapping *mapping)
{
	LodeLiveMapping before;

	if (mapping->name[0] != '\0' && !g_str_has_prefix(mapping->name, "//anon"))
		return mapping->name;
	if (lode_live_mappings_find(self, pid, mapping->end - 1, &before) &&
		before.end == mapping->end && g_str_has_prefix(before.name, "[stack of"))
		return before.name;
	return anonymous;
}

void lode_live_mappings_map(LodeLiveMappings *self, uint32_t pid, const LodeLiveMapping *mapping)
{
	if (mapping->start >= mapping->end)
		return;
	const LodeLiveRange range = {
		.start = mapping->start,
		.end = mapping->end,
		.origin = mapping->start - mapping->offset,
		.owner = kind_number(self, name_of(self, pid, mapping), mapping->protection),
	};
	lode_live_ranges_put(space_of(self, pid), &range, NULL);
	self->generation++;
}

void lode_live_mappings_exec(LodeLiveMappings *self, uint32_t pid)
{
	g_hash_table_remove(self->spaces, GUINT_TO_POINTER(pid));
	self->generation++;
}

void lode_live_mappings_exit(LodeLiveMappings *self, uint32_t pid)
{
	lode_live_mappings_exec(self, pid);
}

void lode_live_mappings_fork(LodeLiveMappings *self, uint32_t pid, uint32_t parent_pid)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));

	if (pid == parent_pid)
		return;
	lode_live_ranges_list(space_of(self, parent_pid), ranges);
	lode_live_mappings_exec(self, pid);
	LodeLiveRanges *space = space_of(self, pid);
	for (guint i = 0; i < ranges->len; i++)
		lode_live_ranges_put(space, &g_array_index(ranges, LodeLiveRange, i), NULL);
}

bool lode_live_mappings_find(
	const LodeLiveMappings *self, uint32_t pid, uint64_t address, LodeLiveMapping *out_mapping)
{
	const LodeLiveRanges *space = g_hash_table_lookup(self->spaces, GUINT_TO_POINTER(pid));
	const LodeLiveRange *range = space != NULL ? lode_live_ranges_find(space, address) : NULL;

	if (range == NULL)
		return false;
	const Kind *kind = &g_array_index(self->kinds, Kind, range->owner);
	*out_mapping = (LodeLiveMapping){
		.start = range->start,
		.end = range->end,
		.offset = range->start - range->origin,
		.protection = kind->protection,
		.name = kind->name,
	};
	return true;
}

void lode_live_mappings_set_stack(
	LodeLiveMappings *self, uint32_t pid, uint64_t pointer, uint32_t ordinal)
{
	LodeLiveMapping found;

	if (!lode_live_mappings_find(self, pid, pointer, &found) ||
		strcmp(found.name, anonymous) != 0)
		return;
	g_autofree char *name = g_strdup_printf("[stack of thread %u]", ordinal);
	found.name = name;
	lode_live_mappings_map(self, pid, &found);
}

uint64_t lode_live_mappings_generation(const LodeLiveMappings *self)
{
	return self->generation;
}
