/* SPDX-License-Identifier: MIT */
#include "store/tables/row_table.h"

#include "base/arrays/hash.h"
#include "base/error.h"
#include "base/text/words.h"
#include "model/findings.h"
#include "model/kinds.h"
#include "model/memory.h"
#include "model/observed/windows.h"
#include "model/waits.h"
#include "store/tables/row_source.h"

#include <math.h>
#include <string.h>

static const char *const access_words[] = {"none", "load", "store", "modify"};

static int access_from_text(const char *text)
{
	return lode_word_find(access_words, G_N_ELEMENTS(access_words), text);
}

static int wait_reason_from_text(const char *text)
{
	LodeWaitReason reason = lode_wait_reason_from_text(text);

	return reason < LODE_N_WAIT_REASONS ? (int)reason : -1;
}

static const char *word_to_text(LodeWords words, uint32_t value)
{
	switch (words) {
	case LODE_WORDS_FREQUENCY:
		return lode_frequency_to_text((LodeFrequency)value);
	case LODE_WORDS_EVENT_KIND:
		return lode_event_kind_to_text((LodeEventKind)value);
	case LODE_WORDS_IMAGE_KIND:
		return lode_image_kind_to_text((LodeImageKind)value);
	case LODE_WORDS_FUNCTION_SOURCE:
		return lode_function_source_to_text((LodeFunctionSource)value);
	case LODE_WORDS_EDGE_KIND:
		return lode_edge_kind_to_text((LodeEdgeKind)value);
	case LODE_WORDS_RULE:
		return lode_address_rule_to_text((LodeAddressRule)value);
	case LODE_WORDS_REASON:
		return lode_address_reason_to_text((LodeAddressReason)value);
	case LODE_WORDS_ACCESS:
		return access_words[value];
	case LODE_WORDS_LAYER:
		return lode_object_layer_to_text((LodeObjectLayer)value);
	case LODE_WORDS_CALL_ROLE:
		return lode_call_role_to_text((LodeCallRole)value);
	case LODE_WORDS_WINDOW_FACT:
		return lode_window_fact_to_text((LodeWindowFact)value);
	case LODE_WORDS_FINDING_KIND:
		return lode_finding_kind_to_text((LodeFindingKind)value);
	case LODE_WORDS_WAIT_REASON:
		return lode_wait_reason_to_text((LodeWaitReason)value);
	case LODE_WORDS_SLICE_KIND:
		return lode_wait_slice_kind_to_text(value);
	}
	g_assert_not_reached();
}

/* How many there are, and the way back. */
static const struct {
	uint32_t n;
	int (*from_text)(const char *text);
} vocabularies[] = {
	[LODE_WORDS_FREQUENCY] = {LODE_FREQUENCY_GIVEN + 1, lode_frequency_from_text},
	[LODE_WORDS_EVENT_KIND] = {LODE_EVENT_DERIVED + 1, lode_event_kind_from_text},
	[LODE_WORDS_IMAGE_KIND] = {LODE_IMAGE_JAVA + 1, lode_image_kind_from_text},
	[LODE_WORDS_FUNCTION_SOURCE] = {LODE_FUNCTION_GIVEN + 1, lode_function_source_from_text},
	[LODE_WORDS_EDGE_KIND] = {LODE_EDGE_GIVEN + 1, lode_edge_kind_from_text},
	[LODE_WORDS_RULE] = {LODE_N_RULES, lode_address_rule_from_text},
	[LODE_WORDS_REASON] = {LODE_N_REASONS, lode_address_reason_from_text},
	[LODE_WORDS_ACCESS] = {G_N_ELEMENTS(access_words), access_from_text},
	[LODE_WORDS_LAYER] = {LODE_N_LAYERS, lode_object_layer_from_text},
	[LODE_WORDS_CALL_ROLE] = {LODE_N_CALL_ROLES, lode_call_role_from_text},
	[LODE_WORDS_WINDOW_FACT] = {LODE_N_WINDOW_FACTS, lode_window_fact_from_text},
	[LODE_WORDS_FINDING_KIND] = {LODE_FINDING_PLACE + 1, lode_finding_kind_from_text},
	[LODE_WORDS_WAIT_REASON] = {LODE_N_WAIT_REASONS, wait_reason_from_text},
	[LODE_WORDS_SLICE_KIND] = {LODE_N_SLICE_KINDS, lode_wait_slice_kind_from_text},
};

