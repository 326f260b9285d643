/* SPDX-License-Identifier: MIT */
/*
 * Most tables are an array of the profile unchanged. Lists of a row, and values that rows share,
 * are tables of their own:
 *
 *   events' terms ─▶ event_term      sets' members ─▶ attribute_set_member
 *   costs, by instruction ─▶ cost    locations' files and functions ─▶ string
 *
 * These are written from, and read into, temporary rows.
 */
#include "store/tables/profile_tables.h"

#include "base/error.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "store/profile_store.h"
#include "store/tables/inlining_tables.h"
#include "store/tables/loops/loop_table.h"
#include "store/tables/memory_tables.h"
#include "store/tables/origin_tables.h"
#include "store/tables/row_source.h"
#include "store/tables/row_table.h"
#include "store/tables/stack_tables.h"
#include "store/tables/thread_tables.h"
#include "store/tables/window_tables.h"

#include <math.h>
#include <string.h>

typedef struct {
	uint32_t event, position, source;
	double factor;
} TermRow;

typedef struct {
	uint32_t set, attribute;
} MemberRow;

typedef struct {
	uint32_t file, line, inlined; /* file, inlined: strings */
} LocationRow;

typedef struct {
	uint32_t instruction, event;
	double value;
} CostRow;

#define AT(type, field) offsetof(type, field)
#define RATE(kind, level) offsetof(LodeProfile, run.rates.kind) + level * sizeof(double)

/* The keys of table `meta`, as columns of the profile, by bytes. Keys that profiles of lode 0.1.0
 * need not have are 0 there. */
