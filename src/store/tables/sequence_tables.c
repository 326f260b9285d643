/* SPDX-License-Identifier: MIT */
#include "store/tables/run_tables.h"

#include "base/arrays/hash.h"
#include "base/error.h"
#include "base/text/json_stream.h"
#include "model/index.h"
#include "model/mining_run.h"
#include "store/json_text.h"
#include "store/profile_store.h"
#include "store/tables/row_reader.h"
#include "store/tables/row_source.h"

#include <math.h>
#include <string.h>

/* --- writing --- */

/* Part of a run. */
typedef struct {
	const uint32_t *items;
	uint32_t n;
} Element;

typedef struct {
	const LodeSequence *sequence;
	const double *events;
	uint32_t n_events;
} Support;

/* Different values, numbered from 1. */
typedef struct {
	GHashTable *numbers;
	GPtrArray *list; /* owns them */
} Numbering;

static void numbering_init(Numbering *self, GHashFunc hash, GEqualFunc is_equal)
{
	self->numbers = g_hash_table_new(hash, is_equal);
	self->list = g_ptr_array_new_with_free_func(g_free);
}

static void numbering_clear(Numbering *self)
{
	g_hash_table_unref(self->numbers);
	g_ptr_array_unref(self->list);
}

static uint32_t numbering_find(Numbering *self, const void *value, size_t size)
{
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(self->numbers, value));

	if (number == 0) {
		g_ptr_array_add(self->list, g_memdup2(value, size));
		number = self->list->len;
		g_hash_table_insert(self->numbers, g_ptr_array_index(self->list, number - 1),
			GUINT_TO_POINTER(number));
	}
	return number;
}

/* The first item of an element starts it; where it lies in its sequence does not matter. */
static guint hash_element(const void *key)
{
	const Element *self = key;
	uint64_t hash = self->n;

	for (uint32_t i = 0; i < self->n; i++)
		hash = lode_hash_append(hash, self->items[i]);
	return (guint)lode_hash_slot(hash, 32);
}

static gboolean is_equal_element(const void *a, const void *b)
{
	const Element *left = a, *right = b;

	return left->n == right->n &&
	       memcmp(left->items, right->items, left->n * sizeof(uint32_t)) == 0;
}

static guint hash_support(const void *key)
{
	const Support *self = key;
	uint64_t hash = self->sequence->places;

	hash = lode_hash_append(hash, g_double_hash(&self->sequence->weight));
	hash = lode_hash_append(hash, g_double_hash(&self->sequence->frequency));
	hash = lode_hash_append(hash, g_double_hash(&self->sequence->executions));
	return (guint)lode_hash_slot(hash, 32);
}

static gboolean is_equal_support(const void *a, const void *b)
{
	const Support *one = a, *other = b;
	const LodeSequence *left = one->sequence, *right = other->sequence;

	return left->places == right->places && left->functions == right->functions &&
	       memcmp(&left->weight, &right->weight, sizeof(double)) == 0 &&
	       memcmp(&left->frequency, &right->frequency, sizeof(double)) == 0 &&
	       memcmp(&left->executions, &right->executions, sizeof(double)) == 0 &&
	       memcmp(&left->count, &right->count, sizeof(double)) == 0 &&
	       (one->n_events == 0 ||
		       memcmp(one->events, other->events, one->n_events * sizeof(double)) == 0);
}

typedef struct {
	const LodeMiningRun *run;
	int64_t id;
	Numbering elements, supports;
	GString *text; /* of the present row */
} Rows;

/* "[17,3]" */
static void give_elements(Rows *self, size_t row, sqlite3_context *out)
{
	uint32_t n = LODE_AT(self->run->sequences, LodeSequence, row).n_items;
	const uint32_t *items = lode_mining_run_items(self->run, row);

	g_string_assign(self->text, "[");
	for (uint32_t i = 0; i < n;) {
		uint32_t end = lode_sequence_element_end(items, n, i);
		const Element element = {items + i, end - i};
		g_string_append_printf(self->text, "%s%u", i > 0 ? "," : "",
			numbering_find(&self->elements, &element, sizeof(element)));
		i = end;
	}
	g_string_append_c(self->text, ']');
	sqlite3_result_text(out, self->text->str, (int)self->text->len, SQLITE_STATIC);
}