/* A value of any kind, out of a struct whose type is not known here. */
typedef union {
	double real;
	uint64_t bits;
	uint32_t number;
	uint8_t small;
	char *text;
	GBytes *bytes;
} Value;

static size_t size_of(LodeColumnKind kind)
{
	switch (kind) {
	case LODE_COLUMN_NUMBER:
	case LODE_COLUMN_MAYBE_NUMBER:
	case LODE_COLUMN_REFERENCE:
	case LODE_COLUMN_MAYBE_REFERENCE:
	case LODE_COLUMN_WORD:
		return sizeof(uint32_t);
	case LODE_COLUMN_FLAG:
	case LODE_COLUMN_SMALL:
	case LODE_COLUMN_SMALL_WORD:
		return sizeof(uint8_t);
	default:
		return sizeof(uint64_t);
	}
}

static Value value_at(const LodeColumn *column, const void *row)
{
	const char *place = (const char *)row + column->offset;
	Value value = {.bits = 0};

	/* The sizes are constant, so that each is one load. */
	switch (size_of(column->kind)) {
	case sizeof(uint8_t):
		memcpy(&value, place, sizeof(uint8_t));
		break;
	case sizeof(uint32_t):
		memcpy(&value, place, sizeof(uint32_t));
		break;
	default:
		memcpy(&value, place, sizeof(uint64_t));
	}
	return value;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	hash = lode_hash_append(hash, n);
	for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
		uint64_t part = 0;
		memcpy(&part, (const char *)bytes + i, MIN(n - i, sizeof(part)));
		hash = lode_hash_append(hash, part);
	}
	return hash;
}

static void give_text(const char *text, LodeDatabase *database, sqlite3_context *out)
{
	size_t length = text != NULL ? strlen(text) : 0;

	database->content = hash_bytes(database->content, text, length);
	sqlite3_result_text64(out, text, length, SQLITE_STATIC, SQLITE_UTF8);
}

static void give_bytes(GBytes *code, LodeDatabase *database, sqlite3_context *out)
{
	size_t size;

	if (code == NULL)
		return;
	const void *bytes = g_bytes_get_data(code, &size);
	database->content = hash_bytes(database->content, bytes, size);
	/* A NULL pointer would become NULL, not an empty blob. */
	sqlite3_result_blob64(out, bytes != NULL ? bytes : "", size, SQLITE_STATIC);
}

/* The content's hash is over the values in memory, where all have known sizes: NULL is what stands
 * for it there. */
