/* SPDX-License-Identifier: MIT */
#include "store/tables/thread_tables.h"

#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "store/tables/row_table.h"

#define AT(member) offsetof(LodeThreadTime, member)

static const LodeColumn time_columns[] = {
	{"pid", AT(pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(tid), LODE_COLUMN_NUMBER, 0},
	{"name", AT(name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"begin_ns", AT(begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(end_ns), LODE_COLUMN_BITS, 0},
	{"running_ns", AT(running_ns), LODE_COLUMN_AMOUNT, 0},
	{"preempted_ns", AT(preempted_ns), LODE_COLUMN_AMOUNT, 0},
	{"switches", AT(switches), LODE_COLUMN_AMOUNT, 0},
};

static const LodeRowTable time_table = LODE_ROW_TABLE_OF(
	LodeProfile, thread_times, "thread_time", LodeThreadTime, time_columns, NULL);

bool lode_thread_time_table_insert(
	const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(&time_table, 1, profile, database, error);
}

bool lode_thread_time_table_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	bool has;

	return lode_row_tables_read(
		       &time_table, 1, profile, profile->strings, database, &has, error) &&
	       lode_thread_time_table_check(profile, error);
}

bool lode_thread_time_table_check(const LodeProfile *profile, GError **error)
{
	const GArray *rows = profile->thread_times;
	const size_t counts[LODE_N_TARGETS] = {0};

	if (!lode_row_tables_check(&time_table, 1, profile, counts, error))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const LodeThreadTime *row = &LODE_AT(rows, LodeThreadTime, i);
		if (row->end_ns < row->begin_ns)
			return lode_row_table_broken(
				error, "thread_time", i, "it ends before it begins");
	}
	return true;
}

/* --- waits --- */

#undef AT
#define AT(member) offsetof(LodeWait, member)

static const LodeColumn wait_columns[] = {
	{"reason", AT(reason), LODE_COLUMN_WORD, LODE_WORDS_WAIT_REASON},
	{"call", AT(call), LODE_COLUMN_MAYBE_TEXT, 0},
	{"object", AT(object), LODE_COLUMN_MAYBE_TEXT, 0},
	{"thread_name", AT(thread_name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"pid", AT(pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(tid), LODE_COLUMN_NUMBER, 0},
	{"stack", AT(stack), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_STACKS},
	{"holder_stack", AT(holder_stack), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_STACKS},
	{"holder_call", AT(holder_call), LODE_COLUMN_MAYBE_TEXT, 0},
	{"holder_share", AT(holder_share), LODE_COLUMN_AMOUNT, 0},
	{"cause", AT(cause), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_WAIT_CAUSES},
	{"waiting_ns", AT(waiting_ns), LODE_COLUMN_AMOUNT, 0},
	{"path_ns", AT(path_ns), LODE_COLUMN_AMOUNT, 0},
	{"count", AT(count), LODE_COLUMN_AMOUNT, 0},
	{"longest_ns", AT(longest_ns), LODE_COLUMN_AMOUNT, 0},
	{"looks", AT(looks), LODE_COLUMN_AMOUNT, 0},
	{"is_idle", AT(is_idle), LODE_COLUMN_FLAG, 0},
};

static const LodeColumn cause_columns[] = {
	{"high_ns", offsetof(LodeWaitCause, high_ns), LODE_COLUMN_AMOUNT, 0},
	{"low_ns", offsetof(LodeWaitCause, low_ns), LODE_COLUMN_AMOUNT, 0},
};

#undef AT
#define AT(member) offsetof(LodeWaitSlice, member)

static const LodeColumn slice_columns[] = {
	{"pid", AT(pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(tid), LODE_COLUMN_NUMBER, 0},
	{"begin_ns", AT(begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(end_ns), LODE_COLUMN_BITS, 0},
	{"kind", AT(kind), LODE_COLUMN_SMALL_WORD, LODE_WORDS_SLICE_KIND},
	{"wait", AT(wait), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_WAITS},
	{"time_ns", AT(time_ns), LODE_COLUMN_AMOUNT, 0},
	{"path_ns", AT(path_ns), LODE_COLUMN_AMOUNT, 0},
};

#undef AT
#define AT(member) offsetof(LodeWaitProgram, member)

static const LodeColumn program_columns[] = {
	{"name", AT(name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"processes", AT(processes), LODE_COLUMN_AMOUNT, 0},
	{"running_ns", AT(running_ns), LODE_COLUMN_AMOUNT, 0},
	{"lives_ns", AT(lives_ns), LODE_COLUMN_AMOUNT, 0},
	{"lived_ns", AT(lived_ns), LODE_COLUMN_AMOUNT, 0},
	{"path_ns", AT(path_ns), LODE_COLUMN_AMOUNT, 0},
	{"alone_ns", AT(alone_ns), LODE_COLUMN_AMOUNT, 0},
};

#undef AT
#define AT(member) offsetof(LodeWaitProcess, member)

static const LodeColumn process_columns[] = {
	{"pid", AT(pid), LODE_COLUMN_NUMBER, 0},
	{"parent", AT(parent), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_WAIT_PROCESSES},
	{"name", AT(name), LODE_COLUMN_MAYBE_TEXT, 0},
	{"command", AT(command), LODE_COLUMN_MAYBE_TEXT, 0},
	{"directory", AT(directory), LODE_COLUMN_MAYBE_TEXT, 0},
	{"input", AT(input), LODE_COLUMN_MAYBE_TEXT, 0},
	{"output", AT(output), LODE_COLUMN_MAYBE_TEXT, 0},
	{"environment", AT(environment), LODE_COLUMN_NUMBER, 0},
	{"is_cut", AT(is_cut), LODE_COLUMN_FLAG, 0},
	{"begin_ns", AT(begin_ns), LODE_COLUMN_BITS, 0},
	{"end_ns", AT(end_ns), LODE_COLUMN_BITS, 0},
	{"running_ns", AT(running_ns), LODE_COLUMN_AMOUNT, 0},
};

#undef AT
#define AT(member) offsetof(LodeWaitStart, member)

static const LodeColumn start_columns[] = {
	{"process", AT(process), LODE_COLUMN_REFERENCE, LODE_TARGET_WAIT_PROCESSES},
	{"function", AT(function), LODE_COLUMN_MAYBE_TEXT, 0},
	{"file", AT(file), LODE_COLUMN_TEXT, 0},
	{"line", AT(line), LODE_COLUMN_NUMBER, 0},
};

#undef AT
#define AT(member) offsetof(LodeWaits, member)

static const LodeColumn total_columns[] = {
	{"clock_ns", AT(clock_ns), LODE_COLUMN_AMOUNT, 0},
	{"running_ns", AT(running_ns), LODE_COLUMN_AMOUNT, 0},
	{"waiting_ns", AT(waiting_ns), LODE_COLUMN_AMOUNT, 0},
	{"seen_ns", AT(seen_ns), LODE_COLUMN_AMOUNT, 0},
	{"refused_ns", AT(refused_ns), LODE_COLUMN_AMOUNT, 0},
	{"has_path", AT(has_path), LODE_COLUMN_FLAG, 0},
	{"path_running_ns", AT(path_running_ns), LODE_COLUMN_AMOUNT, 0},
	{"path_sure", AT(path_sure), LODE_COLUMN_AMOUNT, 0},
	{"path_threads", AT(path_threads), LODE_COLUMN_AMOUNT, 0},
};

static const LodeRowTable wait_tables[] = {
	LODE_ROW_TABLE_OF(LodeWaits, causes, "wait_cause", LodeWaitCause, cause_columns, NULL),
	LODE_ROW_TABLE_OF(LodeWaits, rows, "wait", LodeWait, wait_columns, NULL),
	{"wait_slice", sizeof(LodeWaitSlice), slice_columns, G_N_ELEMENTS(slice_columns), NULL,
		AT(slices), true},
	{"wait_program", sizeof(LodeWaitProgram), program_columns, G_N_ELEMENTS(program_columns),
		NULL, AT(programs), true},
	{"wait_process", sizeof(LodeWaitProcess), process_columns, G_N_ELEMENTS(process_columns),
		NULL, AT(processes), true},
	{"wait_start", sizeof(LodeWaitStart), start_columns, G_N_ELEMENTS(start_columns), NULL,
		AT(starts), true},
};

/* Of one row: the struct itself. */
static const LodeRowTable total_table = LODE_ROW_TABLE(
	"wait_total", LodeWaits, total_columns, NULL);

double lode_wait_tables_count(const LodeWaits *waits)
{
	return 1 + lode_row_tables_count(wait_tables, G_N_ELEMENTS(wait_tables), waits);
}

bool lode_wait_tables_insert(const LodeWaits *waits, LodeDatabase *database, GError **error)
{
	return lode_row_table_insert(&total_table, waits, 1, database, error) &&
	       lode_row_tables_insert(
		       wait_tables, G_N_ELEMENTS(wait_tables), waits, database, error);
}

static bool check_waits(const LodeWaits *waits, size_t n_stacks, GError **error)
{
	size_t counts[LODE_N_TARGETS] = {0};

	counts[LODE_TARGET_STACKS] = n_stacks;
	counts[LODE_TARGET_WAIT_CAUSES] = waits->causes->len;
	counts[LODE_TARGET_WAITS] = waits->rows->len;
	counts[LODE_TARGET_WAIT_PROCESSES] = waits->processes->len;
	if (!lode_row_tables_check(wait_tables, G_N_ELEMENTS(wait_tables), waits, counts, error) ||
		!lode_row_table_check(&total_table, waits, 1, counts, error))
		return false;
	for (guint i = 0; i < waits->rows->len; i++)
		if (LODE_AT(waits->rows, LodeWait, i).holder_share > 1)
			return lode_row_table_broken(
				error, "wait", i, "the holder's share is more than all");
	for (guint i = 0; i < waits->slices->len; i++) {
		const LodeWaitSlice *slice = &LODE_AT(waits->slices, LodeWaitSlice, i);
		if (slice->end_ns < slice->begin_ns)
			return lode_row_table_broken(
				error, "wait_slice", i, "it ends before it begins");
	}
	for (guint i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *process = &LODE_AT(waits->processes, LodeWaitProcess, i);
		if (process->end_ns < process->begin_ns)
			return lode_row_table_broken(
				error, "wait_process", i, "it ends before it begins");
	}
	if (waits->path_sure > 1)
		return lode_row_table_broken(
			error, total_table.name, 0, "the sure share is more than all");
	return true;
}

bool lode_wait_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) totals = g_array_new(FALSE, TRUE, sizeof(LodeWaits));
	g_autoptr(LodeWaits) waits = lode_waits_new();
	bool has, has_rows;

	if (!lode_database_has_table(database, total_table.name, &has, error))
		return false;
	if (!has)
		return true;
	if (!lode_row_table_read(&total_table, profile->strings, totals, database, error) ||
		!lode_row_tables_read(wait_tables, G_N_ELEMENTS(wait_tables), waits,
			profile->strings, database, &has_rows, error))
		return false;
	if (totals->len == 0)
		return true;
	if (totals->len > 1)
		return lode_row_table_broken(error, total_table.name, 1, "there are several");
	LodeWaits total = g_array_index(totals, LodeWaits, 0);
	total.rows = waits->rows;
	total.causes = waits->causes;
	total.slices = waits->slices;
	total.programs = waits->programs;
	total.processes = waits->processes;
	total.starts = waits->starts;
	*waits = total;
	if (!check_waits(waits, UINT32_MAX, error))
		return false;
	profile->waits = g_steal_pointer(&waits);
	return true;
}

bool lode_wait_tables_check(const LodeProfile *profile, GError **error)
{
	const LodeStacks *stacks = profile->stacks;

	return profile->waits == NULL ||
	       check_waits(profile->waits, stacks != NULL ? stacks->stacks->len : 0, error);
}
