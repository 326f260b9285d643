/* SPDX-License-Identifier: MIT */
#include "recorded_mappings.h"

#include "model/address_rule.h"

#include <sys/mman.h>

/* As the kernel limits it unless told otherwise; and how far below the stack pointer code reaches
 * before it has moved it there. */
enum { MAX_STACK = 8 << 20, MAX_BELOW_STACK = 4096 };

static void file_clear(void *data)
{
	g_free(((RecordedFile *)data)->path);
}

static void add_mapping(RecordedMappings *self, const LodePerfRecord *record)
{
	const LodePerfMapping *mapping = &record->mapping;
	const RecordedFile file = {g_strdup(mapping->path), (int)mapping->protection};
	const LodeMappedRange range = {
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.offset = mapping->offset,
		.file = self->files->len,
		/* a heap that grows is told of again each time */
		.name = lode_address_spaces_name(self->spaces, mapping->path),
	};

	g_array_append_val(self->files, file);
	lode_address_spaces_map(self->spaces, record->pid, record->time_ns, &range);
	if (g_str_has_prefix(mapping->path, "[stack"))
		g_hash_table_insert(
			self->stacks, GUINT_TO_POINTER(record->pid), GSIZE_TO_POINTER(range.end));
}

static void add_record(RecordedMappings *self, const LodePerfRecord *record)
{
	if (record->kind == LODE_PERF_MAPPING)
		add_mapping(self, record);
	else if (record->kind == LODE_PERF_COMMAND && record->is_exec)
		lode_address_spaces_exec(self->spaces, record->pid, record->time_ns);
	else if (record->kind == LODE_PERF_FORK && record->pid != record->parent_pid)
		lode_address_spaces_fork(
			self->spaces, record->pid, record->parent_pid, record->time_ns);
}

bool recorded_mappings_read(RecordedMappings *self, LodePerfData *data, GError **error)
{
	LodePerfNext next;
	LodePerfRecord record;

	*self = (RecordedMappings){.spaces = lode_address_spaces_new()};
	self->files = g_array_new(FALSE, FALSE, sizeof(RecordedFile));
	g_array_set_clear_func(self->files, file_clear);
	self->stacks = g_hash_table_new(NULL, NULL);
	while ((next = lode_perf_data_next(data, &record, error)) == LODE_PERF_NEXT_RECORD)
		add_record(self, &record);
	lode_perf_data_rewind(data);
	lode_address_spaces_freeze(self->spaces, NULL);
	return next == LODE_PERF_NEXT_END;
}

void recorded_mappings_clear(RecordedMappings *self)
{
	g_clear_pointer(&self->spaces, lode_address_spaces_free);
	g_clear_pointer(&self->files, g_array_unref);
	g_clear_pointer(&self->stacks, g_hash_table_unref);
}

const LodeMappedRange *recorded_mappings_find(
	RecordedMappings *self, const RecordedMoment *moment, uint64_t address)
{
	return lode_address_spaces_find(self->spaces, moment->pid, address, moment->time_ns, NULL);
}

const RecordedFile *recorded_mappings_file(
	const RecordedMappings *self, const LodeMappedRange *range)
{
	return &g_array_index(self->files, RecordedFile, range->file);
}

static bool is_in_grown_stack(
	const RecordedMappings *self, const RecordedMoment *moment, uint64_t address)
{
	uint64_t end = GPOINTER_TO_SIZE(
		g_hash_table_lookup(self->stacks, GUINT_TO_POINTER(moment->pid)));

	return address < end && end - address <= MAX_STACK &&
	       address + MAX_BELOW_STACK >= moment->stack_pointer;
}

bool recorded_mappings_are_valid(RecordedMappings *self, const RecordedMoment *moment,
	uint64_t address, uint32_t size, uint8_t access)
{
	const int needed = (access & LODE_ACCESS_LOAD ? PROT_READ : 0) |
	                   (access & LODE_ACCESS_STORE ? PROT_WRITE : 0);
	uint64_t end = address + MAX(size, 1);

	if (is_in_grown_stack(self, moment, address))
		return true;
	while (address < end) {
		const LodeMappedRange *range = recorded_mappings_find(self, moment, address);
		if (range == NULL ||
			(recorded_mappings_file(self, range)->protection & needed) != needed)
			return false;
		address = range->end;
	}
	return true;
}