static void give_sequence(void *data, size_t row, int column, sqlite3_context *out)
{
	Rows *self = data;
	const LodeMiningRun *run = self->run;
	uint32_t n_events = run->events->len;
	const Support support = {&LODE_AT(run->sequences, LodeSequence, row),
		(const double *)(const void *)run->event_supports->data + row * n_events, n_events};

	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->id);
		break;
	case 1:
		lode_row_result_reference(out, (uint32_t)row);
		break;
	case 2:
		give_elements(self, row, out);
		break;
	default:
		sqlite3_result_int64(
			out, numbering_find(&self->supports, &support, sizeof(support)));
	}
}

/* ["ev:l1d-miss","kind:load"] */
static void give_element(void *data, size_t row, int column, sqlite3_context *out)
{
	Rows *self = data;
	const Element *element = g_ptr_array_index(self->elements.list, row);
	LodeJsonStream json;

	if (column == 0) {
		sqlite3_result_int64(out, self->id);
	} else if (column == 1) {
		lode_row_result_reference(out, (uint32_t)row);
	} else {
		g_string_truncate(self->text, 0);
		lode_json_stream_init_text(&json, self->text);
		json.keeps_bytes = true;
		lode_json_begin(&json, '[');
		for (uint32_t i = 0; i < element->n; i++)
			lode_json_string(&json, g_ptr_array_index(self->run->attributes,
							LODE_ITEM_ATTRIBUTE(element->items[i])));
		lode_json_end(&json, ']');
		sqlite3_result_text(out, self->text->str, (int)self->text->len, SQLITE_STATIC);
	}
}

enum { SUPPORT_COLUMNS = 8 }; /* before those of the events */

static void give_support(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const Support *support = g_ptr_array_index(self->supports.list, row);
	const LodeSequence *sequence = support->sequence;

	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->id);
		break;
	case 1:
		lode_row_result_reference(out, (uint32_t)row);
		break;
	case 2:
		sqlite3_result_int64(out, sequence->places);
		break;
	case 3:
		sqlite3_result_int64(out, sequence->functions);
		break;
	case 4:
		sqlite3_result_double(out, round(sequence->weight * LODE_SHARE_UNITS));
		break;
	case 5:
		sqlite3_result_double(out, sequence->frequency);
		break;
	case 6:
		sqlite3_result_double(out, sequence->executions);
		break;
	case 7:
		sqlite3_result_double(out, sequence->count);
		break;
	default: {
		double value = support->events[column - SUPPORT_COLUMNS];
		bool is_total = self->run->parameters.is_instruction_mode;
		sqlite3_result_double(out, is_total ? value : round(value * LODE_SHARE_UNITS));
	}
	}
}

/* Columns of events are numbered, and shared by runs of different events: table run_event says
 * which event a number is in which run. */
static char *support_columns(size_t n_events)
{
	GString *columns = g_string_new(
		"run,id,places,functions,weight,frequency,executions,count");

	for (size_t i = 1; i <= n_events; i++)
		g_string_append_printf(columns, ",event_%zu", i);
	return g_string_free(columns, FALSE);
}

bool lode_sequence_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	Rows rows = {.run = run, .id = id};
	g_autofree char *columns = support_columns(run->events->len);
	const LodeRowSource sequences = {"mined_sequence", "run,id,elements,support",
		run->sequences->len, give_sequence, &rows};

	numbering_init(&rows.elements, hash_element, is_equal_element);
	numbering_init(&rows.supports, hash_support, is_equal_support);
	rows.text = g_string_new(NULL);
	bool done = lode_row_source_insert(&sequences, database, error);
	/* The sequences have numbered them. */
	const LodeRowSource elements = {
		"mined_element", "run,id,attributes", rows.elements.list->len, give_element, &rows};
	const LodeRowSource supports = {
		"mined_support", columns, rows.supports.list->len, give_support, &rows};
	done = done && lode_row_source_insert(&elements, database, error) &&
	       lode_row_source_insert(&supports, database, error);
	numbering_clear(&rows.elements);
	numbering_clear(&rows.supports);
	g_string_free(rows.text, TRUE);
	return done;
}