static const LodeColumn facts[] = {
	{"chain_ns", AT(LodeProfile, run.speed.chain_ns), LODE_COLUMN_AMOUNT, 0},
	{"chain_scatter", AT(LodeProfile, run.speed.chain_scatter), LODE_COLUMN_AMOUNT, 0},
	{"core", AT(LodeProfile, run.core), LODE_COLUMN_MAYBE_TEXT, 0},
	{"core_figures", AT(LodeProfile, run.n_core_figures), LODE_COLUMN_AMOUNT, 0},
	{"creator", AT(LodeProfile, run.creator), LODE_COLUMN_MAYBE_TEXT, 0},
	{"cycles_per_ns", AT(LodeProfile, run.cycles_per_ns), LODE_COLUMN_AMOUNT, 0},
	{"equal_samples", AT(LodeProfile, run.n_equal_samples), LODE_COLUMN_AMOUNT, 0},
	{"frequency", AT(LodeProfile, run.frequency), LODE_COLUMN_WORD, LODE_WORDS_FREQUENCY},
	{"inflow_checked", AT(LodeProfile, run.inflow_checked), LODE_COLUMN_AMOUNT, 0},
	{"inflow_equal", AT(LodeProfile, run.inflow_equal), LODE_COLUMN_AMOUNT, 0},
	{"is_kernel_sampled", AT(LodeProfile, run.is_kernel_sampled), LODE_COLUMN_FLAG, 0},
	{"mispredict_cycles", AT(LodeProfile, run.mispredict_cycles), LODE_COLUMN_AMOUNT, 0},
	{"others_share", AT(LodeProfile, run.speed.others), LODE_COLUMN_AMOUNT, 0},
	{"processors", AT(LodeProfile, run.n_processors), LODE_COLUMN_AMOUNT, 0},
	{"program", AT(LodeProfile, run.program), LODE_COLUMN_MAYBE_TEXT, 0},
	{"read_rate_l1", RATE(read, LODE_RATE_L1), LODE_COLUMN_AMOUNT, 0},
	{"read_rate_l2", RATE(read, LODE_RATE_L2), LODE_COLUMN_AMOUNT, 0},
	{"read_rate_l3", RATE(read, LODE_RATE_L3), LODE_COLUMN_AMOUNT, 0},
	{"read_rate_memory", RATE(read, LODE_RATE_MEMORY), LODE_COLUMN_AMOUNT, 0},
	{"samples", AT(LodeProfile, run.n_samples), LODE_COLUMN_AMOUNT, 0},
	{"speed_runs", AT(LodeProfile, run.speed.runs), LODE_COLUMN_AMOUNT, 0},
	{"steal_share", AT(LodeProfile, run.speed.steal), LODE_COLUMN_AMOUNT, 0},
	{"system_error", AT(LodeProfile, run.system_error), LODE_COLUMN_AMOUNT, 0},
	{"system_seconds", AT(LodeProfile, run.system_seconds), LODE_COLUMN_AMOUNT, 0},
	{"total_count", AT(LodeProfile, run.total_count), LODE_COLUMN_AMOUNT, 0},
	{"user_seconds", AT(LodeProfile, run.user_seconds), LODE_COLUMN_AMOUNT, 0},
	{"walk_ns", AT(LodeProfile, run.speed.walk_ns), LODE_COLUMN_AMOUNT, 0},
	{"walk_scatter", AT(LodeProfile, run.speed.walk_scatter), LODE_COLUMN_AMOUNT, 0},
	{"wall_seconds", AT(LodeProfile, run.wall_seconds), LODE_COLUMN_AMOUNT, 0},
	{"weight_event", AT(LodeProfile, code.weight_event), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_EVENTS},
	{"write_rate_l1", RATE(write, LODE_RATE_L1), LODE_COLUMN_AMOUNT, 0},
	{"write_rate_l2", RATE(write, LODE_RATE_L2), LODE_COLUMN_AMOUNT, 0},
	{"write_rate_l3", RATE(write, LODE_RATE_L3), LODE_COLUMN_AMOUNT, 0},
	{"write_rate_memory", RATE(write, LODE_RATE_MEMORY), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn event_columns[] = {
	{"name", AT(LodeEvent, name), LODE_COLUMN_TEXT, 0},
	{"description", AT(LodeEvent, description), LODE_COLUMN_MAYBE_TEXT, 0},
	{"kind", AT(LodeEvent, kind), LODE_COLUMN_WORD, LODE_WORDS_EVENT_KIND},
	{"is_attribute", AT(LodeEvent, is_attribute), LODE_COLUMN_FLAG, 0},
	{"total", AT(LodeEvent, total), LODE_COLUMN_REAL, 0},
};

static const LodeColumn term_columns[] = {
	{"event", AT(TermRow, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"position", AT(TermRow, position), LODE_COLUMN_REFERENCE, 0},
	{"source", AT(TermRow, source), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"factor", AT(TermRow, factor), LODE_COLUMN_REAL, 0},
};

static const LodeColumn image_columns[] = {
	{"path", AT(LodeImage, path), LODE_COLUMN_TEXT, 0},
	{"build_id", AT(LodeImage, build_id), LODE_COLUMN_MAYBE_TEXT, 0},
	{"kind", AT(LodeImage, kind), LODE_COLUMN_WORD, LODE_WORDS_IMAGE_KIND},
};

static const LodeColumn function_columns[] = {
	{"image", AT(LodeFunction, image), LODE_COLUMN_REFERENCE, LODE_TARGET_IMAGES},
	{"source", AT(LodeFunction, source), LODE_COLUMN_WORD, LODE_WORDS_FUNCTION_SOURCE},
	{"name", AT(LodeFunction, name), LODE_COLUMN_TEXT, 0},
	{"symbol", AT(LodeFunction, symbol), LODE_COLUMN_MAYBE_TEXT, 0},
	{"address", AT(LodeFunction, address), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeFunction, size), LODE_COLUMN_SIZE, 0},
	{"calls", AT(LodeFunction, calls), LODE_COLUMN_AMOUNT, 0},
	{"code", AT(LodeFunction, code), LODE_COLUMN_MAYBE_BYTES, 0},
};

static const LodeColumn block_columns[] = {
	{"function", AT(LodeBlock, function), LODE_COLUMN_REFERENCE, LODE_TARGET_FUNCTIONS},
	{"address", AT(LodeBlock, address), LODE_COLUMN_BITS, 0},
	{"end_address", AT(LodeBlock, end), LODE_COLUMN_BITS, 0},
	{"count", AT(LodeBlock, count), LODE_COLUMN_AMOUNT, 0},
	{"loop_depth", AT(LodeBlock, loop_depth), LODE_COLUMN_SMALL, 0},
	{"is_loop_head", AT(LodeBlock, is_loop_head), LODE_COLUMN_FLAG, 0},
};

static const LodeColumn attribute_columns[] = {{"name", 0, LODE_COLUMN_TEXT, 0}};

static const LodeColumn set_columns[] = {
	{"size", AT(LodeAttributeSet, n), LODE_COLUMN_NUMBER, 0},
};

static const LodeColumn member_columns[] = {
	{"attribute_set", AT(MemberRow, set), LODE_COLUMN_REFERENCE, LODE_TARGET_ATTRIBUTE_SETS},
	{"attribute", AT(MemberRow, attribute), LODE_COLUMN_REFERENCE, 0},
};

static const LodeColumn string_columns[] = {{"text", 0, LODE_COLUMN_TEXT, 0}};

static const LodeColumn location_columns[] = {
	{"file", AT(LocationRow, file), LODE_COLUMN_MAYBE_REFERENCE, 0},
	{"line", AT(LocationRow, line), LODE_COLUMN_NUMBER, 0},
	{"inlined", AT(LocationRow, inlined), LODE_COLUMN_MAYBE_REFERENCE, 0},
};

static const LodeColumn instruction_columns[] = {
	{"function", AT(LodeInstruction, function), LODE_COLUMN_REFERENCE, LODE_TARGET_FUNCTIONS},
	{"block", AT(LodeInstruction, block), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_BLOCKS},
	{"address", AT(LodeInstruction, address), LODE_COLUMN_BITS, 0},
	{"size", AT(LodeInstruction, size), LODE_COLUMN_NUMBER, 0},
	{"count", AT(LodeInstruction, count), LODE_COLUMN_AMOUNT, 0},
	{"next_count", AT(LodeInstruction, next_count), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"attribute_set", AT(LodeInstruction, attribute_set), LODE_COLUMN_REFERENCE,
		LODE_TARGET_ATTRIBUTE_SETS},
	{"location", AT(LodeInstruction, location), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_LOCATIONS},
	{"name", AT(LodeInstruction, name), LODE_COLUMN_MAYBE_TEXT, 0},
};

static const LodeColumn cost_columns[] = {
	{"instruction", AT(CostRow, instruction), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"event", AT(CostRow, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"value", AT(CostRow, value), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn edge_columns[] = {
	{"source", AT(LodeEdge, source), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"target", AT(LodeEdge, target), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"kind", AT(LodeEdge, kind), LODE_COLUMN_WORD, LODE_WORDS_EDGE_KIND},
	{"count", AT(LodeEdge, count), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn unresolved_columns[] = {
	{"reason", AT(LodeUnresolved, reason), LODE_COLUMN_TEXT, 0},
	{"example", AT(LodeUnresolved, example), LODE_COLUMN_MAYBE_TEXT, 0},
	{"count", AT(LodeUnresolved, count), LODE_COLUMN_AMOUNT, 0},
	{"weight", AT(LodeUnresolved, weight), LODE_COLUMN_AMOUNT, 0},
	{"places", AT(LodeUnresolved, places), LODE_COLUMN_SIZE, 0},
	{"samples", AT(LodeUnresolved, samples), LODE_COLUMN_AMOUNT, 0},
};

/* In the order in which they are written. */
enum {
	EVENTS,
	TERMS,
	IMAGES,
	FUNCTIONS,
	BLOCKS,
	ATTRIBUTES,
	SETS,
	MEMBERS,
	STRINGS,
	LOCATIONS,
	INSTRUCTIONS,
	COSTS,
	EDGES,
	UNRESOLVED,
	N_TABLES,
};

static const LodeRowTable tables[N_TABLES] = {
	[EVENTS] = LODE_ROW_TABLE("event", LodeEvent, event_columns, NULL),
	[TERMS] = LODE_ROW_TABLE("event_term", TermRow, term_columns, "event, position"),
	[IMAGES] = LODE_ROW_TABLE("image", LodeImage, image_columns, NULL),
	[FUNCTIONS] = LODE_ROW_TABLE("function", LodeFunction, function_columns, NULL),
	[BLOCKS] = LODE_ROW_TABLE("block", LodeBlock, block_columns, NULL),
	[ATTRIBUTES] = LODE_ROW_TABLE("attribute", char *, attribute_columns, NULL),
	[SETS] = LODE_ROW_TABLE("attribute_set", LodeAttributeSet, set_columns, NULL),
	[MEMBERS] = LODE_ROW_TABLE(
		"attribute_set_member", MemberRow, member_columns, "attribute_set, attribute"),
	[STRINGS] = LODE_ROW_TABLE("string", char *, string_columns, NULL),
	[LOCATIONS] = LODE_ROW_TABLE("location", LocationRow, location_columns, NULL),
	[INSTRUCTIONS] = LODE_ROW_TABLE("instruction", LodeInstruction, instruction_columns, NULL),
	[COSTS] = LODE_ROW_TABLE("cost", CostRow, cost_columns, "instruction, event"),
	[EDGES] = LODE_ROW_TABLE("edge", LodeEdge, edge_columns, NULL),
	[UNRESOLVED] = LODE_ROW_TABLE("unresolved", LodeUnresolved, unresolved_columns, NULL),
};

/* The rows of each table: the profile's own array, or one made for the file. */
typedef struct {
	GArray *of[N_TABLES];
} Rows;

static void rows_init(Rows *self, const LodeProfile *profile)
{
	*self = (Rows){{
		[EVENTS] = g_array_ref(profile->code.events),
		[IMAGES] = g_array_ref(profile->code.images),
		[FUNCTIONS] = g_array_ref(profile->code.functions),
		[BLOCKS] = g_array_ref(profile->code.blocks),
		[INSTRUCTIONS] = g_array_ref(profile->code.instructions),
		[EDGES] = g_array_ref(profile->code.edges),
		[UNRESOLVED] = g_array_ref(profile->unresolved),
	}};
	for (int i = 0; i < N_TABLES; i++)
		if (self->of[i] == NULL)
			self->of[i] = g_array_new(FALSE, FALSE, (guint)tables[i].row_size);
}

static void rows_clear(Rows *self)
{
	for (int i = 0; i < N_TABLES; i++)
		g_array_unref(self->of[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

static void list_terms(Rows *self, const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		for (uint32_t k = 0; event->terms != NULL && k < event->terms->len; k++) {
			const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, k);
			TermRow row = {i, k, term->event, term->factor};
			g_array_append_val(self->of[TERMS], row);
		}
	}
}

static void list_attributes(Rows *self, const LodeProfile *profile)
{
	g_array_append_vals(self->of[ATTRIBUTES], profile->code.attributes->pdata,
		profile->code.attributes->len);
	g_array_append_vals(self->of[SETS], profile->code.attribute_sets->data,
		profile->code.attribute_sets->len);
	for (uint32_t i = 0; i < profile->code.attribute_sets->len; i++) {
		LodeAttributeSet set = LODE_AT(profile->code.attribute_sets, LodeAttributeSet, i);
		for (uint32_t k = 0; k < set.n; k++) {
			MemberRow row = {
				i, LODE_AT(profile->code.set_members, uint32_t, set.first + k)};
			g_array_append_val(self->of[MEMBERS], row);
		}
	}
}

static uint32_t string_row(GHashTable *rows, GArray *strings, char *text)
{
	void *found;

	if (text == NULL)
		return LODE_NONE;
	if (g_hash_table_lookup_extended(rows, text, NULL, &found))
		return GPOINTER_TO_UINT(found);
	g_hash_table_insert(rows, text, GUINT_TO_POINTER(strings->len));
	g_array_append_val(strings, text);
	return strings->len - 1;
}

/* Locations share few files and functions: each becomes one row of `string`. */
static void list_locations(Rows *self, const LodeProfile *profile)
{
	g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);

	g_array_set_size(self->of[LOCATIONS], profile->code.locations->len);
	for (guint i = 0; i < profile->code.locations->len; i++) {
		const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, i);
		LocationRow *row = &LODE_AT(self->of[LOCATIONS], LocationRow, i);
		row->file = string_row(rows, self->of[STRINGS], location->file);
		row->line = location->line;
		row->inlined = string_row(rows, self->of[STRINGS], location->inlined);
	}
}

static void list_costs(Rows *self, const LodeProfile *profile)
{
	uint32_t instruction = 0;

	g_array_set_size(self->of[COSTS], profile->code.costs->len);
	for (guint i = 0; i < profile->code.costs->len; i++) {
		const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, i);
		while (LODE_AT(profile->code.cost_starts, uint32_t, instruction + 1) <= i)
			instruction++;
		LODE_AT(self->of[COSTS], CostRow, i) = (CostRow){
			instruction, cost->event, cost->value};
	}
}

struct Facts {
	const LodeProfile *profile;
	LodeDatabase *database;
};

static void give_fact(void *data, size_t row, int column, sqlite3_context *out)
{
	const struct Facts *self = data;

	if (column == 0)
		lode_row_result_text(out, facts[row].name);
	else
		lode_column_give(&facts[row], self->profile, self->database, out);
}

static bool insert_facts(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	struct Facts data = {profile, database};
	const LodeRowSource source = {"meta", "key,value", G_N_ELEMENTS(facts), give_fact, &data};
	g_autofree char *version = g_strdup_printf(
		"INSERT INTO meta VALUES('schema_version', %d)", LODE_SCHEMA_VERSION);

	return lode_row_source_insert(&source, database, error) &&
	       lode_database_execute(database, version, error);
}

static bool insert_content(LodeDatabase *database, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"INSERT INTO meta VALUES('content', '%016" G_GINT64_MODIFIER "x')",
		database->content);

	return lode_database_execute(database, sql, error);
}

bool lode_profile_tables_insert(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_auto(Rows) rows;

	rows_init(&rows, profile);
	list_terms(&rows, profile);
	list_attributes(&rows, profile);
	list_locations(&rows, profile);
	list_costs(&rows, profile);
	database->stage = "writing the profile";
	database->rows_total = G_N_ELEMENTS(facts) + lode_origin_tables_count(profile) +
	                       profile->thread_times->len + profile->loops->len +
	                       lode_inlining_tables_count(profile);
	if (profile->memory != NULL)
		database->rows_total += lode_memory_tables_count(profile->memory);
	if (profile->stacks != NULL)
		database->rows_total += lode_stack_tables_count(profile->stacks);
	if (profile->waits != NULL)
		database->rows_total += lode_wait_tables_count(profile->waits);
	if (profile->windows != NULL)
		database->rows_total += lode_window_tables_count(profile->windows);
	for (int i = 0; i < N_TABLES; i++)
		database->rows_total += rows.of[i]->len;
	if (!insert_facts(profile, database, error))
		return false;
	for (int i = 0; i < N_TABLES; i++)
		if (!lode_row_table_insert(
			    &tables[i], rows.of[i]->data, rows.of[i]->len, database, error))
			return false;
	return (profile->memory == NULL ||
		       lode_memory_tables_insert(profile->memory, database, error)) &&
	       (profile->stacks == NULL ||
		       lode_stack_tables_insert(profile->stacks, database, error)) &&
	       lode_thread_time_table_insert(profile, database, error) &&
	       (profile->waits == NULL ||
		       lode_wait_tables_insert(profile->waits, database, error)) &&
	       lode_loop_table_insert(profile, database, error) &&
	       lode_inlining_tables_insert(profile, database, error) &&
	       lode_origin_tables_insert(profile, database, error) &&
	       (profile->windows == NULL ||
		       lode_window_tables_insert(profile->windows, database, error)) &&
	       insert_content(database, error);
}

static void take_fact(LodeProfile *profile, LodeRowReader *rows, bool *seen)
{
	const char *key = lode_row_reader_text(rows, 0);

	for (size_t i = 0; i < G_N_ELEMENTS(facts); i++)
		if (strcmp(facts[i].name, key) == 0) {
			lode_column_take(&facts[i], profile, profile->strings, rows, 1);
			seen[i] = true;
		}
}

/* A fact that was added to the schema since: a profile without it does not say. */
static bool is_optional(const char *key)
{
	static const char *const keys[] = {"chain_ns", "chain_scatter", "core", "core_figures",
		"cycles_per_ns", "equal_samples", "is_kernel_sampled", "mispredict_cycles",
		"others_share", "processors", "speed_runs", "steal_share", "system_error",
		"system_seconds", "user_seconds", "walk_ns", "walk_scatter", "wall_seconds", NULL};

	return g_strv_contains(keys, key) || g_str_has_prefix(key, "read_rate_") ||
	       g_str_has_prefix(key, "write_rate_");
}

/* Other keys are passed over, up to a limit: a file made to harm may have any number. */
static bool read_facts(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	bool seen[G_N_ELEMENTS(facts)] = {false};
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "meta", "SELECT key, value FROM meta");
	while (lode_row_reader_next(&rows) && rows.n_rows <= 1000)
		take_fact(profile, &rows, seen);
	if (!lode_row_reader_finish(&rows, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(facts); i++)
		if (!seen[i] && !is_optional(facts[i].name)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"table 'meta': key '%s' is missing", facts[i].name);
			return false;
		}
	return true;
}

static bool take_terms(const Rows *self, LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->code.events->len; i++) {
		LodeEvent *event = lode_profile_event(profile, i);
		if (event->kind == LODE_EVENT_DERIVED)
			event->terms = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));
	}
	for (guint i = 0; i < self->of[TERMS]->len; i++) {
		const TermRow *row = &LODE_AT(self->of[TERMS], TermRow, i);
		LodeEventTerm term = {row->source, row->factor};
		GArray *terms = row->event < profile->code.events->len
		                        ? lode_profile_event(profile, row->event)->terms
		                        : NULL;
		if (terms == NULL || terms->len != row->position)
			return lode_row_table_broken(
				error, "event_term", i, "no derived event has this term");
		g_array_append_val(terms, term);
	}
	return true;
}

