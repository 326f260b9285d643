/* SPDX-License-Identifier: MIT */
#include "store/tables/finding_tables.h"

#include "base/error.h"
#include "base/text/json_stream.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "store/json_text.h"
#include "store/tables/row_reader.h"
#include "store/tables/row_source.h"

#include <math.h>
#include <string.h>

static const char tables_sql[] =
#include "store/findings_sql.h"
	;

/* More than any pattern has; a limit for what is read. */
enum { MAX_ELEMENTS = 16, MAX_ITEMS = 1024 };

typedef struct {
	const LodeFindings *findings;
	int64_t run;
	GString *items;
	uint32_t finding; /* that the present place is of */
} Rows;

static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

/* The fault of a finding; NULL: none. */
static const char *find_fault(
	const LodeFindings *self, const LodeFinding *finding, size_t n_instructions)
{
	if (finding->n_elements == 0 || finding->n_elements > MAX_ELEMENTS ||
		finding->first_element > self->elements->len ||
		finding->n_elements > self->elements->len - finding->first_element)
		return "its elements do not exist";
	if (finding->focus >= finding->n_elements)
		return "its focus is not one of its elements";
	if (!is_amount(finding->time) || !is_amount(finding->time_error) ||
		!is_amount(finding->each) || !is_amount(finding->each_error) ||
		!is_amount(finding->spread) ||
		!(is_amount(finding->executed) ||
			(finding->executed >= -1 && finding->executed <= -1)))
		return "a figure is out of range";
	if (finding->first_place > self->places->len ||
		finding->n_places > self->places->len - finding->first_place ||
		finding->n_places > LODE_FINDING_PLACES)
		return "its places do not exist";
	for (uint32_t i = 0; i < finding->n_places; i++) {
		const LodeFindingPlace *place = &g_array_index(
			self->places, LodeFindingPlace, finding->first_place + i);
		if (place->instruction >= n_instructions || !is_amount(place->time))
			return "one of its places is out of range";
	}
	for (uint32_t i = 0; i < finding->n_elements; i++) {
		const LodeFindingElement *element = &g_array_index(
			self->elements, LodeFindingElement, finding->first_element + i);
		if (element->first_item > self->items->len ||
			element->n_items > self->items->len - element->first_item)
			return "its attributes do not exist";
		for (uint32_t j = 0; j < element->n_items; j++)
			if (g_array_index(self->items, uint32_t, element->first_item + j) >=
				self->attributes->len)
				return "one of its attributes does not exist";
	}
	return NULL;
}

bool lode_finding_tables_check(const LodeFindings *findings, size_t n_instructions, GError **error)
{
	const char *fault = NULL;
	guint i = 0;

	if (findings == NULL)
		return true;
	if (findings->findings->len > LODE_FINDING_MAX)
		fault = "it is one too many";
	if (!is_amount(findings->base) || !is_amount(findings->explained) ||
		!is_amount(findings->single) || !is_amount(findings->samples))
		fault = "a figure of the run is out of range";
	for (; fault == NULL && i < findings->findings->len; i++)
		fault = find_fault(findings, lode_findings_at(findings, i), n_instructions);
	if (fault != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "table 'finding', row %u: %s",
			MAX(i, 1), fault);
	return fault == NULL;
}

bool lode_finding_tables_prepare(LodeDatabase *database, const char *name, GError **error)
{
	static const char *const statements[] = {
		"DELETE FROM finding_place WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM finding WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM run_findings WHERE run = (SELECT id FROM run WHERE name = ?)",
	};

	if (!lode_database_execute(database, tables_sql, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
		g_autoptr(sqlite3_stmt)
			statement = lode_database_prepare(database, statements[i], error);
		if (statement == NULL)
			return false;
		sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
		if (sqlite3_step(statement) != SQLITE_DONE)
			return lode_database_fail(database, error);
	}
	return true;
}

static void give_head(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeFindings *all = self->findings;

	(void)row;
	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->run);
		break;
	case 1:
		sqlite3_result_int(out, all->is_counted);
		break;
	case 2:
		sqlite3_result_double(out, all->base);
		break;
	case 3:
		sqlite3_result_double(out, all->explained);
		break;
	case 4:
		sqlite3_result_double(out, all->single);
		break;
	case 5:
		sqlite3_result_double(out, all->samples);
		break;
	default:
		sqlite3_result_int64(out, all->findings->len);
	}
}

/* [["mem:store"],["kind:load","ev:l1d-miss"]]; an element of any instruction is []. */
static void give_items(Rows *self, const LodeFinding *finding, sqlite3_context *out)
{
	LodeJsonStream json;

	g_string_truncate(self->items, 0);
	lode_json_stream_init_text(&json, self->items);
	json.keeps_bytes = true;
	lode_finding_json(self->findings, finding, &json);
	sqlite3_result_text(out, self->items->str, (int)self->items->len, SQLITE_STATIC);
}