void lode_column_give(
	const LodeColumn *self, const void *row, LodeDatabase *database, sqlite3_context *out)
{
	Value value = value_at(self, row);

	switch (self->kind) {
	case LODE_COLUMN_TEXT:
	case LODE_COLUMN_MAYBE_TEXT:
		give_text(value.text, database, out);
		return;
	case LODE_COLUMN_MAYBE_BYTES:
		give_bytes(value.bytes, database, out);
		return;
	default:
		database->content = lode_hash_append(database->content, value.bits);
	}
	switch (self->kind) {
	case LODE_COLUMN_MAYBE_AMOUNT:
		if (value.real < 0)
			break;
		G_GNUC_FALLTHROUGH;
	case LODE_COLUMN_AMOUNT:
	case LODE_COLUMN_REAL:
		sqlite3_result_double(out, value.real);
		break;
	case LODE_COLUMN_END_TIME:
		if (value.bits == UINT64_MAX)
			break;
		G_GNUC_FALLTHROUGH;
	case LODE_COLUMN_BITS:
	case LODE_COLUMN_SIZE:
		sqlite3_result_int64(out, (sqlite3_int64)value.bits);
		break;
	case LODE_COLUMN_MAYBE_NUMBER:
		if (value.number == UINT32_MAX)
			break;
		G_GNUC_FALLTHROUGH;
	case LODE_COLUMN_NUMBER:
		sqlite3_result_int64(out, value.number);
		break;
	case LODE_COLUMN_REFERENCE:
	case LODE_COLUMN_MAYBE_REFERENCE:
		lode_row_result_reference(out, value.number);
		break;
	case LODE_COLUMN_FLAG:
	case LODE_COLUMN_SMALL:
		sqlite3_result_int(out, value.small);
		break;
	case LODE_COLUMN_WORD:
		lode_row_result_text(out, word_to_text((LodeWords)self->of, value.number));
		break;
	case LODE_COLUMN_SMALL_WORD:
		lode_row_result_text(out, word_to_text((LodeWords)self->of, value.small));
		break;
	default:
		g_assert_not_reached();
	}
}

typedef struct {
	const LodeRowTable *table;
	const char *rows;
	LodeDatabase *database;
	int64_t run;   /* 0: not of a run */
	int n_numbers; /* columns before the table's own: of a run its number, and the row's */
} Insertion;

static void give(void *data, size_t row, int index, sqlite3_context *out)
{
	const Insertion *self = data;

	if (index >= self->n_numbers)
		lode_column_give(&self->table->columns[index - self->n_numbers],
			self->rows + row * self->table->row_size, self->database, out);
	else
		sqlite3_result_int64(out, index == 0 ? self->run : (sqlite3_int64)row + 1);
}

/* "id,name,kind" */
static char *column_names(const char *before, const LodeRowTable *table)
{
	GString *names = g_string_new(before);

	for (size_t i = 0; i < table->n_columns; i++)
		g_string_append_printf(
			names, "%s%s", names->len > 0 ? "," : "", table->columns[i].name);
	return g_string_free(names, FALSE);
}

bool lode_row_table_insert_of_run(const LodeRowTable *self, int64_t run, const void *rows, size_t n,
	LodeDatabase *database, GError **error)
{
	Insertion insertion = {self, rows, database, run, run == 0 ? 0 : self->key != NULL ? 1 : 2};
	g_autofree char *columns = column_names(insertion.n_numbers == 0   ? ""
						: insertion.n_numbers == 1 ? "run"
									   : "run,id",
		self);
	const LodeRowSource source = {self->name, columns, n, give, &insertion};

	database->content = lode_hash_append(database->content, n);
	return lode_row_source_insert(&source, database, error);
}

bool lode_row_table_insert(const LodeRowTable *self, const void *rows, size_t n,
	LodeDatabase *database, GError **error)
{
	return lode_row_table_insert_of_run(self, 0, rows, n, database, error);
}

