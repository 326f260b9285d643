/* SPDX-License-Identifier: MIT */
#include "store/tables/origin_tables.h"

#include "model/profile.h"
#include "model/run/origins.h"
#include "store/tables/row_table.h"

#define AT(type, member) offsetof(type, member)

static const LodeColumn origin_columns[] = {
	{"name", AT(LodeOrigin, name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"host", AT(LodeOrigin, host), LODE_COLUMN_MAYBE_TEXT, 0},
	{"program", AT(LodeOrigin, program), LODE_COLUMN_MAYBE_TEXT, 0},
	{"pid", AT(LodeOrigin, pid), LODE_COLUMN_NUMBER, 0},
	{"recorded_at", AT(LodeOrigin, recorded_at), LODE_COLUMN_SIZE, 0},
	{"samples", AT(LodeOrigin, n_samples), LODE_COLUMN_AMOUNT, 0},
	{"executions", AT(LodeOrigin, total_count), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn count_columns[] = {
	{"origin", AT(LodeOriginCount, origin), LODE_COLUMN_REFERENCE, LODE_TARGET_ORIGINS},
	{"instruction", AT(LodeOriginCount, instruction), LODE_COLUMN_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
	{"count", AT(LodeOriginCount, count), LODE_COLUMN_AMOUNT, 0},
	{"next_count", AT(LodeOriginCount, next_count), LODE_COLUMN_MAYBE_AMOUNT, 0},
};

static const LodeColumn cost_columns[] = {
	{"origin", AT(LodeOriginCost, origin), LODE_COLUMN_REFERENCE, LODE_TARGET_ORIGINS},
	{"instruction", AT(LodeOriginCost, instruction), LODE_COLUMN_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
	{"event", AT(LodeOriginCost, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"value", AT(LodeOriginCost, value), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn edge_columns[] = {
	{"origin", AT(LodeOriginEdge, origin), LODE_COLUMN_REFERENCE, LODE_TARGET_ORIGINS},
	{"edge", AT(LodeOriginEdge, edge), LODE_COLUMN_REFERENCE, LODE_TARGET_EDGES},
	{"count", AT(LodeOriginEdge, count), LODE_COLUMN_AMOUNT, 0},
};

static const LodeColumn total_columns[] = {
	{"origin", AT(LodeOriginTotal, origin), LODE_COLUMN_REFERENCE, LODE_TARGET_ORIGINS},
	{"event", AT(LodeOriginTotal, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"value", AT(LodeOriginTotal, value), LODE_COLUMN_REAL, 0},
};

static const LodeRowTable origin_table = LODE_ROW_TABLE_OF(
	LodeProfile, origins, "origin", LodeOrigin, origin_columns, NULL);

#define TABLE(name, array, type, columns, key)                                                     \
	LODE_ROW_TABLE_OF(LodeOriginParts, array, name, type, columns, key)

static const LodeRowTable part_tables[] = {
	TABLE("origin_count", counts, LodeOriginCount, count_columns, NULL),
	TABLE("origin_cost", costs, LodeOriginCost, cost_columns, NULL),
	TABLE("origin_edge", edges, LodeOriginEdge, edge_columns, NULL),
	TABLE("origin_total", totals, LodeOriginTotal, total_columns, "origin, event"),
};

double lode_origin_tables_count(const LodeProfile *profile)
{
	const LodeOriginParts *parts = profile->origin_parts;

	return profile->origins->len +
	       (parts != NULL ? lode_row_tables_count(part_tables, G_N_ELEMENTS(part_tables), parts)
			      : 0);
}

bool lode_origin_tables_insert(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(&origin_table, 1, profile, database, error) &&
	       (profile->origin_parts == NULL ||
		       lode_row_tables_insert(part_tables, G_N_ELEMENTS(part_tables),
			       profile->origin_parts, database, error));
}

/* Either all tables are there or, in files written before, none. */
bool lode_origin_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	bool has;

	return lode_row_tables_read(
		       &origin_table, 1, profile, profile->strings, database, &has, error) &&
	       lode_origin_tables_check(profile, error);
}

bool lode_origin_tables_read_parts(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(LodeOriginParts) parts = lode_origin_parts_new();
	bool has;

	if (!lode_row_tables_read(part_tables, G_N_ELEMENTS(part_tables), parts, profile->strings,
		    database, &has, error))
		return false;
	if (!has || (parts->counts->len == 0 && parts->totals->len == 0))
		return true;
	profile->origin_parts = g_steal_pointer(&parts);
	return lode_origin_tables_check(profile, error);
}

static bool is_before(const LodeOriginCount *a, const LodeOriginCount *b)
{
	return a->origin != b->origin ? a->origin < b->origin : a->instruction < b->instruction;
}

static bool is_cost_before(const LodeOriginCost *a, const LodeOriginCost *b)
{
	if (a->origin != b->origin)
		return a->origin < b->origin;
	return a->instruction != b->instruction ? a->instruction < b->instruction
	                                        : a->event < b->event;
}

static bool is_edge_before(const LodeOriginEdge *a, const LodeOriginEdge *b)
{
	return a->origin != b->origin ? a->origin < b->origin : a->edge < b->edge;
}

/* Each once, in its order. */
static bool check_order(const LodeOriginParts *parts, GError **error)
{
	static const char what[] = "it is not in the order of origins and what it is of";

	for (guint i = 1; i < parts->counts->len; i++)
		if (!is_before(&LODE_AT(parts->counts, LodeOriginCount, i - 1),
			    &LODE_AT(parts->counts, LodeOriginCount, i)))
			return lode_row_table_broken(error, "origin_count", i, what);
	for (guint i = 1; i < parts->costs->len; i++)
		if (!is_cost_before(&LODE_AT(parts->costs, LodeOriginCost, i - 1),
			    &LODE_AT(parts->costs, LodeOriginCost, i)))
			return lode_row_table_broken(error, "origin_cost", i, what);
	for (guint i = 1; i < parts->edges->len; i++)
		if (!is_edge_before(&LODE_AT(parts->edges, LodeOriginEdge, i - 1),
			    &LODE_AT(parts->edges, LodeOriginEdge, i)))
			return lode_row_table_broken(error, "origin_edge", i, what);
	return true;
}

static bool check_events(const LodeProfile *profile, GError **error)
{
	const GArray *costs = profile->origin_parts->costs;

	for (guint i = 0; i < costs->len; i++) {
		uint32_t event = LODE_AT(costs, LodeOriginCost, i).event;
		if (!lode_event_kind_has_costs(lode_profile_event(profile, event)->kind))
			return lode_row_table_broken(
				error, "origin_cost", i, "its event has no costs");
	}
	return true;
}

bool lode_origin_tables_check(const LodeProfile *profile, GError **error)
{
	const size_t counts[LODE_N_TARGETS] = {
		[LODE_TARGET_ORIGINS] = profile->origins->len,
		[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len,
		[LODE_TARGET_EVENTS] = profile->code.events->len,
		[LODE_TARGET_EDGES] = profile->code.edges->len,
	};

	if (!lode_row_tables_check(&origin_table, 1, profile, counts, error))
		return false;
	if (profile->origin_parts == NULL)
		return true;
	if (!lode_row_tables_check(
		    part_tables, G_N_ELEMENTS(part_tables), profile->origin_parts, counts, error))
		return false;
	return check_order(profile->origin_parts, error) && check_events(profile, error);
}