static bool take_attributes(const Rows *self, LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < self->of[ATTRIBUTES]->len; i++)
		if (lode_profile_attribute(profile, LODE_AT(self->of[ATTRIBUTES], char *, i)) != i)
			return lode_row_table_broken(
				error, "attribute", i, "its name has been there before");
	return true;
}

static bool take_sets(const Rows *self, LodeProfile *profile, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const GArray *members = self->of[MEMBERS];
	guint next = 0;

	for (guint i = 0; i < self->of[SETS]->len; i++) {
		uint32_t n = LODE_AT(self->of[SETS], LodeAttributeSet, i).n;
		g_array_set_size(ids, 0);
		for (; ids->len < n && next < members->len; next++) {
			const MemberRow *row = &LODE_AT(members, MemberRow, next);
			if (row->set != i)
				return lode_row_table_broken(error, "attribute_set_member", next,
					"its set has more or fewer members");
			g_array_append_val(ids, row->attribute);
		}
		if (ids->len < n)
			return lode_row_table_broken(error, "attribute_set", i,
				"it has fewer members than its size says");
		if (lode_profile_attribute_set(profile, (uint32_t *)(void *)ids->data, n) != i)
			return lode_row_table_broken(
				error, "attribute_set", i, "its members have been a set before");
	}
	return next == members->len ||
	       lode_row_table_broken(error, "attribute_set_member", next, "its set does not exist");
}