void lode_column_take(
	const LodeColumn *self, void *row, GStringChunk *strings, LodeRowReader *rows, int index)
{
	bool is_null = (self->kind == LODE_COLUMN_MAYBE_AMOUNT ||
			       self->kind == LODE_COLUMN_END_TIME ||
			       self->kind == LODE_COLUMN_MAYBE_NUMBER) &&
	               lode_row_reader_is_null(rows, index);
	Value value = {.bits = 0};

	switch (self->kind) {
	case LODE_COLUMN_AMOUNT:
	case LODE_COLUMN_MAYBE_AMOUNT:
		value.real = is_null ? -1 : lode_row_reader_amount(rows, index);
		break;
	case LODE_COLUMN_REAL:
		value.real = lode_row_reader_number(rows, index);
		break;
	case LODE_COLUMN_BITS:
	case LODE_COLUMN_END_TIME:
		value.bits = is_null ? UINT64_MAX : lode_row_reader_address(rows, index);
		break;
	case LODE_COLUMN_SIZE:
		value.bits = lode_row_reader_integer(rows, index, INT64_MAX);
		break;
	case LODE_COLUMN_NUMBER:
	case LODE_COLUMN_MAYBE_NUMBER:
		value.number = is_null ? UINT32_MAX
		                       : (uint32_t)lode_row_reader_integer(rows, index, UINT32_MAX);
		break;
	case LODE_COLUMN_REFERENCE:
		value.number = lode_row_reader_reference(rows, index);
		break;
	case LODE_COLUMN_MAYBE_REFERENCE:
		value.number = lode_row_reader_optional_reference(rows, index);
		break;
	case LODE_COLUMN_TEXT:
	case LODE_COLUMN_MAYBE_TEXT: {
		const char *text = self->kind == LODE_COLUMN_TEXT
		                           ? lode_row_reader_text(rows, index)
		                           : lode_row_reader_optional_text(rows, index);
		value.text = text != NULL ? g_string_chunk_insert_const(strings, text) : NULL;
		break;
	}
	case LODE_COLUMN_MAYBE_BYTES:
		value.bytes = lode_row_reader_optional_bytes(rows, index);
		break;
	case LODE_COLUMN_FLAG:
		value.small = (uint8_t)lode_row_reader_integer(rows, index, 1);
		break;
	case LODE_COLUMN_SMALL:
		value.small = (uint8_t)lode_row_reader_integer(rows, index, UINT8_MAX);
		break;
	case LODE_COLUMN_WORD:
		value.number = (uint32_t)lode_row_reader_word(
			rows, index, vocabularies[self->of].from_text);
		break;
	case LODE_COLUMN_SMALL_WORD:
		value.small = (uint8_t)lode_row_reader_word(
			rows, index, vocabularies[self->of].from_text);
		break;
	}
	memcpy((char *)row + self->offset, &value, size_of(self->kind));
}

/* A key as one number that rises with it: references count from 1, none is 0. */
static uint64_t key_of(const LodeRowTable *table, const void *row)
{
	uint32_t high = value_at(&table->columns[0], row).number + 1;
	uint32_t low = value_at(&table->columns[1], row).number + 1;

	return (uint64_t)high << 32 | low;
}

bool lode_row_table_read_of_run(const LodeRowTable *self, int64_t run, GStringChunk *strings,
	GArray *rows, LodeDatabase *database, GError **error)
{
	g_autofree char *columns = column_names(self->key == NULL ? "id" : "", self);
	g_autofree char *where = run != 0 ? g_strdup_printf(" WHERE run = %" G_GINT64_FORMAT, run)
	                                  : NULL;
	g_autofree char *sql = g_strdup_printf("SELECT %s FROM %s%s ORDER BY %s", columns,
		self->name, where != NULL ? where : "", self->key == NULL ? "id" : self->key);
	int first = self->key == NULL ? 1 : 0;
	LodeRowReader reader;

	lode_row_reader_init(&reader, database, self->name, sql);
	while (self->key == NULL ? lode_row_reader_next_numbered(&reader)
				 : lode_row_reader_next(&reader)) {
		g_array_set_size(rows, rows->len + 1);
		char *row = rows->data + (rows->len - 1) * self->row_size;
		memset(row, 0, self->row_size);
		for (size_t i = 0; i < self->n_columns; i++)
			lode_column_take(&self->columns[i], row, strings, &reader, first + (int)i);
		/* A file may be made so that its tree shows the same rows again and again. */
		if (self->key != NULL && rows->len > 1 &&
			key_of(self, row) <= key_of(self, row - self->row_size))
			lode_row_reader_fail(&reader, "it is not in the order of %s", self->key);
	}
	return lode_row_reader_finish(&reader, error);
}

