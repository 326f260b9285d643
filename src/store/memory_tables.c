/* SPDX-License-Identifier: MIT */
/*
 * One list of columns for each table says where a value is in the row's struct, what kind it has
 * and what it may refer to; writing, reading and checking go by it.
 */
#include "store/memory_tables.h"

#include "base/error.h"
#include "store/row_reader.h"
#include "store/row_source.h"

#include <math.h>
#include <string.h>

typedef enum {
	AMOUNT,       /* double ≥ 0 */
	WORD,         /* uint64_t, all 64 bits */
	END_TIME,     /* uint64_t; UINT64_MAX is NULL */
	NUMBER,       /* uint32_t */
	MAYBE_NUMBER, /* uint32_t; UINT32_MAX is NULL */
	REFERENCE,    /* uint32_t */
	MAYBE_REFERENCE,
	TEXT,
	MAYBE_TEXT,
	FLAG,  /* bool */
	SMALL, /* uint8_t */
	RULE,  /* uint8_t, as a word */
	REASON,
	ACCESS,
	LAYER, /* LodeObjectLayer, as a word */
} Kind;

/* What a reference is to. */
typedef enum {
	THREADS,
	MAPPINGS,
	SITES,
	ALLOCATIONS,
	TYPES,
	MEMBERS,
	OBJECTS,
	EVENTS,
	INSTRUCTIONS,
	FUNCTIONS,
	LOCATIONS,
	N_TARGETS,
} Target;

typedef struct {
	const char *name;
	size_t offset; /* in the row's struct */
	Kind kind;
	Target target; /* of references */
} Column;

typedef struct {
	const char *name;
	size_t array; /* offset of the GArray in LodeMemory */
	size_t row_size;
	const Column *columns;
	size_t n_columns;
} Table;

#define AT(type, field) offsetof(type, field)

static const Column thread_columns[] = {
	{"pid", AT(LodeThread, pid), NUMBER, 0},
	{"tid", AT(LodeThread, tid), NUMBER, 0},
	{"ordinal", AT(LodeThread, ordinal), NUMBER, 0},
	{"name", AT(LodeThread, name), MAYBE_TEXT, 0},
	{"begin_ns", AT(LodeThread, begin_ns), WORD, 0},
	{"end_ns", AT(LodeThread, end_ns), END_TIME, 0},
};

static const Column mapping_columns[] = {
	{"pid", AT(LodeMemoryMapping, pid), NUMBER, 0},
	{"start_address", AT(LodeMemoryMapping, start), WORD, 0},
	{"end_address", AT(LodeMemoryMapping, end), WORD, 0},
	{"protection", AT(LodeMemoryMapping, protection), NUMBER, 0},
	{"begin_ns", AT(LodeMemoryMapping, begin_ns), WORD, 0},
	{"name", AT(LodeMemoryMapping, name), TEXT, 0},
};

static const Column site_columns[] = {
	{"name", AT(LodeAllocationSite, name), TEXT, 0},
	{"stack", AT(LodeAllocationSite, stack), MAYBE_TEXT, 0},
	{"allocations", AT(LodeAllocationSite, n), WORD, 0},
	{"bytes", AT(LodeAllocationSite, n_bytes), WORD, 0},
};

static const Column allocation_columns[] = {
	{"pid", AT(LodeAllocation, pid), NUMBER, 0},
	{"site", AT(LodeAllocation, site), REFERENCE, SITES},
	{"thread", AT(LodeAllocation, thread), MAYBE_REFERENCE, THREADS},
	{"address", AT(LodeAllocation, address), WORD, 0},
	{"size", AT(LodeAllocation, size), WORD, 0},
	{"begin_ns", AT(LodeAllocation, begin_ns), WORD, 0},
	{"end_ns", AT(LodeAllocation, end_ns), END_TIME, 0},
};

static const Column type_columns[] = {
	{"name", AT(LodeDataType, name), TEXT, 0},
	{"size", AT(LodeDataType, size), WORD, 0},
	{"first_member", AT(LodeDataType, first_member), NUMBER, 0},
	{"members", AT(LodeDataType, n_members), NUMBER, 0},
};