/* --- reading --- */

typedef struct {
	LodeMiningRun *run;
	GHashTable *attribute_ids; /* name → id + 1 */
	GArray *items;             /* uint32_t: of the elements, one after the other */
	GArray *ends;              /* uint32_t: where each element ends there */
	GArray *supports;          /* LodeSequence without items */
	GArray *event_supports;    /* double, beside them */
	uint64_t room;             /* bytes that sequences may take yet */
	LodeJsonCursor cursor;
} Loader;

static bool number_attributes(Loader *self, GError **error)
{
	GPtrArray *attributes = self->run->attributes;

	if (attributes->len >= LODE_ITEM_START) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'run_attribute': too many rows");
		return false;
	}
	for (guint i = 0; i < attributes->len; i++)
		if (!g_hash_table_insert(self->attribute_ids, g_ptr_array_index(attributes, i),
			    GUINT_TO_POINTER(i + 1))) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"table 'run_attribute', row %u: its name has been there before",
				i + 1);
			return false;
		}
	return true;
}

static void parse_item(Loader *self, uint32_t start, GArray *items)
{
	const char *name = lode_json_cursor_string(&self->cursor);
	uint32_t id = name != NULL
	                      ? GPOINTER_TO_UINT(g_hash_table_lookup(self->attribute_ids, name))
	                      : 0;
	uint32_t item = (id - 1) | start;

	if (id == 0)
		self->cursor.has_failed = true;
	else
		g_array_append_val(items, item);
}

/* ["a","b"] → items */
static void parse_element(Loader *self, GArray *items)
{
	LodeJsonCursor *cursor = &self->cursor;

	lode_json_cursor_expect(cursor, '[');
	parse_item(self, LODE_ITEM_START, items);
	while (lode_json_cursor_accept(cursor, ','))
		parse_item(self, 0, items);
	lode_json_cursor_expect(cursor, ']');
}

static bool read_elements(Loader *self, LodeDatabase *database, int64_t id, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT id, attributes FROM mined_element WHERE run = "
		"%" G_GINT64_FORMAT " ORDER BY id",
		id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "mined_element", sql);
	while (lode_row_reader_next_numbered(&rows)) {
		lode_json_cursor_init(&self->cursor, lode_row_reader_text(&rows, 1));
		parse_element(self, self->items);
		if (!lode_json_cursor_is_done(&self->cursor))
			lode_row_reader_fail(
				&rows, "column 'attributes' is not a list of attributes");
		g_array_append_val(self->ends, self->items->len);
	}
	return lode_row_reader_finish(&rows, error);
}

static char *select_figures(const char *columns, guint n_events, const char *table, int64_t id)
{
	GString *sql = g_string_new(columns);

	for (guint i = 1; i <= n_events; i++)
		g_string_append_printf(sql, ", event_%u", i);
	g_string_append_printf(
		sql, " FROM %s WHERE run = %" G_GINT64_FORMAT " ORDER BY id", table, id);
	return g_string_free(sql, FALSE);
}

static bool read_supports(Loader *self, LodeDatabase *database, int64_t id, GError **error)
{
	guint n_events = self->run->events->len;
	double unit = self->run->parameters.is_instruction_mode ? 1 : LODE_SHARE_UNITS;
	g_autofree char *sql = select_figures(
		"SELECT id, places, functions, weight, frequency, executions, count", n_events,
		"mined_support", id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "mined_support", sql);
	while (lode_row_reader_next_numbered(&rows)) {
		LodeSequence support = {
			.places = (uint32_t)lode_row_reader_integer(&rows, 1, UINT32_MAX),
			.functions = (uint32_t)lode_row_reader_integer(&rows, 2, UINT32_MAX),
			.weight = lode_row_reader_amount(&rows, 3) / LODE_SHARE_UNITS,
			.frequency = lode_row_reader_amount(&rows, 4),
			.executions = lode_row_reader_amount(&rows, 5),
			.count = lode_row_reader_amount(&rows, 6),
		};
		for (guint i = 0; i < n_events; i++) {
			double value = lode_row_reader_amount(&rows, 7 + (int)i) / unit;
			g_array_append_val(self->event_supports, value);
		}
		g_array_append_val(self->supports, support);
	}
	return lode_row_reader_finish(&rows, error);
}

