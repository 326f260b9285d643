/* SPDX-License-Identifier: MIT */
#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/hotspot_frames.h"

#include <stddef.h>

enum { MAX_ENTRIES = 1 << 14, MAX_STRIDE = 128, MAX_NAME = 64, AT_ONCE = 64 };

/* Where a value of the tables goes; a later row where an earlier one lacks, as versions differ. */
typedef struct {
	const char *type, *field; /* NULL: the type's size */
	size_t to;
	bool is_needed;
} Row;

#define TO(member) offsetof(LodeHotspotLayout, member)

static const Row rows[] = {
	{"ThreadsSMRSupport", "_java_thread_list", TO(threads_at), true},
	{"ThreadsList", "_length", TO(list_length), true},
	{"ThreadsList", "_threads", TO(list_threads), true},
	{"JavaThread", "_anchor", TO(thread_anchor), true},
	{"Thread", "_osthread", TO(thread_system), false},
	{"JavaThread", "_osthread", TO(thread_system), true},
	{"OSThread", "_thread_id", TO(system_number), true},
	{"JavaFrameAnchor", "_last_Java_sp", TO(anchor_sp), true},
	{"JavaFrameAnchor", "_last_Java_fp", TO(anchor_fp), true},
	{"JavaFrameAnchor", "_last_Java_pc", TO(anchor_pc), true},
	{"AbstractInterpreter", "_code", TO(stubs_at), true},
	{"StubQueue", "_stub_buffer", TO(stubs_buffer), true},
	{"StubQueue", "_buffer_limit", TO(stubs_limit), true},
	{"Method", "_constMethod", TO(method_rest), true},
	{"ConstMethod", "_constants", TO(rest_pool), true},
	{"ConstMethod", "_flags._flags", TO(rest_flags), false},
	{"ConstMethod", "_flags", TO(rest_flags), true},
	{"ConstMethod", "_code_size", TO(rest_code_size), true},
	{"ConstMethod", "_name_index", TO(rest_name), true},
	{"ConstMethod", "_signature_index", TO(rest_signature), true},
	{"ConstMethod", NULL, TO(rest_bytes), true},
	{"ConstantPool", "_pool_holder", TO(pool_class), true},
	{"ConstantPool", "_source_file_name_index", TO(pool_file), false},
	{"ConstantPool", "_length", TO(pool_length), true},
	{"ConstantPool", NULL, TO(pool_bytes), true},
	{"Klass", "_name", TO(class_name), true},
	{"InstanceKlass", "_source_file_name_index", TO(class_file), false},
	{"Symbol", "_length", TO(symbol_length), true},
	{"Symbol", "_body", TO(symbol_text), false},
	{"Symbol", "_body[0]", TO(symbol_text), true},
	{"CodeCache", "_heaps", TO(heaps_at), true},
	{"GrowableArrayBase", "_len", TO(array_length), false},
	{"GenericGrowableArray", "_len", TO(array_length), true},
	{"GrowableArray<int>", "_data", TO(array_data), true},
	{"CodeHeap", "_memory", TO(heap_memory), true},
	{"CodeHeap", "_segmap", TO(heap_segments), true},
	{"CodeHeap", "_log2_segment_size", TO(heap_shift), true},
	{"VirtualSpace", "_low", TO(space_low), true},
	{"VirtualSpace", "_high", TO(space_high), true},
	{"HeapBlock", NULL, TO(block_bytes), true},
	{"CodeBlob", "_name", TO(blob_name), true},
	{"CodeBlob", "_frame_size", TO(blob_frame_words), true},
	{"CodeBlob", "_code_begin", TO(blob_code), false},
	{"CodeBlob", "_code_offset", TO(blob_code_offset), false},
	{"nmethod", "_scopes_pcs_offset", TO(code_places), false},
	{"nmethod", "_dependencies_offset", TO(code_places_end), false},
	{"CompiledMethod", "_scopes_data_begin", TO(code_scopes), false},
	{"nmethod", "_scopes_data_offset", TO(code_scopes_offset), false},
	{"nmethod", "_metadata_offset", TO(code_methods), false},
	{"nmethod", "_immutable_data", TO(code_constant), false},
	{"CodeBlob", "_mutable_data", TO(code_mutable), false},
	{"CodeBlob", "_relocation_size", TO(code_relocations), false},
	{"Abstract_VM_Version", "_vm_major_version", TO(major_at), true},
};

static uint64_t *member_of(LodeHotspotLayout *self, const Row *row)
{
	return (uint64_t *)(void *)((char *)self + row->to);
}

static bool is_row(const Row *row, const char *type, const char *field)
{
	return strcmp(row->type, type) == 0 && g_strcmp0(row->field, field) == 0;
}

/* A name of a table; of a longer one the beginning. False: it cannot be read. */
static bool read_name(const LodeForeignMemory *memory, uint64_t address, char name[MAX_NAME])
{
	size_t n = address != 0 ? memory->read(memory->data, address, name, MAX_NAME - 1) : 0;

	name[n] = '\0';
	return n > 0;
}