static void give_finding(void *data, size_t row, int column, sqlite3_context *out)
{
	Rows *self = data;
	const LodeFinding *finding = lode_findings_at(self->findings, row);

	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->run);
		break;
	case 1:
		lode_row_result_reference(out, (uint32_t)row);
		break;
	case 2:
		lode_row_result_text(out, lode_finding_kind_to_text(finding->kind));
		break;
	case 3:
		give_items(self, finding, out);
		break;
	case 4:
		sqlite3_result_int64(out, finding->focus);
		break;
	case 5:
		sqlite3_result_double(out, finding->time);
		break;
	case 6:
		sqlite3_result_double(out, finding->time_error);
		break;
	case 7:
		sqlite3_result_double(out, finding->each);
		break;
	case 8:
		sqlite3_result_double(out, finding->each_error);
		break;
	case 9:
		if (finding->executed >= 0)
			sqlite3_result_double(out, finding->executed);
		break;
	case 10:
		sqlite3_result_int64(out, finding->places);
		break;
	case 11:
		sqlite3_result_int64(out, finding->functions);
		break;
	default:
		sqlite3_result_double(out, finding->spread);
	}
}

static void give_place(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeFinding *finding = lode_findings_at(self->findings, self->finding);
	const LodeFindingPlace *place = &g_array_index(
		self->findings->places, LodeFindingPlace, finding->first_place + row);

	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->run);
		break;
	case 1:
		lode_row_result_reference(out, self->finding);
		break;
	case 2:
		lode_row_result_reference(out, (uint32_t)row);
		break;
	case 3:
		lode_row_result_reference(out, place->instruction);
		break;
	default:
		sqlite3_result_double(out, place->time);
	}
}

bool lode_finding_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	const LodeFindings *findings = run->findings;
	g_autoptr(GString) items = g_string_new(NULL);
	Rows rows = {.findings = findings, .run = id, .items = items};

	if (findings == NULL)
		return true;
	const LodeRowSource head = {"run_findings",
		"run,is_counted,base,explained,single,samples,findings", 1, give_head, &rows};
	const LodeRowSource list = {"finding",
		"run,id,kind,items,focus,time,time_error,each,each_error,executed,places,"
		"functions,spread",
		findings->findings->len, give_finding, &rows};
	if (!lode_row_source_insert(&head, database, error) ||
		!lode_row_source_insert(&list, database, error))
		return false;
	for (guint i = 0; i < findings->findings->len; i++) {
		const LodeRowSource places = {"finding_place",
			"run,finding,position,instruction,time",
			lode_findings_at(findings, i)->n_places, give_place, &rows};
		rows.finding = i;
		if (!lode_row_source_insert(&places, database, error))
			return false;
	}
	return true;
}

/* --- reading --- */

typedef struct {
	LodeFindings *out;
	GHashTable *ids; /* attribute → id + 1 */
	LodeJsonCursor cursor;
} Loader;

static bool parse_item(Loader *self, LodeFindingElement *element)
{
	const char *name = lode_json_cursor_string(&self->cursor);

	if (name == NULL || element->n_items == MAX_ITEMS)
		return false;
	uint32_t id = GPOINTER_TO_UINT(g_hash_table_lookup(self->ids, name));
	if (id == 0) {
		char *own = g_strdup(name);
		g_ptr_array_add(self->out->attributes, own);
		id = self->out->attributes->len;
		g_hash_table_insert(self->ids, own, GUINT_TO_POINTER(id));
	}
	id--;
	g_array_append_val(self->out->items, id);
	element->n_items++;
	return true;
}

static bool parse_elements(Loader *self, const char *text, LodeFinding *finding)
{
	LodeJsonCursor *cursor = &self->cursor;

	finding->first_element = self->out->elements->len;
	lode_json_cursor_init(cursor, text);
	lode_json_cursor_expect(cursor, '[');
	do {
		LodeFindingElement element = {self->out->items->len, 0};
		lode_json_cursor_expect(cursor, '[');
		if (!lode_json_cursor_accept(cursor, ']')) {
			do {
				if (!parse_item(self, &element))
					return false;
			} while (lode_json_cursor_accept(cursor, ','));
			lode_json_cursor_expect(cursor, ']');
		}
		g_array_append_val(self->out->elements, element);
	} while (lode_json_cursor_accept(cursor, ',') &&
		 self->out->elements->len - finding->first_element < MAX_ELEMENTS);
	lode_json_cursor_expect(cursor, ']');
	finding->n_elements = self->out->elements->len - finding->first_element;
	return lode_json_cursor_is_done(cursor);
}