static const Column member_columns[] = {
	{"name", AT(LodeDataMember, name), TEXT, 0},
	{"type_name", AT(LodeDataMember, type), TEXT, 0},
	{"offset", AT(LodeDataMember, offset), WORD, 0},
	{"size", AT(LodeDataMember, size), WORD, 0},
	{"bit_offset", AT(LodeDataMember, bit_offset), NUMBER, 0},
	{"bit_size", AT(LodeDataMember, bit_size), NUMBER, 0},
	{"stride", AT(LodeDataMember, stride), WORD, 0},
	{"repeats", AT(LodeDataMember, repeats), WORD, 0},
};

static const Column object_columns[] = {
	{"name", AT(LodeDataObject, name), TEXT, 0},
	{"layer", AT(LodeDataObject, layer), LAYER, 0},
	{"type", AT(LodeDataObject, type), MAYBE_REFERENCE, TYPES},
	{"member", AT(LodeDataObject, member), MAYBE_REFERENCE, MEMBERS},
	{"site", AT(LodeDataObject, site), MAYBE_REFERENCE, SITES},
	{"variable", AT(LodeDataObject, variable), MAYBE_TEXT, 0},
	{"mapping", AT(LodeDataObject, mapping), MAYBE_TEXT, 0},
};

static const Column sample_columns[] = {
	{"weight", AT(LodeMemorySample, weight), AMOUNT, 0},
	{"time_ns", AT(LodeMemorySample, time_ns), WORD, 0},
	{"pc", AT(LodeMemorySample, pc), WORD, 0},
	{"access_pc", AT(LodeMemorySample, access_pc), WORD, 0},
	{"address", AT(LodeMemorySample, address), WORD, 0},
	{"data_source", AT(LodeMemorySample, data_source), WORD, 0},
	{"latency", AT(LodeMemorySample, latency), WORD, 0},
	{"thread", AT(LodeMemorySample, thread), REFERENCE, THREADS},
	{"event", AT(LodeMemorySample, event), REFERENCE, EVENTS},
	{"instruction", AT(LodeMemorySample, instruction), MAYBE_REFERENCE, INSTRUCTIONS},
	{"access_instruction", AT(LodeMemorySample, access_instruction), MAYBE_REFERENCE,
		INSTRUCTIONS},
	{"access_function", AT(LodeMemorySample, access_function), MAYBE_REFERENCE, FUNCTIONS},
	{"access_location", AT(LodeMemorySample, access_location), MAYBE_REFERENCE, LOCATIONS},
	{"object", AT(LodeMemorySample, object), MAYBE_REFERENCE, OBJECTS},
	{"mapping", AT(LodeMemorySample, mapping), MAYBE_REFERENCE, MAPPINGS},
	{"allocation", AT(LodeMemorySample, allocation), MAYBE_REFERENCE, ALLOCATIONS},
	{"cpu", AT(LodeMemorySample, cpu), MAYBE_NUMBER, 0},
	{"node", AT(LodeMemorySample, node), MAYBE_NUMBER, 0},
	{"size", AT(LodeMemorySample, size), NUMBER, 0},
	{"rule", AT(LodeMemorySample, rule), RULE, 0},
	{"reason", AT(LodeMemorySample, reason), REASON, 0},
	{"access", AT(LodeMemorySample, access), ACCESS, 0},
	{"operand", AT(LodeMemorySample, operand), SMALL, 0},
	{"is_unverified", AT(LodeMemorySample, is_unverified), FLAG, 0},
	{"is_next", AT(LodeMemorySample, is_next), FLAG, 0},
};

#define TABLE(name, array, type, columns)                                                          \
	{                                                                                          \
		name, AT(LodeMemory, array), sizeof(type), columns, G_N_ELEMENTS(columns)          \
	}