/* The rows' name of a type; NULL: there are none of it. */
static const char *find_type(const char *type, bool is_size)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(rows[i].type, type) == 0 && (rows[i].field == NULL) == is_size)
			return rows[i].type;
	return NULL;
}

/* A static member has an address, the others an offset. */
static void take(LodeHotspotLayout *self, const char *type, const char *field, uint64_t value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (is_row(&rows[i], type, field) &&
			*member_of(self, &rows[i]) == LODE_HOTSPOT_LACKS)
			*member_of(self, &rows[i]) = value;
}

/* What an array's entries have where, as libjvm.so says. */
typedef struct {
	uint64_t at, type, field, value, address, stride;
	bool has_fields;
} Table;

/* The type of an entry, if there are rows of it; names that are equal are mostly one. False: it
 * cannot be read, as of the entry after the last. */
static bool read_type(const LodeForeignMemory *memory, const Table *table, uint64_t address,
	GHashTable *known, const char **out_type)
{
	char name[MAX_NAME];
	void *type;

	if (g_hash_table_lookup_extended(known, &address, NULL, &type)) {
		*out_type = type;
		return true;
	}
	if (!read_name(memory, address, name))
		return false;
	*out_type = find_type(name, !table->has_fields);
	g_hash_table_insert(known, g_memdup2(&address, sizeof(address)), (char *)*out_type);
	return true;
}

static bool take_entry(LodeHotspotLayout *self, const LodeForeignMemory *memory, const Table *table,
	const uint8_t *entry, GHashTable *known)
{
	const char *type;
	char field[MAX_NAME];

	if (!read_type(memory, table, lode_u64_at(entry, table->type), known, &type))
		return false;
	if (type == NULL)
		return true;
	if (!table->has_fields) {
		take(self, type, NULL, lode_u64_at(entry, table->value));
		return true;
	}
	if (!read_name(memory, lode_u64_at(entry, table->field), field))
		return false;
	uint64_t address = lode_u64_at(entry, table->address);
	take(self, type, field, address != 0 ? address : lode_u64_at(entry, table->value));
	return true;
}

static void read_table(LodeHotspotLayout *self, const LodeForeignMemory *memory, const Table *table)
{
	g_autoptr(GHashTable)
		known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	uint64_t most = table->stride - sizeof(uint64_t);
	uint8_t entries[AT_ONCE * MAX_STRIDE];

	if (table->stride < sizeof(uint64_t) || table->stride > MAX_STRIDE || table->type > most ||
		table->field > most || table->value > most || table->address > most)
		return;
	for (uint64_t i = 0; i < MAX_ENTRIES; i += AT_ONCE) {
		size_t n = memory->read(memory->data, table->at + i * table->stride, entries,
				   AT_ONCE * table->stride) /
		           table->stride;
		for (size_t k = 0; k < n; k++)
			if (!take_entry(self, memory, table, entries + k * table->stride, known))
				return;
		if (n < AT_ONCE)
			return;
	}
}

/* Offsets of members are small, so that no sum of an address and one overflows unseen. */
static bool is_whole(LodeHotspotLayout *self)
{
	enum { MOST_BYTES = 1 << 16 };

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint64_t value = *member_of(self, &rows[i]);
		bool is_address = rows[i].to <= TO(major_at);
		if (value == LODE_HOTSPOT_LACKS ? rows[i].is_needed
						: !is_address && value > MOST_BYTES)
			return false;
	}
	return true;
}

bool lode_hotspot_layout_read(
	LodeHotspotLayout *out, const uint64_t *symbols, const LodeForeignMemory *memory)
{
	uint64_t values[LODE_HOTSPOT_N_SYMBOLS];

	for (unsigned i = 0; i < LODE_HOTSPOT_N_SYMBOLS; i++)
		if (!lode_foreign_read(memory, symbols[i], &values[i], sizeof(values[i])))
			return false;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		*member_of(out, &rows[i]) = LODE_HOTSPOT_LACKS;
	const Table fields = {values[LODE_HOTSPOT_STRUCTS], values[LODE_HOTSPOT_STRUCT_TYPE],
		values[LODE_HOTSPOT_STRUCT_FIELD], values[LODE_HOTSPOT_STRUCT_OFFSET],
		values[LODE_HOTSPOT_STRUCT_ADDRESS], values[LODE_HOTSPOT_STRUCT_STRIDE], true};
	const Table types = {values[LODE_HOTSPOT_TYPES], values[LODE_HOTSPOT_TYPE_NAME], 0,
		values[LODE_HOTSPOT_TYPE_SIZE], 0, values[LODE_HOTSPOT_TYPE_STRIDE], false};
	read_table(out, memory, &fields);
	read_table(out, memory, &types);
	return is_whole(out);
}