static bool take_locations(const Rows *self, LodeProfile *profile, GError **error)
{
	const GArray *strings = self->of[STRINGS];

	for (guint i = 0; i < self->of[LOCATIONS]->len; i++) {
		const LocationRow *row = &LODE_AT(self->of[LOCATIONS], LocationRow, i);
		if ((row->file != LODE_NONE && row->file >= strings->len) ||
			(row->inlined != LODE_NONE && row->inlined >= strings->len))
			return lode_row_table_broken(
				error, "location", i, "a string does not exist");
		const char *file = row->file != LODE_NONE ? LODE_AT(strings, char *, row->file)
		                                          : NULL;
		const char *inlined = row->inlined != LODE_NONE
		                              ? LODE_AT(strings, char *, row->inlined)
		                              : NULL;
		if (lode_profile_location(profile, file, row->line, inlined) != i)
			return lode_row_table_broken(
				error, "location", i, "it has been there before");
	}
	return true;
}

static bool take_costs(const Rows *self, LodeProfile *profile, GError **error)
{
	guint n = profile->code.instructions->len, begun = 0;

	g_array_set_size(profile->code.cost_starts, n + 1);
	g_array_set_size(profile->code.costs, self->of[COSTS]->len);
	for (guint i = 0; i < self->of[COSTS]->len; i++) {
		const CostRow *row = &LODE_AT(self->of[COSTS], CostRow, i);
		if (row->instruction >= n)
			return lode_row_table_broken(
				error, "cost", i, "its instruction does not exist");
		while (begun <= row->instruction)
			LODE_AT(profile->code.cost_starts, uint32_t, begun++) = i;
		LODE_AT(profile->code.costs, LodeCost, i) = (LodeCost){row->event, row->value};
	}
	while (begun <= n)
		LODE_AT(profile->code.cost_starts, uint32_t, begun++) = profile->code.costs->len;
	return true;
}