/* A number from 1 to n; 0 where there is none. */
static uint32_t parse_number(LodeJsonCursor *cursor, uint32_t n)
{
	bool is_string;
	const char *text = lode_json_cursor_scalar(cursor, &is_string);
	guint64 number = 0;

	if (text == NULL || is_string || !g_ascii_string_to_unsigned(text, 10, 1, n, &number, NULL))
		cursor->has_failed = true;
	return (uint32_t)number;
}

/* [17,3] → items of the run; false when it is anything else. */
static bool parse_elements(Loader *self, const char *text)
{
	LodeJsonCursor *cursor = &self->cursor;
	guint first = self->run->items->len;

	lode_json_cursor_init(cursor, text);
	lode_json_cursor_expect(cursor, '[');
	do {
		uint32_t number = self->ends->len > 0 ? parse_number(cursor, self->ends->len) : 0;
		if (number == 0)
			return false;
		uint32_t start = number > 1 ? LODE_AT(self->ends, uint32_t, number - 2) : 0;
		uint32_t n = LODE_AT(self->ends, uint32_t, number - 1) - start;
		if (n > LODE_SEQUENCE_MAX_ITEMS ||
			self->run->items->len - first + n > LODE_SEQUENCE_MAX_ITEMS)
			return false;
		g_array_append_vals(self->run->items, &LODE_AT(self->items, uint32_t, start), n);
	} while (lode_json_cursor_accept(cursor, ','));
	lode_json_cursor_expect(cursor, ']');
	return lode_json_cursor_is_done(cursor);
}

static void take_sequence(Loader *self, LodeRowReader *rows)
{
	LodeMiningRun *run = self->run;
	guint first = run->items->len, n_events = run->events->len;
	uint64_t support = lode_row_reader_integer(rows, 2, UINT32_MAX);

	if (!parse_elements(self, lode_row_reader_text(rows, 1))) {
		lode_row_reader_fail(rows, "column 'elements' is not a list of its elements");
		return;
	}
	if (support < 1 || support > self->supports->len) {
		lode_row_reader_fail(rows, "its support does not exist");
		return;
	}
	uint64_t bytes = sizeof(LodeSequence) + (run->items->len - first) * sizeof(uint32_t) +
	                 n_events * sizeof(double);
	if (bytes > self->room) {
		lode_row_reader_fail(rows, "the sequences take too much memory");
		return;
	}
	self->room -= bytes;
	LodeSequence sequence = LODE_AT(self->supports, LodeSequence, support - 1);
	sequence.first_item = first;
	sequence.n_items = run->items->len - first;
	g_array_append_val(run->sequences, sequence);
	if (n_events > 0)
		g_array_append_vals(run->event_supports,
			&LODE_AT(self->event_supports, double, (support - 1) * n_events), n_events);
}

/* A file may name one support of many events again and again: what its sequences take in memory is
 * limited by its size. */
static bool find_room(Loader *self, LodeDatabase *database, GError **error)
{
	enum { BYTES_PER_BYTE = 64 };
	int64_t n_pages, page_bytes;

	if (!lode_database_query_integer(database, "PRAGMA page_count", &n_pages, error) ||
		!lode_database_query_integer(database, "PRAGMA page_size", &page_bytes, error))
		return false;
	self->room = (uint64_t)n_pages * (uint64_t)page_bytes * BYTES_PER_BYTE;
	return true;
}

