/* SPDX-License-Identifier: MIT */
#include "store/tables/stack_tables.h"

#include "model/profile.h"
#include "model/stacks.h"
#include "store/tables/row_table.h"
#include "store/tables/thread_tables.h"

#include <string.h>

#define AT(type, member) offsetof(type, member)

static const LodeColumn frame_columns[] = {
	{"function", AT(LodeFrame, function), LODE_COLUMN_MAYBE_TEXT, 0},
	{"image", AT(LodeFrame, image), LODE_COLUMN_MAYBE_TEXT, 0},
	{"address", AT(LodeFrame, address), LODE_COLUMN_BITS, 0},
	{"file", AT(LodeFrame, file), LODE_COLUMN_MAYBE_TEXT, 0},
	{"line", AT(LodeFrame, line), LODE_COLUMN_NUMBER, 0},
	{"is_inlined", AT(LodeFrame, is_inlined), LODE_COLUMN_FLAG, 0},
};

static const LodeColumn stack_columns[] = {
	{"frame", AT(LodeStack, frame), LODE_COLUMN_REFERENCE, LODE_TARGET_FRAMES},
	{"outer_stack", AT(LodeStack, outer), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_STACKS},
};

static const LodeColumn thread_columns[] = {
	{"pid", AT(LodeStackThread, pid), LODE_COLUMN_NUMBER, 0},
	{"tid", AT(LodeStackThread, tid), LODE_COLUMN_NUMBER, 0},
	{"name", AT(LodeStackThread, name), LODE_COLUMN_MAYBE_TEXT, 0},
};

static const LodeColumn sample_columns[] = {
	{"time_ns", AT(LodeStackSample, time_ns), LODE_COLUMN_BITS, 0},
	{"thread", AT(LodeStackSample, thread), LODE_COLUMN_REFERENCE, LODE_TARGET_STACK_THREADS},
	{"event", AT(LodeStackSample, event), LODE_COLUMN_REFERENCE, LODE_TARGET_EVENTS},
	{"weight", AT(LodeStackSample, weight), LODE_COLUMN_AMOUNT, 0},
	{"stack", AT(LodeStackSample, stack), LODE_COLUMN_MAYBE_REFERENCE, LODE_TARGET_STACKS},
};

/* Rows of what not every stack or sample has. */
typedef struct {
	uint32_t stack, instruction;
} InstructionRow;

typedef struct {
	uint32_t sample, n_more;
} MoreRow;

static const LodeColumn instruction_columns[] = {
	{"stack", AT(InstructionRow, stack), LODE_COLUMN_REFERENCE, LODE_TARGET_STACKS},
	{"instruction", AT(InstructionRow, instruction), LODE_COLUMN_REFERENCE,
		LODE_TARGET_INSTRUCTIONS},
};

static const LodeColumn more_columns[] = {
	{"sample", AT(MoreRow, sample), LODE_COLUMN_REFERENCE, LODE_TARGET_STACK_SAMPLES},
	{"n_more", AT(MoreRow, n_more), LODE_COLUMN_NUMBER, 0},
};

static const LodeRowTable instruction_table = LODE_ROW_TABLE(
	"stack_instruction", InstructionRow, instruction_columns, "stack, instruction");
static const LodeRowTable more_table = LODE_ROW_TABLE(
	"stack_sample_more", MoreRow, more_columns, "sample, n_more");

#define TABLE(name, array, type, columns)                                                          \
	LODE_ROW_TABLE_OF(LodeStacks, array, name, type, columns, NULL)

static const LodeRowTable tables[] = {
	TABLE("frame", frames, LodeFrame, frame_columns),
	TABLE("stack", stacks, LodeStack, stack_columns),
	TABLE("stack_thread", threads, LodeStackThread, thread_columns),
	TABLE("stack_sample", samples, LodeStackSample, sample_columns),
};

double lode_stack_tables_count(const LodeStacks *stacks)
{
	return lode_row_tables_count(tables, G_N_ELEMENTS(tables), stacks) +
	       stacks->instructions->len;
}

static bool insert_instructions(const LodeStacks *stacks, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(InstructionRow));

	for (uint32_t i = 0; i < stacks->stacks->len; i++) {
		const InstructionRow row = {i, lode_stacks_instruction(stacks, i)};
		if (row.instruction != LODE_NONE)
			g_array_append_val(rows, row);
	}
	return lode_row_table_insert(&instruction_table, rows->data, rows->len, database, error);
}

static bool insert_more(const LodeStacks *stacks, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(MoreRow));

	for (uint32_t i = 0; i < stacks->samples->len; i++) {
		const MoreRow row = {i, g_array_index(stacks->samples, LodeStackSample, i).n_more};
		if (row.n_more > 0)
			g_array_append_val(rows, row);
	}
	return lode_row_table_insert(&more_table, rows->data, rows->len, database, error);
}

bool lode_stack_tables_insert(const LodeStacks *stacks, LodeDatabase *database, GError **error)
{
	return lode_row_tables_insert(tables, G_N_ELEMENTS(tables), stacks, database, error) &&
	       insert_instructions(stacks, database, error) &&
	       insert_more(stacks, database, error) &&
	       (!stacks->has_tops ||
		       lode_database_execute(
			       database, "INSERT INTO meta VALUES('has_stack_tops', 1)", error)) &&
	       lode_database_execute(database,
		       stacks->has_chains ? "INSERT INTO meta VALUES('has_call_chains', 1)"
					  : "INSERT INTO meta VALUES('has_call_chains', 0)",
		       error);
}