/* Instructions and blocks stand in the order of their functions, so that the ranges follow. */
static void find_ranges(LodeProfile *profile)
{
	guint instruction = 0, block = 0;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		LodeFunction *function = lode_profile_function(profile, i);
		function->first_instruction = instruction;
		while (instruction < profile->code.instructions->len &&
			lode_profile_instruction(profile, instruction)->function == i)
			instruction++;
		function->n_instructions = instruction - function->first_instruction;
		function->first_block = block;
		while (block < profile->code.blocks->len &&
			lode_profile_block(profile, block)->function == i)
			block++;
		function->n_blocks = block - function->first_block;
	}
}

bool lode_profile_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_auto(Rows) rows;

	rows_init(&rows, profile);
	database->stage = "reading the profile";
	if (!read_facts(profile, database, error))
		return false;
	for (int i = 0; i < N_TABLES; i++)
		if (!lode_row_table_read(&tables[i], profile->strings, rows.of[i], database, error))
			return false;
	if (!take_terms(&rows, profile, error) || !take_attributes(&rows, profile, error) ||
		!take_sets(&rows, profile, error) || !take_locations(&rows, profile, error) ||
		!take_costs(&rows, profile, error))
		return false;
	find_ranges(profile);
	return lode_profile_check(profile, error) &&
	       lode_inlining_tables_read(profile, database, error) &&
	       lode_origin_tables_read(profile, database, error) &&
	       lode_thread_time_table_read(profile, database, error) &&
	       lode_wait_tables_read(profile, database, error) &&
	       lode_loop_table_read(profile, database, error) &&
	       lode_window_tables_read(profile, database, error);
}