static bool read_sequences(Loader *self, LodeDatabase *database, int64_t id, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT id, elements, support FROM mined_sequence WHERE run = "
		"%" G_GINT64_FORMAT " ORDER BY id",
		id);
	LodeRowReader rows;

	if (!read_elements(self, database, id, error) ||
		!read_supports(self, database, id, error) || !find_room(self, database, error))
		return false;
	lode_row_reader_init(&rows, database, "mined_sequence", sql);
	while (lode_row_reader_next_numbered(&rows))
		take_sequence(self, &rows);
	return lode_row_reader_finish(&rows, error);
}

/* --- schema version 3 --- */

/* [["a","b"],["c"]] → items; false when it is anything else. */
static bool parse_items(Loader *self, const char *text)
{
	LodeJsonCursor *cursor = &self->cursor;

	lode_json_cursor_init(cursor, text);
	lode_json_cursor_expect(cursor, '[');
	do
		parse_element(self, self->run->items);
	while (lode_json_cursor_accept(cursor, ','));
	lode_json_cursor_expect(cursor, ']');
	return lode_json_cursor_is_done(cursor);
}

/* A share that can be written in units. */
static double take_share(LodeRowReader *rows, int column)
{
	double share = lode_row_reader_amount(rows, column);

	if (!isfinite(share * LODE_SHARE_UNITS))
		lode_row_reader_fail(rows, "a share is far above 1");
	return share;
}

static void take_old_sequence(Loader *self, LodeRowReader *rows)
{
	LodeMiningRun *run = self->run;
	bool has_totals = run->parameters.is_instruction_mode;
	LodeSequence sequence = {
		.first_item = run->items->len,
		.n_items = (uint32_t)lode_row_reader_integer(rows, 2, UINT32_MAX),
		.places = (uint32_t)lode_row_reader_integer(rows, 3, UINT32_MAX),
		.functions = (uint32_t)lode_row_reader_integer(rows, 4, UINT32_MAX),
		.weight = take_share(rows, 5),
		.frequency = lode_row_reader_amount(rows, 6),
		.executions = lode_row_reader_amount(rows, 7),
		.count = lode_row_reader_amount(rows, 8),
	};

	if (!parse_items(self, lode_row_reader_text(rows, 1)))
		lode_row_reader_fail(rows, "column 'items' is not a list of lists of attributes");
	else if (run->items->len - sequence.first_item != sequence.n_items)
		lode_row_reader_fail(rows, "column 'size' is not the number of its items");
	else if (sequence.n_items > LODE_SEQUENCE_MAX_ITEMS)
		lode_row_reader_fail(rows, "it has too many attributes");
	for (guint i = 0; i < run->events->len; i++) {
		double value = (has_totals ? lode_row_reader_amount : take_share)(rows, 9 + (int)i);
		g_array_append_val(run->event_supports, value);
	}
	g_array_append_val(run->sequences, sequence);
}

static bool read_old_sequences(Loader *self, LodeDatabase *database, int64_t id, GError **error)
{
	g_autofree char *sql = select_figures(
		"SELECT id, items, size, places, functions, weight, frequency, executions, count",
		self->run->events->len, "sequence", id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "sequence", sql);
	while (lode_row_reader_next_numbered(&rows))
		take_old_sequence(self, &rows);
	return lode_row_reader_finish(&rows, error);
}

bool lode_sequence_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	Loader self = {
		.run = run,
		.attribute_ids = g_hash_table_new(g_str_hash, g_str_equal),
		.items = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.ends = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.supports = g_array_new(FALSE, FALSE, sizeof(LodeSequence)),
		.event_supports = g_array_new(FALSE, FALSE, sizeof(double)),
	};

	lode_json_cursor_init(&self.cursor, "");
	bool done = number_attributes(&self, error) &&
	            (database->version >= LODE_SCHEMA_VERSION_RUNS
				    ? read_sequences
				    : read_old_sequences)(&self, database, id, error);
	/* As every reader of it gets them, also before the profile is one of this version. */
	if (done)
		lode_mining_run_round(run);
	lode_json_cursor_clear(&self.cursor);
	g_hash_table_unref(self.attribute_ids);
	g_array_unref(self.items);
	g_array_unref(self.ends);
	g_array_unref(self.supports);
	g_array_unref(self.event_supports);
	return done;
}