bool lode_row_table_read(const LodeRowTable *self, GStringChunk *strings, GArray *rows,
	LodeDatabase *database, GError **error)
{
	return lode_row_table_read_of_run(self, 0, strings, rows, database, error);
}

static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

static bool is_sound(const LodeColumn *column, const void *row, const size_t *counts)
{
	Value value = value_at(column, row);

	switch (column->kind) {
	case LODE_COLUMN_AMOUNT:
		return is_amount(value.real);
	case LODE_COLUMN_MAYBE_AMOUNT:
		return is_amount(value.real) || value.real == -1;
	case LODE_COLUMN_REAL:
		return isfinite(value.real);
	case LODE_COLUMN_SIZE:
		return value.bits <= INT64_MAX;
	case LODE_COLUMN_MAYBE_REFERENCE:
		return value.number == UINT32_MAX || value.number < counts[column->of];
	case LODE_COLUMN_REFERENCE:
		return value.number < counts[column->of];
	case LODE_COLUMN_TEXT:
		return value.text != NULL;
	case LODE_COLUMN_WORD:
		return value.number < vocabularies[column->of].n;
	case LODE_COLUMN_SMALL_WORD:
		return value.small < vocabularies[column->of].n;
	default:
		return true;
	}
}

bool lode_row_table_broken(GError **error, const char *table, size_t index, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "table '%s', row %zu: %s", table,
		index + 1, what);
	return false;
}

bool lode_row_table_check(const LodeRowTable *self, const void *rows, size_t n,
	const size_t counts[LODE_N_TARGETS], GError **error)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < self->n_columns; k++) {
			const LodeColumn *column = &self->columns[k];
			if (is_sound(column, (const char *)rows + i * self->row_size, counts))
				continue;
			g_autofree char *what = g_strdup_printf(
				"its %s does not exist or is out of range", column->name);
			return lode_row_table_broken(error, self->name, i, what);
		}
	return true;
}

static GArray *array_of(const LodeRowTable *table, const void *holder)
{
	return *(GArray *const *)(const void *)((const char *)holder + table->array);
}

double lode_row_tables_count(const LodeRowTable *tables, size_t n_tables, const void *holder)
{
	double n = 0;

	for (size_t i = 0; i < n_tables; i++)
		n += array_of(&tables[i], holder)->len;
	return n;
}

bool lode_row_tables_insert(const LodeRowTable *tables, size_t n_tables, const void *holder,
	LodeDatabase *database, GError **error)
{
	for (size_t i = 0; i < n_tables; i++) {
		const GArray *rows = array_of(&tables[i], holder);
		if (tables[i].is_optional && rows->len == 0)
			continue;
		if (!lode_row_table_insert(&tables[i], rows->data, rows->len, database, error))
			return false;
	}
	return true;
}

bool lode_row_tables_read(const LodeRowTable *tables, size_t n_tables, void *holder,
	GStringChunk *strings, LodeDatabase *database, bool *out_has, GError **error)
{
	bool has_all = true, has;

	for (size_t i = 0; i < n_tables; i++) {
		if (!lode_database_has_table(database, tables[i].name, &has, error))
			return false;
		has_all &= has || tables[i].is_optional;
	}
	for (size_t i = 0; i < n_tables && has_all; i++)
		if (!lode_database_has_table(database, tables[i].name, &has, error) ||
			(has && !lode_row_table_read(&tables[i], strings,
					array_of(&tables[i], holder), database, error)))
			return false;
	*out_has = has_all;
	return true;
}

bool lode_row_tables_check(const LodeRowTable *tables, size_t n_tables, const void *holder,
	const size_t counts[LODE_N_TARGETS], GError **error)
{
	for (size_t i = 0; i < n_tables; i++) {
		const GArray *rows = array_of(&tables[i], holder);
		if (!lode_row_table_check(&tables[i], rows->data, rows->len, counts, error))
			return false;
	}
	return true;
}