/* Checks the rules of model/profile.h beyond single values. */

static bool check_event(const LodeProfile *profile, guint index, GError **error)
{
	const LodeEvent *event = lode_profile_event(profile, index);

	if ((event->terms != NULL) != (event->kind == LODE_EVENT_DERIVED))
		return lode_row_table_broken(error, "event", index, "terms are for derived events");
	for (guint i = 0; event->terms != NULL && i < event->terms->len; i++) {
		const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, i);
		if (term->event >= profile->code.events->len || !isfinite(term->factor) ||
			lode_profile_event(profile, term->event)->kind == LODE_EVENT_DERIVED)
			return lode_row_table_broken(error, "event", index, "a term is broken");
	}
	return true;
}

static bool check_events(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->code.events->len; i++)
		if (!check_event(profile, i, error))
			return false;
	bool has_weight = profile->code.weight_event < profile->code.events->len;
	if (!has_weight &&
		(profile->code.weight_event != LODE_NONE || profile->code.events->len > 0)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'meta': the weight event is missing");
		return false;
	}
	return true;
}

/* `first` and `n` continue at `*inout_next` and end inside `length`; an empty range may start
 * anywhere. */
static bool is_next_range(uint32_t first, uint32_t n, uint64_t *inout_next, size_t length)
{
	if (n == 0)
		return true;
	if (first != *inout_next)
		return false;
	*inout_next += n;
	return *inout_next <= length;
}