static const Table tables[] = {
	TABLE("thread", threads, LodeThread, thread_columns),
	TABLE("mapping", mappings, LodeMemoryMapping, mapping_columns),
	TABLE("allocation_site", sites, LodeAllocationSite, site_columns),
	TABLE("allocation", allocations, LodeAllocation, allocation_columns),
	TABLE("data_type", types, LodeDataType, type_columns),
	TABLE("data_member", members, LodeDataMember, member_columns),
	TABLE("data_object", objects, LodeDataObject, object_columns),
	TABLE("memory_sample", samples, LodeMemorySample, sample_columns),
};

static const char *const access_words[] = {"none", "load", "store", "modify"};

static int access_from_text(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(access_words); i++)
		if (strcmp(access_words[i], text) == 0)
			return (int)i;
	return -1;
}

static GArray *array_of(const LodeMemory *memory, const Table *table)
{
	return *(GArray *const *)((const char *)memory + table->array);
}

static char *row_of(const LodeMemory *memory, const Table *table, size_t row)
{
	return array_of(memory, table)->data + row * table->row_size;
}

/* What is unaligned nowhere, but has no type here. */
static uint32_t number_at(const char *place)
{
	uint32_t value;

	memcpy(&value, place, sizeof(value));
	return value;
}

static uint64_t word_at(const char *place)
{
	uint64_t value;

	memcpy(&value, place, sizeof(value));
	return value;
}

static char *text_at(const char *place)
{
	char *value;

	memcpy(&value, place, sizeof(value));
	return value;
}

static double amount_at(const char *place)
{
	double value;

	memcpy(&value, place, sizeof(value));
	return value;
}

typedef struct {
	const LodeMemory *memory;
	const Table *table;
} Insertion;

static void give_number(const char *place, bool may_be_none, sqlite3_context *out)
{
	if (!may_be_none || number_at(place) != UINT32_MAX)
		sqlite3_result_int64(out, number_at(place));
}

static void give(void *data, size_t row, int index, sqlite3_context *out)
{
	const Insertion *self = data;
	const Column *column = &self->table->columns[index];
	const char *place = row_of(self->memory, self->table, row) + column->offset;

	switch (column->kind) {
	case AMOUNT:
		sqlite3_result_double(out, amount_at(place));
		break;
	case WORD:
		sqlite3_result_int64(out, (sqlite3_int64)word_at(place));
		break;
	case END_TIME:
		if (word_at(place) != UINT64_MAX)
			sqlite3_result_int64(out, (sqlite3_int64)word_at(place));
		break;
	case NUMBER:
	case MAYBE_NUMBER:
		give_number(place, column->kind == MAYBE_NUMBER, out);
		break;
	case REFERENCE:
	case MAYBE_REFERENCE:
		lode_row_result_reference(out, number_at(place));
		break;
	case TEXT:
	case MAYBE_TEXT:
		lode_row_result_text(out, text_at(place));
		break;
	case FLAG:
	case SMALL:
		sqlite3_result_int(out, *(const uint8_t *)place);
		break;
	case RULE:
		lode_row_result_text(
			out, lode_address_rule_to_text((LodeAddressRule) * (const uint8_t *)place));
		break;
	case REASON:
		lode_row_result_text(out,
			lode_address_reason_to_text((LodeAddressReason) * (const uint8_t *)place));
		break;
	case ACCESS:
		lode_row_result_text(out, access_words[*(const uint8_t *)place]);
		break;
	case LAYER:
		lode_row_result_text(
			out, lode_object_layer_to_text((LodeObjectLayer)number_at(place)));
		break;
	}
}

static char *column_names(const Table *table)
{
	GString *names = g_string_new(NULL);

	for (size_t i = 0; i < table->n_columns; i++)
		g_string_append_printf(names, "%s%s", i > 0 ? "," : "", table->columns[i].name);
	return g_string_free(names, FALSE);
}

double lode_memory_tables_count(const LodeMemory *memory)
{
	double n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		n += array_of(memory, &tables[i])->len;
	return n;
}

