/* SPDX-License-Identifier: MIT */
#include "store/tables/loops/loop_table.h"

#include "model/observed/loops.h"
#include "model/profile.h"
#include "store/tables/row_table.h"

#define AT(member) offsetof(LodeLoop, member)
#define UNIT(name) AT(cycles) + LODE_UNIT_##name * sizeof(double)

static const LodeColumn columns[] = {
	{"head", AT(head), LODE_COLUMN_REFERENCE, LODE_TARGET_INSTRUCTIONS},
	{"iterations", AT(iterations), LODE_COLUMN_AMOUNT, 0},
	{"instructions", AT(instructions), LODE_COLUMN_AMOUNT, 0},
	{"weight", AT(weight), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"calls", AT(calls), LODE_COLUMN_AMOUNT, 0},
	{"is_innermost", AT(is_innermost), LODE_COLUMN_FLAG, 0},
	{"unmodelled", AT(unmodelled), LODE_COLUMN_AMOUNT, 0},
	{"recurrence", AT(recurrence), LODE_COLUMN_MAYBE_TEXT, 0},
	{"recurrence_cycles", AT(recurrence_cycles), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"other_recurrence", AT(other_recurrence), LODE_COLUMN_MAYBE_TEXT, 0},
	{"other_cycles", AT(other_cycles), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"divider", UNIT(DIVIDER), LODE_COLUMN_AMOUNT, 0},
	{"load", UNIT(LOAD), LODE_COLUMN_AMOUNT, 0},
	{"store", UNIT(STORE), LODE_COLUMN_AMOUNT, 0},
	{"branch", UNIT(BRANCH), LODE_COLUMN_AMOUNT, 0},
	{"alu", UNIT(ALU), LODE_COLUMN_AMOUNT, 0},
	{"float", UNIT(FLOAT), LODE_COLUMN_AMOUNT, 0},
	{"vector", UNIT(VECTOR), LODE_COLUMN_AMOUNT, 0},
	{"ports", UNIT(PORTS), LODE_COLUMN_AMOUNT, 0},
	{"width", UNIT(WIDTH), LODE_COLUMN_AMOUNT, 0},
	{"iteration_ns", AT(iteration_ns), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"iteration_error_ns", AT(iteration_error_ns), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"iteration_source", AT(iteration_source), LODE_COLUMN_MAYBE_TEXT, 0},
	{"load_bytes", AT(load_bytes), LODE_COLUMN_MAYBE_AMOUNT, 0},
	{"store_bytes", AT(store_bytes), LODE_COLUMN_MAYBE_AMOUNT, 0},
};

static const LodeRowTable table = LODE_ROW_TABLE_OF(
	LodeProfile, loops, "loop", LodeLoop, columns, NULL);

bool lode_loop_table_insert(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(&table, 1, profile, database, error);
}

bool lode_loop_table_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	bool has;

	return lode_row_tables_read(&table, 1, profile, profile->strings, database, &has, error) &&
	       lode_loop_table_check(profile, error);
}

bool lode_loop_table_check(const LodeProfile *profile, GError **error)
{
	const GArray *rows = profile->loops;
	size_t counts[LODE_N_TARGETS] = {0};

	counts[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len;
	if (!lode_row_tables_check(&table, 1, profile, counts, error))
		return false;
	for (guint i = 1; i < rows->len; i++)
		if (LODE_AT(rows, LodeLoop, i - 1).head >= LODE_AT(rows, LodeLoop, i).head)
			return lode_row_table_broken(
				error, "loop", i, "it does not come after the one before");
	return true;
}
