/* SPDX-License-Identifier: MIT */
#include "views/profile/program_lines.h"

#include "analyses/parts/program_shares.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/run/program_run.h"
#include "model/stacks.h"
#include "model/waits.h"

enum { MOST_PROGRAMS = 3 };

/* Of the whole: from here on a program is one of several, is waited for, or runs alone for long. */
static const double LEAST_PROGRAM = 0.01, LEAST_WAITED_FOR = 0.02, LONG_ALONE = 0.15;

/* So many threads ran at once where not all of the program was serial. */
static const double PARALLEL = 1.1;

static const LodeWaitProgram *program_at(const LodeWaits *waits, guint i)
{
	return &g_array_index(waits->programs, LodeWaitProgram, i);
}

static const char *program_name(const char *name)
{
	return name != NULL ? name : "(unknown)";
}

static double running_of(const LodeWaits *waits)
{
	double running = 0;

	for (guint i = 0; i < waits->programs->len; i++)
		running += program_at(waits, i)->running_ns;
	return running;
}

/* "cc1 ×41 10.9 s on processors, as ×41 0.8 s, 2 more; 1.2 of 2 processors busy
 * on average" */
static void append_times(GString *text, const LodeWaits *waits, double processors)
{
	double running = running_of(waits);
	guint n = 0;

	for (; n < MIN(waits->programs->len, MOST_PROGRAMS); n++) {
		const LodeWaitProgram *program = program_at(waits, n);
		if (program->running_ns < LEAST_PROGRAM * running)
			break;
		g_string_append_printf(
			text, "%s%s", n > 0 ? ", " : "", program_name(program->name));
		if (program->processes > 1)
			g_string_append_printf(text, " ×%.0f", program->processes);
		g_string_append_printf(text, "%s%s%s",
			lode_wait_program_is_estimated(waits, program) ? " about " : " ",
			LODE_TIME_TEXT(program->running_ns), n == 0 ? " on processors" : "");
	}
	if (waits->programs->len > n)
		g_string_append_printf(text, ", %u more", waits->programs->len - n);
	g_string_append_printf(text, "; %.2g", running / waits->clock_ns);
	if (processors > 0)
		g_string_append_printf(text, " of %.0f processor%s busy on average", processors,
			processors == 1 ? "" : "s");
	else
		g_string_append(text, " at a time on average");
}

LODE_ORDER(
	compare_path, LodeWaitProgram, LODE_DESCENDING(path_ns), g_strcmp0(left->name, right->name))

static double path_of_processor(const LodeWaits *waits)
{
	double path = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(waits->rows, LodeWait, i);
		path += row->reason == LODE_WAIT_PROCESSOR ? row->path_ns : 0;
	}
	return path;
}

void lode_programs_append_path(GString *text, const LodeWaits *waits)
{
	g_autoptr(GArray) sorted = g_array_copy(waits->programs);
	double processor = path_of_processor(waits) / waits->clock_ns;
	bool is_first = true;

	g_array_sort(sorted, compare_path);
	for (guint i = 0; i < MIN(sorted->len, MOST_PROGRAMS); i++) {
		const LodeWaitProgram *program = &g_array_index(sorted, LodeWaitProgram, i);
		double share = program->path_ns / waits->clock_ns;
		if (share < LEAST_WAITED_FOR)
			break;
		g_string_append_printf(text, "%s %.0f %% %s%s", i == 0 ? ":" : ",", 100 * share,
			i == 0 ? "running " : "", program_name(program->name));
		is_first = false;
	}
	if (processor >= LEAST_WAITED_FOR)
		g_string_append_printf(text, "%s %.0f %% waiting for a processor",
			is_first ? ":" : ",", 100 * processor);
}

/* "; ld ran alone for 2.1 s" */
static void append_alone(GString *text, const LodeWaits *waits)
{
	const LodeWaitProgram *most = program_at(waits, 0);

	for (guint i = 1; i < waits->programs->len; i++)
		if (program_at(waits, i)->alone_ns > most->alone_ns)
			most = program_at(waits, i);
	if (running_of(waits) >= PARALLEL * waits->clock_ns &&
		most->alone_ns >= LONG_ALONE * waits->clock_ns)
		g_string_append_printf(text, "; %s ran alone for %s", program_name(most->name),
			LODE_TIME_TEXT(most->alone_ns));
}

static void append_shares(GString *text, const LodeProfile *profile)
{
	g_autoptr(GArray) rows = lode_program_shares_new(profile, LODE_PROGRAMS_BY_COMMAND, NULL);
	const LodeProgramShare *row = (const LodeProgramShare *)(void *)rows->data;
	bool has_two = rows->len > 1 && row[1].share >= LEAST_PROGRAM;

	for (guint i = 0; has_two && i < MIN(rows->len, MOST_PROGRAMS); i++)
		g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "",
			program_name(row[i].name), LODE_SHARE_TEXT(row[i].share));
}

char *lode_profile_programs(const LodeProfile *profile)
{
	GString *text = g_string_new(NULL);
	const LodeWaits *waits = lode_waits_of(profile);

	if (lode_waits_have_processes(waits)) {
		append_times(text, waits, lode_program_run_of(profile)->n_processors);
		append_alone(text, waits);
	} else if (lode_stacks_of(profile) != NULL) {
		append_shares(text, profile);
	}
	return g_string_free(text, text->len == 0);
}