static bool insert_flags(const LodeMemory *memory, LodeDatabase *database, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"INSERT INTO memory_recording VALUES (1, %d, %d, %d)", memory->has_allocations,
		memory->is_stall_weighted, memory->has_fixed_addresses);

	return lode_database_execute(database, sql, error);
}

bool lode_memory_tables_insert(const LodeMemory *memory, LodeDatabase *database, GError **error)
{
	if (!insert_flags(memory, database, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		Insertion insertion = {memory, &tables[i]};
		g_autofree char *columns = column_names(&tables[i]);
		const LodeRowSource source = {tables[i].name, columns,
			array_of(memory, &tables[i])->len, give, &insertion};
		if (!lode_row_source_insert(&source, database, error))
			return false;
	}
	return true;
}

static void put_number(char *place, uint32_t value)
{
	memcpy(place, &value, sizeof(value));
}

static void put_word(char *place, uint64_t value)
{
	memcpy(place, &value, sizeof(value));
}

static void put_text(char *place, LodeProfile *profile, const char *text)
{
	char *kept = lode_profile_intern(profile, text);

	memcpy(place, &kept, sizeof(kept));
}

static void take_amount(char *place, LodeRowReader *rows, int index)
{
	double value = lode_row_reader_amount(rows, index);

	memcpy(place, &value, sizeof(value));
}

static void take(LodeProfile *profile, const Column *column, char *row, LodeRowReader *rows, int i)
{
	char *place = row + column->offset;

	switch (column->kind) {
	case AMOUNT:
		take_amount(place, rows, i);
		break;
	case WORD:
		put_word(place, lode_row_reader_address(rows, i));
		break;
	case END_TIME:
		put_word(place, lode_row_reader_is_null(rows, i)
					? UINT64_MAX
					: lode_row_reader_address(rows, i));
		break;
	case NUMBER:
		put_number(place, (uint32_t)lode_row_reader_integer(rows, i, UINT32_MAX));
		break;
	case MAYBE_NUMBER:
		put_number(place, lode_row_reader_is_null(rows, i)
					  ? UINT32_MAX
					  : (uint32_t)lode_row_reader_integer(rows, i, UINT32_MAX));
		break;
	case REFERENCE:
		put_number(place, lode_row_reader_reference(rows, i));
		break;
	case MAYBE_REFERENCE:
		put_number(place, lode_row_reader_optional_reference(rows, i));
		break;
	case TEXT:
		put_text(place, profile, lode_row_reader_text(rows, i));
		break;
	case MAYBE_TEXT:
		put_text(place, profile, lode_row_reader_optional_text(rows, i));
		break;
	case FLAG:
		*(uint8_t *)place = lode_row_reader_integer(rows, i, 1) != 0;
		break;
	case SMALL:
		*(uint8_t *)place = (uint8_t)lode_row_reader_integer(rows, i, UINT8_MAX);
		break;
	case RULE:
		*(uint8_t *)place = (uint8_t)lode_row_reader_word(
			rows, i, lode_address_rule_from_text);
		break;
	case REASON:
		*(uint8_t *)place = (uint8_t)lode_row_reader_word(
			rows, i, lode_address_reason_from_text);
		break;
	case ACCESS:
		*(uint8_t *)place = (uint8_t)lode_row_reader_word(rows, i, access_from_text);
		break;
	case LAYER:
		put_number(place,
			(uint32_t)lode_row_reader_word(rows, i, lode_object_layer_from_text));
		break;
	}
}

static bool read_table(
	LodeProfile *profile, const Table *table, LodeDatabase *database, GError **error)
{
	GArray *array = array_of(profile->memory, table);
	g_autofree char *columns = column_names(table);
	g_autofree char *sql = g_strdup_printf(
		"SELECT id,%s FROM %s ORDER BY id", columns, table->name);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, table->name, sql);
	while (lode_row_reader_next_numbered(&rows)) {
		g_array_set_size(array, array->len + 1);
		char *row = row_of(profile->memory, table, array->len - 1);
		for (size_t i = 0; i < table->n_columns; i++)
			take(profile, &table->columns[i], row, &rows, (int)i + 1);
	}
	return lode_row_reader_finish(&rows, error);
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
	bool is_there = false;

	if (!read_flags(memory, database, &is_there, error))
		return false;
	if (!is_there)
		return true;
	profile->memory = g_steal_pointer(&memory);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (!read_table(profile, &tables[i], database, error))
			return false;
	return lode_memory_check(profile, error);
}

