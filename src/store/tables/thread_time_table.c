/* SPDX-License-Identifier: MIT */
#include "store/tables/thread_time_table.h"

#include "model/process.h"
#include "model/profile.h"
#include "store/tables/row_table.h"

#define AT(member) offsetof(LodeThreadTime, member)

static const LodeColumn columns[] = {
	{"pid", AT(pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(tid), LODE_COLUMN_NUMBER, 0},
	{"name", AT(name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"begin_ns", AT(begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(end_ns), LODE_COLUMN_BITS, 0},
	{"running_ns", AT(running_ns), LODE_COLUMN_AMOUNT, 0},
	{"preempted_ns", AT(preempted_ns), LODE_COLUMN_AMOUNT, 0},
	{"switches", AT(switches), LODE_COLUMN_AMOUNT, 0},
};

static const LodeRowTable table = LODE_ROW_TABLE_OF(
	LodeProfile, thread_times, "thread_time", LodeThreadTime, columns, NULL);

bool lode_thread_time_table_insert(
	const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(&table, 1, profile, database, error);
}

bool lode_thread_time_table_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	bool has;

	return lode_row_tables_read(&table, 1, profile, profile->strings, database, &has, error) &&
	       lode_thread_time_table_check(profile, error);
}

bool lode_thread_time_table_check(const LodeProfile *profile, GError **error)
{
	const GArray *rows = profile->thread_times;
	const size_t counts[LODE_N_TARGETS] = {0};

	if (!lode_row_tables_check(&table, 1, profile, counts, error))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const LodeThreadTime *row = &LODE_AT(rows, LodeThreadTime, i);
		if (row->end_ns < row->begin_ns)
			return lode_row_table_broken(
				error, "thread_time", i, "it ends before it begins");
	}
	return true;
}