static bool read_findings(Loader *self, LodeDatabase *database, int64_t run, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT id, kind, items, focus, time, time_error, each, each_error, executed, "
		"places, functions, spread FROM finding WHERE run = %" G_GINT64_FORMAT
		" ORDER BY id",
		run);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "finding", sql);
	while (lode_row_reader_next_numbered(&rows)) {
		int kind = lode_row_reader_word(&rows, 1, lode_finding_kind_from_text);
		LodeFinding finding = {
			.kind = kind < 0 ? LODE_FINDING_PATTERN : (LodeFindingKind)kind,
			.focus = (uint32_t)lode_row_reader_integer(&rows, 3, MAX_ELEMENTS),
			.time = lode_row_reader_amount(&rows, 4),
			.time_error = lode_row_reader_amount(&rows, 5),
			.each = lode_row_reader_amount(&rows, 6),
			.each_error = lode_row_reader_amount(&rows, 7),
			.executed = lode_row_reader_is_null(&rows, 8)
		                            ? -1
		                            : lode_row_reader_amount(&rows, 8),
			.places = (uint32_t)lode_row_reader_integer(&rows, 9, UINT32_MAX),
			.functions = (uint32_t)lode_row_reader_integer(&rows, 10, UINT32_MAX),
			.spread = lode_row_reader_amount(&rows, 11),
		};
		if (!parse_elements(self, lode_row_reader_text(&rows, 2), &finding))
			lode_row_reader_fail(
				&rows, "column 'items' is not a list of lists of attributes");
		lode_json_cursor_clear(&self->cursor);
		lode_json_cursor_init(&self->cursor, "");
		g_array_append_val(self->out->findings, finding);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool read_places(LodeFindings *out, LodeDatabase *database, int64_t run, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT finding, position, instruction, time FROM finding_place "
		"WHERE run = %" G_GINT64_FORMAT " ORDER BY finding, position",
		run);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "finding_place", sql);
	while (lode_row_reader_next(&rows)) {
		uint32_t index = lode_row_reader_reference(&rows, 0);
		LodeFindingPlace place = {
			lode_row_reader_reference(&rows, 2), lode_row_reader_amount(&rows, 3)};
		if (index >= out->findings->len) {
			lode_row_reader_fail(&rows, "its finding does not exist");
			continue;
		}
		LodeFinding *finding = lode_findings_at(out, index);
		if (finding->n_places == 0)
			finding->first_place = out->places->len;
		if (lode_row_reader_reference(&rows, 1) != finding->n_places)
			lode_row_reader_fail(&rows, "its position is not the one after the last");
		finding->n_places++;
		g_array_append_val(out->places, place);
	}
	return lode_row_reader_finish(&rows, error);
}

/* NULL without an error: the run has no findings. */
static LodeFindings *read_head(
	LodeDatabase *database, int64_t run, uint64_t *out_length, GError **error)
{
	g_autoptr(LodeFindings) out = NULL;
	g_autofree char *sql = g_strdup_printf(
		"SELECT is_counted, base, explained, single, samples, findings FROM run_findings "
		"WHERE run = %" G_GINT64_FORMAT,
		run);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "run_findings", sql);
	if (lode_row_reader_next(&rows)) {
		out = lode_findings_new();
		out->is_counted = lode_row_reader_integer(&rows, 0, 1) != 0;
		out->base = lode_row_reader_amount(&rows, 1);
		out->explained = lode_row_reader_amount(&rows, 2);
		out->single = lode_row_reader_amount(&rows, 3);
		out->samples = lode_row_reader_amount(&rows, 4);
		*out_length = lode_row_reader_integer(&rows, 5, LODE_FINDING_MAX);
	}
	return lode_row_reader_finish(&rows, error) ? g_steal_pointer(&out) : NULL;
}

/* Profiles of before have not got the tables. */
static bool has_tables(LodeDatabase *database, bool *out_has, GError **error)
{
	int64_t n;

	if (!lode_database_query_integer(database,
		    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
		    "('run_findings', 'finding', 'finding_place')",
		    &n, error))
		return false;
	*out_has = n == 3;
	return true;
}

bool lode_finding_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	bool has;
	int64_t n_instructions;
	uint64_t length = 0;
	GError *fault = NULL;

	if (!has_tables(database, &has, error))
		return false;
	if (!has)
		return true;
	g_autoptr(LodeFindings) out = read_head(database, id, &length, &fault);
	if (fault != NULL) {
		g_propagate_error(error, fault);
		return false;
	}
	if (out == NULL)
		return true;
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	Loader loader = {.out = out, .ids = ids};
	lode_json_cursor_init(&loader.cursor, "");
	bool done = read_findings(&loader, database, id, error) &&
	            read_places(out, database, id, error) &&
	            lode_database_query_integer(
			    database, "SELECT count(*) FROM instruction", &n_instructions, error) &&
	            lode_finding_tables_check(out, (size_t)n_instructions, error);
	lode_json_cursor_clear(&loader.cursor);
	if (!done)
		return false;
	if (out->findings->len != length) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'run_findings', row '%s': %" G_GUINT64_FORMAT " findings are %u",
			run->name, length, out->findings->len);
		return false;
	}
	run->findings = g_steal_pointer(&out);
	return true;
}