static bool broken(
	GError **error, const char *table, size_t row, const char *format, const char *name)
{
	g_autofree char *what = g_strdup_printf(format, name);

	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "table '%s', row %zu: %s", table,
		row + 1, what);
	return false;
}

/* How many rows each kind of reference may be to. */
static void count_targets(const LodeProfile *profile, size_t out_counts[N_TARGETS])
{
	const LodeMemory *memory = profile->memory;

	out_counts[THREADS] = memory->threads->len;
	out_counts[MAPPINGS] = memory->mappings->len;
	out_counts[SITES] = memory->sites->len;
	out_counts[ALLOCATIONS] = memory->allocations->len;
	out_counts[TYPES] = memory->types->len;
	out_counts[MEMBERS] = memory->members->len;
	out_counts[OBJECTS] = memory->objects->len;
	out_counts[EVENTS] = profile->events->len;
	out_counts[INSTRUCTIONS] = profile->instructions->len;
	out_counts[FUNCTIONS] = profile->functions->len;
	out_counts[LOCATIONS] = profile->locations->len;
}

static bool is_sound(const Column *column, const char *place, const size_t *counts)
{
	switch (column->kind) {
	case AMOUNT:
		return isfinite(amount_at(place)) && amount_at(place) >= 0;
	case MAYBE_REFERENCE:
		return number_at(place) == UINT32_MAX || number_at(place) < counts[column->target];
	case REFERENCE:
		return number_at(place) < counts[column->target];
	case TEXT:
		return text_at(place) != NULL;
	case RULE:
		return *(const uint8_t *)place < LODE_N_RULES;
	case REASON:
		return *(const uint8_t *)place < LODE_N_REASONS;
	case ACCESS:
		return *(const uint8_t *)place < G_N_ELEMENTS(access_words);
	case LAYER:
		return number_at(place) < LODE_N_LAYERS;
	default:
		return true;
	}
}

static bool check_table(
	const LodeMemory *memory, const Table *table, const size_t *counts, GError **error)
{
	for (size_t row = 0; row < array_of(memory, table)->len; row++) {
		const char *place = row_of(memory, table, row);
		for (size_t i = 0; i < table->n_columns; i++)
			if (!is_sound(&table->columns[i], place + table->columns[i].offset, counts))
				return broken(error, table->name, row,
					"its %s does not exist or is out of range",
					table->columns[i].name);
	}
	return true;
}

/* Members stand type by type, each type's own; a mapping does not end before it begins. */
static bool check_ranges(const LodeMemory *memory, GError **error)
{
	uint64_t next = 0;

	for (guint i = 0; i < memory->types->len; i++) {
		const LodeDataType *type = &LODE_AT(memory->types, LodeDataType, i);
		if (type->first_member != next || type->n_members > memory->members->len - next)
			return broken(error, "data_type", i, "its %s are not its own", "members");
		next += type->n_members;
	}
	if (next != memory->members->len)
		return broken(error, "data_member", next, "its %s does not exist", "type");
	for (guint i = 0; i < memory->mappings->len; i++) {
		const LodeMemoryMapping *mapping = &LODE_AT(memory->mappings, LodeMemoryMapping, i);
		if (mapping->end < mapping->start)
			return broken(error, "mapping", i, "it ends before it %s", "begins");
	}
	return true;
}

bool lode_memory_check(const LodeProfile *profile, GError **error)
{
	size_t counts[N_TARGETS];

	if (profile->memory == NULL)
		return true;
	count_targets(profile, counts);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (!check_table(profile->memory, &tables[i], counts, error))
			return false;
	return check_ranges(profile->memory, error);
}
