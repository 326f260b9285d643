/* SPDX-License-Identifier: MIT */
#include "store/tables/run_tables.h"

#include "base/error.h"
#include "base/text/json_stream.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "store/json_text.h"
#include "store/tables/row_table.h"

#include <math.h>
#include <string.h>

static const char tables_sql[] =
#include "store/findings_sql.h"
	;

/* More than any pattern has; a limit for what is read. */
enum { MAX_ELEMENTS = 16, MAX_ITEMS = 1024 };

/* What is stored of all findings of a run, of one, with its elements as JSON, and of a place. */
typedef struct {
	double base, explained, single, samples;
	uint32_t findings;
	bool is_counted;
} HeadRow;

typedef struct {
	LodeFinding finding;
	char *items;
} FindingRow;

typedef struct {
	uint32_t finding, position;
	LodeFindingPlace place;
} PlaceRow;

static const LodeColumn head_columns[] = {
	{"is_counted", offsetof(HeadRow, is_counted), LODE_COLUMN_FLAG, 0},
	{"base", offsetof(HeadRow, base), LODE_COLUMN_AMOUNT, 0},
	{"explained", offsetof(HeadRow, explained), LODE_COLUMN_AMOUNT, 0},
	{"single", offsetof(HeadRow, single), LODE_COLUMN_AMOUNT, 0},
	{"samples", offsetof(HeadRow, samples), LODE_COLUMN_AMOUNT, 0},
	{"findings", offsetof(HeadRow, findings), LODE_COLUMN_NUMBER, 0},
};

#define FIGURE(name) offsetof(FindingRow, finding.name)

static const LodeColumn finding_columns[] = {
	{"kind", FIGURE(kind), LODE_COLUMN_WORD, LODE_WORDS_FINDING_KIND},
	{"items", offsetof(FindingRow, items), LODE_COLUMN_TEXT, 0},
	{"focus", FIGURE(focus), LODE_COLUMN_NUMBER, 0},
	{"time", FIGURE(time), LODE_COLUMN_AMOUNT, 0},
	{"time_error", FIGURE(time_error), LODE_COLUMN_AMOUNT, 0},
	{"each", FIGURE(each), LODE_COLUMN_AMOUNT, 0},
	{"each_error", FIGURE(each_error), LODE_COLUMN_AMOUNT, 0},
	{"executed", FIGURE(executed), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"places", FIGURE(places), LODE_COLUMN_NUMBER, 0},
	{"functions", FIGURE(functions), LODE_COLUMN_NUMBER, 0},
	{"spread", FIGURE(spread), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn place_columns[] = {
	{"finding", offsetof(PlaceRow, finding), LODE_COLUMN_REFERENCE, 0},
	{"position", offsetof(PlaceRow, position), LODE_COLUMN_REFERENCE, 0},
	{"instruction", offsetof(PlaceRow, place.instruction), LODE_COLUMN_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
	{"time", offsetof(PlaceRow, place.time), LODE_COLUMN_AMOUNT, 0},
};

static const LodeRowTable head_table = LODE_ROW_TABLE("run_findings", HeadRow, head_columns, "run");
static const LodeRowTable finding_table = LODE_ROW_TABLE(
	"finding", FindingRow, finding_columns, NULL);
static const LodeRowTable place_table = LODE_ROW_TABLE(
	"finding_place", PlaceRow, place_columns, "finding, position");

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

/* [["mem:store"],["kind:load","ev:l1d-miss"]]; an element of any instruction is []. */
static char *items_of(const LodeFindings *findings, const LodeFinding *finding)
{
	GString *items = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, items);
	json.keeps_bytes = true;
	lode_finding_json(findings, finding, &json);
	return g_string_free(items, FALSE);
}

bool lode_finding_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	const LodeFindings *all = run->findings;
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(FindingRow));
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(PlaceRow));
	g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);

	if (all == NULL)
		return true;
	const HeadRow head = {all->base, all->explained, all->single, all->samples,
		all->findings->len, all->is_counted};
	for (uint32_t i = 0; i < all->findings->len; i++) {
		const LodeFinding *finding = lode_findings_at(all, i);
		const FindingRow row = {*finding, items_of(all, finding)};
		g_array_append_val(rows, row);
		g_ptr_array_add(items, row.items);
		for (uint32_t k = 0; k < finding->n_places; k++) {
			const PlaceRow place = {i, k,
				g_array_index(
					all->places, LodeFindingPlace, finding->first_place + k)};
			g_array_append_val(places, place);
		}
	}
	return lode_row_table_insert_of_run(&head_table, id, &head, 1, database, error) &&
	       lode_row_table_insert_of_run(
		       &finding_table, id, rows->data, rows->len, database, error) &&
	       lode_row_table_insert_of_run(
		       &place_table, id, places->data, places->len, database, error);
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
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(FindingRow));
	GStringChunk *strings = g_string_chunk_new(1 << 12);

	bool done = lode_row_table_read_of_run(&finding_table, run, strings, rows, database, error);

	for (guint i = 0; i < rows->len && done; i++) {
		FindingRow *row = &g_array_index(rows, FindingRow, i);
		done = parse_elements(self, row->items, &row->finding) ||
		       lode_row_table_broken(error, "finding", i,
			       "column 'items' is not a list of lists of attributes");
		lode_json_cursor_clear(&self->cursor);
		lode_json_cursor_init(&self->cursor, "");
		g_array_append_val(self->out->findings, row->finding);
	}
	g_string_chunk_free(strings);
	return done;
}

static bool read_places(LodeFindings *out, LodeDatabase *database, int64_t run, GError **error)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PlaceRow));

	if (!lode_row_table_read_of_run(&place_table, run, NULL, rows, database, error))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const PlaceRow *row = &g_array_index(rows, PlaceRow, i);
		if (row->finding >= out->findings->len)
			return lode_row_table_broken(
				error, "finding_place", i, "its finding does not exist");
		LodeFinding *finding = lode_findings_at(out, row->finding);
		if (finding->n_places == 0)
			finding->first_place = out->places->len;
		if (row->position != finding->n_places)
			return lode_row_table_broken(error, "finding_place", i,
				"its position is not the one after the last");
		finding->n_places++;
		g_array_append_val(out->places, row->place);
	}
	return true;
}

/* No row: the run has no findings, or the profile is one of before. */
static bool read_heads(GArray *out, LodeDatabase *database, int64_t run, GError **error)
{
	const LodeRowTable *const tables[] = {&head_table, &finding_table, &place_table};

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		bool has;
		if (!lode_database_has_table(database, tables[i]->name, &has, error))
			return false;
		if (!has)
			return true;
	}
	return lode_row_table_read_of_run(&head_table, run, NULL, out, database, error);
}

bool lode_finding_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) heads = g_array_new(FALSE, FALSE, sizeof(HeadRow));
	int64_t n_instructions;

	if (!read_heads(heads, database, id, error))
		return false;
	if (heads->len == 0)
		return true;
	const HeadRow *head = &g_array_index(heads, HeadRow, 0);
	if (head->findings > LODE_FINDING_MAX)
		return lode_row_table_broken(
			error, "run_findings", 0, "column 'findings' is out of range");
	g_autoptr(LodeFindings) out = lode_findings_new();
	out->is_counted = head->is_counted;
	out->base = head->base;
	out->explained = head->explained;
	out->single = head->single;
	out->samples = head->samples;
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
	if (out->findings->len != head->findings) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'run_findings', row '%s': %u findings are %u", run->name,
			head->findings, out->findings->len);
		return false;
	}
	run->findings = g_steal_pointer(&out);
	return true;
}
