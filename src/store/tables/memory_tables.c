/* SPDX-License-Identifier: MIT */
#include "store/tables/memory_tables.h"

#include "base/arrays/hash.h"
#include "model/memory.h"
#include "model/profile.h"
#include "store/tables/row_table.h"

#define AT(type, field) offsetof(type, field)

static const LodeColumn thread_columns[] = {
	{"pid", AT(LodeThread, pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(LodeThread, tid), LODE_COLUMN_NUMBER, 0},
	{"ordinal", AT(LodeThread, ordinal), LODE_COLUMN_NUMBER, 0},
	{"name", AT(LodeThread, name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"begin_ns", AT(LodeThread, begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(LodeThread, end_ns), LODE_COLUMN_END_TIME, 0},
};

static const LodeColumn mapping_columns[] = {
	{"pid", AT(LodeMemoryMapping, pid), LODE_COLUMN_NUMBER, 0},
	{"start_address", AT(LodeMemoryMapping, start), LODE_COLUMN_BITS, 0},
	{"end_address", AT(LodeMemoryMapping, end), LODE_COLUMN_BITS, 0},
	{"protection", AT(LodeMemoryMapping, protection), LODE_COLUMN_NUMBER, 0},
	{"begin_ns", AT(LodeMemoryMapping, begin_ns), LODE_COLUMN_BITS, 0},
	{"name", AT(LodeMemoryMapping, name), LODE_COLUMN_TEXT, 0},
};

static const LodeColumn site_columns[] = {
	{"name", AT(LodeAllocationSite, name), LODE_COLUMN_TEXT, 0},
	{"stack", AT(LodeAllocationSite, stack), LODE_COLUMN_MAYBE_TEXT, 0},
	{"allocations", AT(LodeAllocationSite, n), LODE_COLUMN_BITS, 0},
	{"bytes", AT(LodeAllocationSite, n_bytes), LODE_COLUMN_BITS, 0},
};

static const LodeColumn allocation_columns[] = {
	{"pid", AT(LodeAllocation, pid), LODE_COLUMN_NUMBER, 0},
	{"site", AT(LodeAllocation, site), LODE_COLUMN_REFERENCE, LODE_TARGET_SITES},
	{"thread", AT(LodeAllocation, thread), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_THREADS},
	{"address", AT(LodeAllocation, address), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeAllocation, size), LODE_COLUMN_BITS, 0},
	{"begin_ns", AT(LodeAllocation, begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(LodeAllocation, end_ns), LODE_COLUMN_END_TIME, 0},
};

static const LodeColumn call_columns[] = {
	{"function", AT(LodeAllocationCall, function), LODE_COLUMN_MAYBE_TEXT, 0},
	{"place", AT(LodeAllocationCall, place), LODE_COLUMN_TEXT, 0},
	{"inner_call", AT(LodeAllocationCall, inner), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_CALLS},
	{"role", AT(LodeAllocationCall, role), LODE_COLUMN_WORD, LODE_WORDS_CALL_ROLE},
};

static const LodeColumn path_columns[] = {
	{"site", AT(LodeAllocationPath, site), LODE_COLUMN_REFERENCE, LODE_TARGET_SITES},
	{"call", AT(LodeAllocationPath, call), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_CALLS},
	{"allocations", AT(LodeAllocationPath, n), LODE_COLUMN_BITS, 0},
	{"bytes", AT(LodeAllocationPath, n_bytes), LODE_COLUMN_BITS, 0},
	{"allocations_at_peak", AT(LodeAllocationPath, n_at_peak), LODE_COLUMN_BITS, 0},
	{"bytes_at_peak", AT(LodeAllocationPath, n_bytes_at_peak), LODE_COLUMN_BITS, 0},
	{"allocations_at_end", AT(LodeAllocationPath, n_at_end), LODE_COLUMN_BITS, 0},
	{"bytes_at_end", AT(LodeAllocationPath, n_bytes_at_end), LODE_COLUMN_BITS, 0},
	{"lifetime_ns", AT(LodeAllocationPath, lifetime_ns), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn peak_columns[] = {
	{"bytes", AT(LodeAllocationPeak, n_bytes), LODE_COLUMN_BITS, 0},
	{"time_ns", AT(LodeAllocationPeak, time_ns), LODE_COLUMN_BITS, 0},
};

static const LodeColumn path_of_columns[] = {
	{"path", AT(LodeAllocationPathOf, path), LODE_COLUMN_REFERENCE, LODE_TARGET_PATHS},
};

static const LodeColumn type_columns[] = {
	{"name", AT(LodeDataType, name), LODE_COLUMN_TEXT, 0},
	{"size", AT(LodeDataType, size), LODE_COLUMN_BITS, 0},
	{"first_member", AT(LodeDataType, first_member), LODE_COLUMN_NUMBER, 0},
	{"members", AT(LodeDataType, n_members), LODE_COLUMN_NUMBER, 0},
};

static const LodeColumn member_columns[] = {
	{"name", AT(LodeDataMember, name), LODE_COLUMN_TEXT, 0},
	{"type_name", AT(LodeDataMember, type), LODE_COLUMN_TEXT, 0},
	{"offset", AT(LodeDataMember, offset), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeDataMember, size), LODE_COLUMN_BITS, 0},
	{"bit_offset", AT(LodeDataMember, bit_offset), LODE_COLUMN_NUMBER, 0},
	{"bit_size", AT(LodeDataMember, bit_size), LODE_COLUMN_NUMBER, 0},
	{"stride", AT(LodeDataMember, stride), LODE_COLUMN_BITS, 0},
	{"repeats", AT(LodeDataMember, repeats), LODE_COLUMN_BITS, 0},
};

static const LodeColumn object_columns[] = {
	{"name", AT(LodeDataObject, name), LODE_COLUMN_TEXT, 0},
	{"layer", AT(LodeDataObject, layer), LODE_COLUMN_WORD, LODE_WORDS_LAYER},
	{"type", AT(LodeDataObject, type), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_TYPES},
	{"member", AT(LodeDataObject, member), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_MEMBERS},
	{"site", AT(LodeDataObject, site), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_SITES},
	{"variable", AT(LodeDataObject, variable), LODE_COLUMN_MAYBE_TEXT, 0},
	{"mapping", AT(LodeDataObject, mapping), LODE_COLUMN_MAYBE_TEXT, 0},
};

static const LodeColumn sample_columns[] = {
	{"weight", AT(LodeMemorySample, weight), LODE_COLUMN_AMOUNT, 0},
	{"time_ns", AT(LodeMemorySample, time_ns), LODE_COLUMN_BITS, 0},
	{"pc", AT(LodeMemorySample, pc), LODE_COLUMN_BITS, 0},
	{"access_pc", AT(LodeMemorySample, access_pc), LODE_COLUMN_BITS, 0},
	{"address", AT(LodeMemorySample, address), LODE_COLUMN_BITS, 0},
	{"data_source", AT(LodeMemorySample, data_source), LODE_COLUMN_BITS, 0},
	{"latency", AT(LodeMemorySample, latency), LODE_COLUMN_BITS, 0},
	{"thread", AT(LodeMemorySample, thread), LODE_COLUMN_REFERENCE, LODE_TARGET_THREADS},
	{"event", AT(LodeMemorySample, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"instruction", AT(LodeMemorySample, instruction), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
	{"access_instruction", AT(LodeMemorySample, access_instruction),
		LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"access_function", AT(LodeMemorySample, access_function), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_FUNCTIONS},
	{"access_location", AT(LodeMemorySample, access_location), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_LOCATIONS},
	{"object", AT(LodeMemorySample, object), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_OBJECTS},
	{"mapping", AT(LodeMemorySample, mapping), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_MAPPINGS},
	{"allocation", AT(LodeMemorySample, allocation), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_ALLOCATIONS},
	{"cpu", AT(LodeMemorySample, cpu), LODE_COLUMN_MAYBE_NUMBER, 0},
	{"node", AT(LodeMemorySample, node), LODE_COLUMN_MAYBE_NUMBER, 0},
	{"size", AT(LodeMemorySample, size), LODE_COLUMN_NUMBER, 0},
	{"rule", AT(LodeMemorySample, rule), LODE_COLUMN_SMALL_WORD, LODE_WORDS_RULE},
	{"reason", AT(LodeMemorySample, reason), LODE_COLUMN_SMALL_WORD, LODE_WORDS_REASON},
	{"access", AT(LodeMemorySample, access), LODE_COLUMN_SMALL_WORD, LODE_WORDS_ACCESS},
	{"operand", AT(LodeMemorySample, operand), LODE_COLUMN_SMALL, 0},
	{"is_unverified", AT(LodeMemorySample, is_unverified), LODE_COLUMN_FLAG, 0},
	{"is_next", AT(LodeMemorySample, is_next), LODE_COLUMN_FLAG, 0},
};

static const LodeColumn pages_columns[] = {
	{"pid", AT(LodeMemoryPages, pid), LODE_COLUMN_NUMBER, 0},
	{"time_ns", AT(LodeMemoryPages, time_ns), LODE_COLUMN_BITS, 0},
	{"start_address", AT(LodeMemoryPages, start), LODE_COLUMN_BITS, 0},
	{"end_address", AT(LodeMemoryPages, end), LODE_COLUMN_BITS, 0},
	{"page_size", AT(LodeMemoryPages, page_size_bytes), LODE_COLUMN_BITS, 0},
	{"node", AT(LodeMemoryPages, node), LODE_COLUMN_NUMBER, 0},
};

static const LodeColumn access_call_columns[] = {
	{"function", AT(LodeAccessCall, function), LODE_COLUMN_MAYBE_TEXT, 0},
	{"place", AT(LodeAccessCall, place), LODE_COLUMN_TEXT, 0},
	{"outer_call", AT(LodeAccessCall, outer), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_ACCESS_CALLS},
};

static const LodeColumn access_path_columns[] = {
	{"call", AT(LodeAccessPathOf, call), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_ACCESS_CALLS},
};

static const LodeColumn line_store_columns[] = {
	{"sample", AT(LodeLineStore, sample), LODE_COLUMN_REFERENCE, LODE_TARGET_SAMPLES},
	{"thread", AT(LodeLineStore, thread), LODE_COLUMN_REFERENCE, LODE_TARGET_THREADS},
	{"function", AT(LodeLineStore, function), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_FUNCTIONS},
	{"location", AT(LodeLineStore, location), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_LOCATIONS},
	{"pc", AT(LodeLineStore, pc), LODE_COLUMN_BITS, 0},
	{"address", AT(LodeLineStore, address), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeLineStore, size), LODE_COLUMN_NUMBER, 0},
	{"misses", AT(LodeLineStore, n), LODE_COLUMN_BITS, 0},
};

static const LodeColumn lost_range_columns[] = {
	{"sample", AT(LodeLostRange, sample), LODE_COLUMN_REFERENCE, LODE_TARGET_SAMPLES},
	{"start_address", AT(LodeLostRange, start), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeLostRange, size), LODE_COLUMN_BITS, 0},
};

#define TABLE(name, array, type, columns)                                                          \
	LODE_ROW_TABLE_OF(LodeMemory, array, name, type, columns, NULL)
#define OPTIONAL_TABLE(name, array, type, columns)                                                 \
	{                                                                                          \
		name, sizeof(type), columns, G_N_ELEMENTS(columns), NULL, AT(LodeMemory, array),   \
			true                                                                       \
	}

static const LodeRowTable tables[] = {
	TABLE("thread", threads, LodeThread, thread_columns),
	TABLE("mapping", mappings, LodeMemoryMapping, mapping_columns),
	TABLE("allocation_site", sites, LodeAllocationSite, site_columns),
	TABLE("allocation", allocations, LodeAllocation, allocation_columns),
	TABLE("data_type", types, LodeDataType, type_columns),
	TABLE("data_member", members, LodeDataMember, member_columns),
	TABLE("data_object", objects, LodeDataObject, object_columns),
	TABLE("memory_sample", samples, LodeMemorySample, sample_columns),
	OPTIONAL_TABLE("allocation_call", calls, LodeAllocationCall, call_columns),
	OPTIONAL_TABLE("allocation_path", paths, LodeAllocationPath, path_columns),
	OPTIONAL_TABLE("allocation_site_peak", site_peaks, LodeAllocationPeak, peak_columns),
	OPTIONAL_TABLE("heap_peak", heap_peak, LodeAllocationPeak, peak_columns),
	OPTIONAL_TABLE(
		"allocation_path_of", allocation_paths, LodeAllocationPathOf, path_of_columns),
	OPTIONAL_TABLE("memory_pages", pages, LodeMemoryPages, pages_columns),
	OPTIONAL_TABLE("access_call", access_calls, LodeAccessCall, access_call_columns),
	OPTIONAL_TABLE("access_path_of", access_paths, LodeAccessPathOf, access_path_columns),
	OPTIONAL_TABLE("line_store", line_stores, LodeLineStore, line_store_columns),
	OPTIONAL_TABLE("lost_range", lost_ranges, LodeLostRange, lost_range_columns),
};

double lode_memory_tables_count(const LodeMemory *memory)
{
	return lode_row_tables_count(tables, G_N_ELEMENTS(tables), memory);
}

static bool insert_flags(const LodeMemory *memory, LodeDatabase *database, GError **error)
{
	database->content = lode_hash_append(database->content,
		(uint64_t)memory->has_allocations | (uint64_t)memory->is_stall_weighted << 1 |
			(uint64_t)memory->has_fixed_addresses << 2);
	g_autofree char *sql = g_strdup_printf(
		"INSERT INTO memory_recording VALUES (1, %d, %d, %d)", memory->has_allocations,
		memory->is_stall_weighted, memory->has_fixed_addresses);

	return lode_database_execute(database, sql, error);
}

bool lode_memory_tables_insert(const LodeMemory *memory, LodeDatabase *database, GError **error)
{
	return insert_flags(memory, database, error) &&
	       lode_row_tables_insert(tables, G_N_ELEMENTS(tables), memory, database, error);
}

static bool read_flags(
	LodeMemory *memory, LodeDatabase *database, bool *out_is_there, GError **error)
{
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "memory_recording",
		"SELECT id, has_allocations, is_stall_weighted, has_fixed_addresses "
		"FROM memory_recording ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		*out_is_there = true;
		memory->has_allocations = lode_row_reader_integer(&rows, 1, 1) != 0;
		memory->is_stall_weighted = lode_row_reader_integer(&rows, 2, 1) != 0;
		memory->has_fixed_addresses = lode_row_reader_integer(&rows, 3, 1) != 0;
	}
	return lode_row_reader_finish(&rows, error);
}

bool lode_memory_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(LodeMemory) memory = lode_memory_new();
	bool is_there = false, has;

	if (!read_flags(memory, database, &is_there, error))
		return false;
	if (!is_there)
		return true;
	profile->memory = g_steal_pointer(&memory);
	return lode_row_tables_read(tables, G_N_ELEMENTS(tables), profile->memory, profile->strings,
		       database, &has, error) &&
	       lode_memory_check(profile, error);
}

/* How many rows each kind of reference may be to. */
static void count_targets(const LodeProfile *profile, size_t out_counts[LODE_N_TARGETS])
{
	const LodeMemory *memory = profile->memory;

	out_counts[LODE_TARGET_THREADS] = memory->threads->len;
	out_counts[LODE_TARGET_MAPPINGS] = memory->mappings->len;
	out_counts[LODE_TARGET_SITES] = memory->sites->len;
	out_counts[LODE_TARGET_ALLOCATIONS] = memory->allocations->len;
	out_counts[LODE_TARGET_TYPES] = memory->types->len;
	out_counts[LODE_TARGET_MEMBERS] = memory->members->len;
	out_counts[LODE_TARGET_OBJECTS] = memory->objects->len;
	out_counts[LODE_TARGET_CALLS] = memory->calls->len;
	out_counts[LODE_TARGET_PATHS] = memory->paths->len;
	out_counts[LODE_TARGET_ACCESS_CALLS] = memory->access_calls->len;
	out_counts[LODE_TARGET_SAMPLES] = memory->samples->len;
	out_counts[LODE_TARGET_EVENTS] = profile->code.events->len;
	out_counts[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len;
	out_counts[LODE_TARGET_FUNCTIONS] = profile->code.functions->len;
	out_counts[LODE_TARGET_LOCATIONS] = profile->code.locations->len;
}

/* Members stand type by type, each type's own; a mapping does not end before it begins. */
static bool check_ranges(const LodeMemory *memory, GError **error)
{
	uint64_t next = 0;

	for (guint i = 0; i < memory->types->len; i++) {
		const LodeDataType *type = &LODE_AT(memory->types, LodeDataType, i);
		if (type->first_member != next || type->n_members > memory->members->len - next)
			return lode_row_table_broken(
				error, "data_type", i, "its members are not its own");
		next += type->n_members;
	}
	if (next != memory->members->len)
		return lode_row_table_broken(error, "data_member", next, "its type does not exist");
	for (guint i = 0; i < memory->pages->len; i++) {
		const LodeMemoryPages *pages = &LODE_AT(memory->pages, LodeMemoryPages, i);
		if (pages->end < pages->start)
			return lode_row_table_broken(
				error, "memory_pages", i, "it ends before it begins");
	}
	for (guint i = 0; i < memory->mappings->len; i++) {
		const LodeMemoryMapping *mapping = &LODE_AT(memory->mappings, LodeMemoryMapping, i);
		if (mapping->end < mapping->start)
			return lode_row_table_broken(
				error, "mapping", i, "it ends before it begins");
	}
	return true;
}

/* Calls lead to the allocator; what is said of each site or allocation is said of all or none. */
static bool check_calls(const LodeMemory *memory, GError **error)
{
	const struct {
		const GArray *rows, *of;
		const char *table;
	} partners[] = {
		{memory->site_peaks, memory->sites, "allocation_site_peak"},
		{memory->allocation_paths, memory->allocations, "allocation_path_of"},
		{memory->access_paths, memory->samples, "access_path_of"},
	};

	g_autofree uint16_t *depths = g_new(uint16_t, MAX(memory->calls->len, 1));

	for (guint i = 0; i < memory->calls->len; i++) {
		uint32_t inner = LODE_AT(memory->calls, LodeAllocationCall, i).inner;
		if (inner != LODE_NONE && inner >= i)
			return lode_row_table_broken(error, "allocation_call", i,
				"what it calls does not stand before it");
		depths[i] = inner != LODE_NONE ? (uint16_t)(depths[inner] + 1) : 1;
		if (depths[i] > LODE_ALLOCATION_MAX_DEPTH)
			return lode_row_table_broken(
				error, "allocation_call", i, "too many calls lead to it");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(partners); i++)
		if (partners[i].rows->len != 0 && partners[i].rows->len != partners[i].of->len)
			return lode_row_table_broken(error, partners[i].table,
				partners[i].rows->len, "there are too many or too few");
	if (memory->heap_peak->len > 1)
		return lode_row_table_broken(error, "heap_peak", 1, "it is one too many");
	return true;
}

/* The caller of a call comes before it, so that each way outward ends. */
static bool check_access_calls(const LodeMemory *memory, GError **error)
{
	g_autofree uint16_t *depths = g_new(uint16_t, MAX(memory->access_calls->len, 1));

	for (guint i = 0; i < memory->access_calls->len; i++) {
		uint32_t outer = LODE_AT(memory->access_calls, LodeAccessCall, i).outer;
		if (outer != LODE_NONE && outer >= i)
			return lode_row_table_broken(
				error, "access_call", i, "what called it does not stand before it");
		depths[i] = outer != LODE_NONE ? (uint16_t)(depths[outer] + 1) : 1;
		if (depths[i] > LODE_ACCESS_MAX_DEPTH)
			return lode_row_table_broken(
				error, "access_call", i, "too many calls lead to it");
	}
	return true;
}

/* They stand by sample, and each has its bytes. */
static bool check_line_stores(const LodeMemory *memory, GError **error)
{
	uint32_t sample = 0;

	for (guint i = 0; i < memory->line_stores->len; i++) {
		const LodeLineStore *store = &LODE_AT(memory->line_stores, LodeLineStore, i);
		if (store->sample < sample)
			return lode_row_table_broken(
				error, "line_store", i, "the one before it is of a later sample");
		if (store->size == 0)
			return lode_row_table_broken(error, "line_store", i, "it has no bytes");
		sample = store->sample;
	}
	return true;
}

/* They stand by sample, one of each, and end where the address space does at the latest. */
static bool check_lost_ranges(const LodeMemory *memory, GError **error)
{
	for (guint i = 0; i < memory->lost_ranges->len; i++) {
		const LodeLostRange *range = &LODE_AT(memory->lost_ranges, LodeLostRange, i);
		if (i > 0 && range->sample <= range[-1].sample)
			return lode_row_table_broken(
				error, "lost_range", i, "its sample is not after the one before");
		if (range->size == 0 || range->start + range->size - 1 < range->start)
			return lode_row_table_broken(
				error, "lost_range", i, "it has no bytes, or too many");
	}
	return true;
}

bool lode_memory_check(const LodeProfile *profile, GError **error)
{
	size_t counts[LODE_N_TARGETS];

	if (profile->memory == NULL)
		return true;
	count_targets(profile, counts);
	return lode_row_tables_check(
		       tables, G_N_ELEMENTS(tables), profile->memory, counts, error) &&
	       check_ranges(profile->memory, error) && check_calls(profile->memory, error) &&
	       check_access_calls(profile->memory, error) &&
	       check_line_stores(profile->memory, error) &&
	       check_lost_ranges(profile->memory, error);
}