static bool check_function(const LodeFunction *function, guint index, GError **error)
{
	if (function->size > UINT64_MAX - function->address)
		return lode_row_table_broken(error, "function", index, "its end is out of range");
	if (function->code != NULL && g_bytes_get_size(function->code) > function->size)
		return lode_row_table_broken(
			error, "function", index, "its code is longer than it");
	return true;
}

static bool check_functions(const LodeProfile *profile, GError **error)
{
	uint64_t instruction = 0, block = 0;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (!check_function(function, i, error))
			return false;
		if (!is_next_range(function->first_instruction, function->n_instructions,
			    &instruction, profile->code.instructions->len))
			return lode_row_table_broken(
				error, "function", i, "its instructions are not its own");
		if (!is_next_range(function->first_block, function->n_blocks, &block,
			    profile->code.blocks->len))
			return lode_row_table_broken(
				error, "function", i, "its blocks are not its own");
	}
	if (instruction != profile->code.instructions->len)
		return lode_row_table_broken(
			error, "instruction", instruction, "its function does not exist");
	if (block != profile->code.blocks->len)
		return lode_row_table_broken(error, "block", block, "its function does not exist");
	return true;
}

/* Whether row `index` of `function` belongs to it by the function's own range. */
static bool is_of_function(
	const LodeProfile *profile, uint32_t function, guint index, bool is_block)
{
	if (function >= profile->code.functions->len)
		return false;
	const LodeFunction *owner = lode_profile_function(profile, function);
	uint32_t first = is_block ? owner->first_block : owner->first_instruction;
	uint32_t n = is_block ? owner->n_blocks : owner->n_instructions;
	return index >= first && index - first < n;
}

static bool check_blocks(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->code.blocks->len; i++) {
		const LodeBlock *block = lode_profile_block(profile, i);
		if (!is_of_function(profile, block->function, i, true))
			return lode_row_table_broken(
				error, "block", i, "its function does not hold it");
		if (block->end < block->address)
			return lode_row_table_broken(error, "block", i, "it ends before it begins");
		if (i > 0 && block[-1].function == block->function &&
			block[-1].address > block->address)
			return lode_row_table_broken(
				error, "block", i, "it is not in the order of addresses");
	}
	return true;
}

static bool check_instructions(const LodeProfile *profile, GError **error)
{
	guint n = profile->code.instructions->len;

	for (guint i = 0; i < n; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		bool has_next = i + 1 < n && instruction[1].function == instruction->function;
		if (!is_of_function(profile, instruction->function, i, false))
			return lode_row_table_broken(
				error, "instruction", i, "its function does not hold it");
		if (instruction->block != LODE_NONE &&
			lode_profile_block(profile, instruction->block)->function !=
				instruction->function)
			return lode_row_table_broken(
				error, "instruction", i, "its block is not of its function");
		if (has_next && instruction[1].address < instruction->address)
			return lode_row_table_broken(
				error, "instruction", i + 1, "it is not in the order of addresses");
		if (instruction->next_count >= 0 && !has_next)
			return lode_row_table_broken(error, "instruction", i,
				"next_count, but it is the last of its function");
	}
	return true;
}