/* Rows refer to stacks and samples that were read before. */
static bool read_more(
	LodeProfile *profile, LodeStacks *stacks, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(InstructionRow));
	g_autoptr(GArray) more = g_array_new(FALSE, FALSE, sizeof(MoreRow));
	const size_t counts[LODE_N_TARGETS] = {
		[LODE_TARGET_STACKS] = stacks->stacks->len,
		[LODE_TARGET_STACK_SAMPLES] = stacks->samples->len,
		[LODE_TARGET_INSTRUCTIONS] = profile->code.instructions->len,
	};

	if (!lode_row_table_read(&instruction_table, profile->strings, places, database, error) ||
		!lode_row_table_read(&more_table, profile->strings, more, database, error) ||
		!lode_row_table_check(
			&instruction_table, places->data, places->len, counts, error) ||
		!lode_row_table_check(&more_table, more->data, more->len, counts, error))
		return false;
	for (guint i = 0; i < more->len; i++) {
		const MoreRow *row = &g_array_index(more, MoreRow, i);
		g_array_index(stacks->samples, LodeStackSample, row->sample).n_more = row->n_more;
	}
	if (places->len == 0)
		return true;
	g_array_set_size(stacks->instructions, stacks->stacks->len);
	memset(stacks->instructions->data, 0xff, stacks->instructions->len * sizeof(uint32_t));
	for (guint i = 0; i < places->len; i++) {
		const InstructionRow *row = &g_array_index(places, InstructionRow, i);
		g_array_index(stacks->instructions, uint32_t, row->stack) = row->instruction;
	}
	return true;
}

/* Profiles of before have neither the tables nor the key: they have samples with calls alone. */
static bool read_additions(
	LodeProfile *profile, LodeStacks *stacks, LodeDatabase *database, GError **error)
{
	int64_t n_without, n_tops;
	bool has_instructions, has_more;

	if (!lode_database_query_integer(database,
		    "SELECT count(*) FROM meta WHERE key = 'has_call_chains' AND value = 0",
		    &n_without, error) ||
		!lode_database_query_integer(database,
			"SELECT count(*) FROM meta WHERE key = 'has_stack_tops' AND value = 1",
			&n_tops, error) ||
		!lode_database_has_table(
			database, instruction_table.name, &has_instructions, error) ||
		!lode_database_has_table(database, more_table.name, &has_more, error))
		return false;
	stacks->has_chains = n_without == 0;
	stacks->has_tops = n_without > 0 && n_tops > 0;
	return !has_instructions || !has_more || read_more(profile, stacks, database, error);
}

bool lode_stack_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	g_autoptr(LodeStacks) stacks = lode_stacks_new();
	bool has;

	if (!lode_row_tables_read(
		    tables, G_N_ELEMENTS(tables), stacks, profile->strings, database, &has, error))
		return false;
	if (!has || stacks->samples->len == 0)
		return true;
	if (!read_additions(profile, stacks, database, error))
		return false;
	profile->stacks = g_steal_pointer(&stacks);
	return lode_stack_tables_check(profile, error) && lode_wait_tables_check(profile, error);
}

/* Outer stacks come before inner ones, so that each way outward ends. */
static bool check_depths(const LodeStacks *stacks, GError **error)
{
	g_autofree uint16_t *depths = g_new(uint16_t, MAX(stacks->stacks->len, 1));

	for (guint i = 0; i < stacks->stacks->len; i++) {
		uint32_t outer = g_array_index(stacks->stacks, LodeStack, i).outer;
		if (outer != LODE_NONE && outer >= i)
			return lode_row_table_broken(
				error, "stack", i, "its outer one does not stand before it");
		depths[i] = outer != LODE_NONE ? (uint16_t)(depths[outer] + 1) : 1;
		if (depths[i] > LODE_STACK_MAX_DEPTH)
			return lode_row_table_broken(error, "stack", i, "it has too many frames");
	}
	return true;
}

bool lode_stack_tables_check(const LodeProfile *profile, GError **error)
{
	const LodeStacks *stacks = profile->stacks;
	size_t counts[LODE_N_TARGETS] = {0};

	if (stacks == NULL)
		return true;
	counts[LODE_TARGET_FRAMES] = stacks->frames->len;
	counts[LODE_TARGET_STACKS] = stacks->stacks->len;
	counts[LODE_TARGET_STACK_THREADS] = stacks->threads->len;
	counts[LODE_TARGET_EVENTS] = profile->code.events->len;
	if (!lode_row_tables_check(tables, G_N_ELEMENTS(tables), stacks, counts, error))
		return false;
	for (guint i = 0; i < stacks->instructions->len; i++) {
		uint32_t instruction = g_array_index(stacks->instructions, uint32_t, i);
		if (instruction != LODE_NONE && instruction >= profile->code.instructions->len)
			return lode_row_table_broken(
				error, "stack", i, "its instruction does not exist");
	}
	return check_depths(stacks, error);
}
