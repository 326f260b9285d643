/* SPDX-License-Identifier: MIT */
#include "store/tables/inlining_tables.h"

#include "model/profile.h"
#include "store/tables/row_table.h"

static const LodeColumn inlining_columns[] = {
	{"location", offsetof(LodeInlining, location), LODE_COLUMN_REFERENCE,
		LODE_TARGET_LOCATIONS},
	{"outer_inlining", offsetof(LodeInlining, outer), LODE_COLUMN_MAYBE_REFERENCE,
		LODE_TARGET_INLININGS},
};

static const LodeColumn of_columns[] = {
	{"inlining", 0, LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_INLININGS},
};

static const LodeRowTable tables[] = {
	LODE_ROW_TABLE_OF(
		LodeProfile, code.inlinings, "inlining", LodeInlining, inlining_columns, NULL),
	LODE_ROW_TABLE_OF(LodeProfile, code.inlining_of, "inlining_of", uint32_t, of_columns, NULL),
};

double lode_inlining_tables_count(const LodeProfile *profile)
{
	return lode_row_tables_count(tables, G_N_ELEMENTS(tables), profile);
}

bool lode_inlining_tables_insert(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(tables, G_N_ELEMENTS(tables), profile, database, error);
}

bool lode_inlining_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(LodeInlining));
	bool has;

	if (!lode_database_has_table(database, tables[0].name, &has, error))
		return false;
	/* The rows of the first enter one by one, so that equal ones are found. */
	if (has && !lode_row_table_read(&tables[0], profile->strings, rows, database, error))
		return false;
	if (!lode_row_tables_read(&tables[1], 1, profile, profile->strings, database, &has, error))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const LodeInlining *row = &LODE_AT(rows, LodeInlining, i);
		if (lode_profile_inlining(profile, row->location, row->outer) != i)
			return lode_row_table_broken(
				error, "inlining", i, "it has been there before");
	}
	return lode_inlining_tables_check(profile, error);
}

/* Outer ones come before inner ones, so that each way outward ends. */
static bool check_depths(const GArray *rows, GError **error)
{
	g_autofree uint16_t *depths = g_new(uint16_t, MAX(rows->len, 1));

	for (guint i = 0; i < rows->len; i++) {
		uint32_t outer = LODE_AT(rows, LodeInlining, i).outer;
		if (outer != LODE_NONE && outer >= i)
			return lode_row_table_broken(
				error, "inlining", i, "its outer one does not stand before it");
		depths[i] = outer != LODE_NONE ? (uint16_t)(depths[outer] + 1) : 1;
		if (depths[i] > LODE_INLINING_MAX_DEPTH)
			return lode_row_table_broken(
				error, "inlining", i, "it is in too many others");
	}
	return true;
}

bool lode_inlining_tables_check(const LodeProfile *profile, GError **error)
{
	size_t counts[LODE_N_TARGETS] = {0};
	guint n = profile->code.inlining_of->len;

	counts[LODE_TARGET_LOCATIONS] = profile->code.locations->len;
	counts[LODE_TARGET_INLININGS] = profile->code.inlinings->len;
	if (n != 0 && n != profile->code.instructions->len)
		return lode_row_table_broken(
			error, "inlining_of", n, "there is not one for each instruction");
	return lode_row_tables_check(tables, G_N_ELEMENTS(tables), profile, counts, error) &&
	       check_depths(profile->code.inlinings, error);
}