static bool check_cost(const LodeProfile *profile, guint index, bool is_first, GError **error)
{
	const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, index);

	if (cost->event >= profile->code.events->len ||
		!lode_event_kind_has_costs(lode_profile_event(profile, cost->event)->kind))
		return lode_row_table_broken(
			error, "cost", index, "its event does not exist or has no costs");
	if (!is_first && cost[-1].event >= cost->event)
		return lode_row_table_broken(
			error, "cost", index, "it is not in the order of events");
	if (!isfinite(cost->value) || cost->value < 0)
		return lode_row_table_broken(
			error, "cost", index, "its value is negative or not finite");
	return true;
}

static bool check_costs(const LodeProfile *profile, GError **error)
{
	guint n = profile->code.instructions->len;
	uint32_t next = 0;

	if (profile->code.cost_starts->len != (size_t)n + 1)
		return lode_row_table_broken(
			error, "cost", 0, "not one range of costs for each instruction");
	for (guint i = 0; i < n; i++) {
		uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		if (LODE_AT(profile->code.cost_starts, uint32_t, i) != next || end < next ||
			end > profile->code.costs->len)
			return lode_row_table_broken(
				error, "cost", next, "a range of costs is out of bounds");
		for (uint32_t k = next; k < end; k++)
			if (!check_cost(profile, k, k == next, error))
				return false;
		next = end;
	}
	if (next != profile->code.costs->len)
		return lode_row_table_broken(error, "cost", next, "its instruction does not exist");
	return true;
}

static bool is_edge_before(const LodeEdge *a, const LodeEdge *b)
{
	if (a->source != b->source)
		return a->source < b->source;
	if (a->target != b->target)
		return a->target < b->target;
	return a->kind <= b->kind;
}

static bool check_edges(const LodeProfile *profile, GError **error)
{
	for (guint i = 1; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (!is_edge_before(edge - 1, edge))
			return lode_row_table_broken(error, "edge", i,
				"it is not in the order of source, target and kind");
	}
	return true;
}

static bool check_attribute_sets(const LodeProfile *profile, GError **error)
{
	uint64_t next = 0;

	for (guint i = 0; i < profile->code.attribute_sets->len; i++) {
		LodeAttributeSet set = LODE_AT(profile->code.attribute_sets, LodeAttributeSet, i);
		if (!is_next_range(set.first, set.n, &next, profile->code.set_members->len))
			return lode_row_table_broken(
				error, "attribute_set", i, "its members are not its own");
		for (uint32_t k = 0; k < set.n; k++) {
			const uint32_t *member = &LODE_AT(
				profile->code.set_members, uint32_t, set.first + k);
			if (*member >= profile->code.attributes->len)
				return lode_row_table_broken(
					error, "attribute_set", i, "an attribute does not exist");
			if (k > 0 && member[-1] >= *member)
				return lode_row_table_broken(
					error, "attribute_set", i, "its members are not in order");
		}
	}
	if (next != profile->code.set_members->len)
		return lode_row_table_broken(
			error, "attribute_set_member", next, "its set does not exist");
	return true;
}

bool lode_profile_check(const LodeProfile *profile, GError **error)
{
	const size_t counts[LODE_N_TARGETS] = {
		[LODE_TARGET_EVENTS] = profile->code.events->len,
		[LODE_TARGET_IMAGES] = profile->code.images->len,
		[LODE_TARGET_FUNCTIONS] = profile->code.functions->len,
		[LODE_TARGET_BLOCKS] = profile->code.blocks->len,
		[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len,
		[LODE_TARGET_ATTRIBUTE_SETS] = profile->code.attribute_sets->len,
		[LODE_TARGET_LOCATIONS] = profile->code.locations->len,
	};
	const LodeRowTable meta = LODE_ROW_TABLE("meta", LodeProfile, facts, NULL);
	g_auto(Rows) rows;

	/* Here those that are the profile's own; the others are made after all is checked. */
	rows_init(&rows, profile);
	for (int i = 0; i < N_TABLES; i++)
		if (!lode_row_table_check(
			    &tables[i], rows.of[i]->data, rows.of[i]->len, counts, error))
			return false;
	return check_events(profile, error) &&
	       lode_row_table_check(&meta, profile, 1, counts, error) &&
	       check_functions(profile, error) && check_blocks(profile, error) &&
	       check_attribute_sets(profile, error) && check_instructions(profile, error) &&
	       check_costs(profile, error) && check_edges(profile, error);
}
