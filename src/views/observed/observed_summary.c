/* SPDX-License-Identifier: MIT */
#include "views/observed/observed_summary.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/observed/branch_shares.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/form/listing.h"

#include <math.h>

enum { MOST_PROGRAMS = 1000 };

/* Windows that are asked for have more steps than that in a second; of a program that ran shorter
 * they would not tell more. */
enum { FEW_STEPS = 8000, ENOUGH_SAMPLES = 500 };

bool lode_is_observed(const LodeProfile *profile)
{
	return profile->run.frequency == LODE_FREQUENCY_INFERRED && profile->windows != NULL &&
	       (profile->windows->n_windows > 0 || lode_windows_hits(profile->windows) > 0);
}

char *lode_observed_windows_text(const LodeProfile *profile)
{
	const LodeWindows *windows = profile->windows;
	uint64_t hits = windows != NULL ? lode_windows_hits(windows) : 0;
	GString *text = g_string_new(NULL);

	if (windows != NULL && windows->n_windows > 0)
		g_string_append_printf(text, "%s window%s", LODE_COUNT_TEXT(windows->n_windows),
			windows->n_windows == 1 ? "" : "s");
	if (hits > 0)
		g_string_append_printf(text, "%s%s breakpoint hit%s", text->len > 0 ? ", " : "",
			LODE_COUNT_TEXT(hits), hits == 1 ? "" : "s");
	return g_string_free(text, FALSE);
}

const char *lode_observed_hint(const LodeProfile *profile)
{
	bool has_few = lode_is_observed(profile) && profile->windows->n_steps < FEW_STEPS &&
	               profile->run.n_samples >= ENOUGH_SAMPLES;

	return has_few ? "lode run --windows 3% -- …   longer stretches of it, step by step" : NULL;
}

double lode_observed_time_share(const LodeProfile *profile)
{
	const LodeWindows *windows = profile->windows;
	double whole = profile->run.user_seconds + profile->run.system_seconds;

	return whole > 0 ? (windows->user_seconds + windows->system_seconds) / whole : (double)NAN;
}

double lode_observed_dropped_share(const LodeProfile *profile)
{
	double dropped = profile->windows->dropped_weight;

	return lode_share_of(
		dropped, dropped + lode_profile_event_total(profile, profile->code.weight_event));
}

LodeObservedBranches lode_observed_branches(const LodeProfile *profile)
{
	bool has_weight = profile->code.weight_event < profile->code.events->len;
	LodeObservedBranches found = {0};
	double sum = 0;

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		uint32_t n = 0;
		double weight = 0;
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			uint32_t instruction = function->first_instruction + k;
			LodeBranchShares shares;
			n += lode_branch_shares_find(profile, instruction, &shares) &&
			     lode_branch_shares_are_observed(&shares);
			if (has_weight)
				weight += lode_profile_event_value(
					profile, profile->code.weight_event, instruction);
		}
		found.n_branches += n;
		sum += n > 0 ? weight : 0;
	}
	found.weight_share = lode_share_of(
		sum, lode_profile_event_total(profile, profile->code.weight_event));
	return found;
}

char *lode_observed_process_text(uint64_t n_steps, const char *obstacle)
{
	if (n_steps == 0)
		return g_strdup_printf("no windows%s%s", obstacle != NULL ? ": " : "",
			obstacle != NULL ? obstacle : "");
	return g_strdup_printf("%s steps%s%s", LODE_COUNT_TEXT(n_steps),
		obstacle != NULL ? ", then none: " : "", obstacle != NULL ? obstacle : "");
}

LODE_ORDER(by_name, LodeSteppedProgram, g_strcmp0(left->name, right->name),
	g_strcmp0(left->obstacle, right->obstacle), LODE_ASCENDING(pid))
LODE_ORDER(by_windows, LodeSteppedProgram, LODE_DESCENDING(n_windows),
	g_strcmp0(left->name, right->name), g_strcmp0(left->obstacle, right->obstacle))

static void add_program(LodeSteppedProgram *sum, const LodeSteppedProgram *one)
{
	sum->n += one->n;
	sum->n_windows += one->n_windows;
	sum->n_steps += one->n_steps;
}

GArray *lode_observed_programs(const LodeProfile *profile, guint most)
{
	const GArray *processes = profile->windows->processes;
	GArray *programs = g_array_new(FALSE, FALSE, sizeof(LodeSteppedProgram));
	LodeSteppedProgram others = {.name = "others"};
	guint n = 0;

	for (guint i = 0; i < processes->len; i++) {
		const LodeSteppedProcess *one = &LODE_AT(processes, LodeSteppedProcess, i);
		const LodeSteppedProgram row = {
			one->name, one->obstacle, one->pid, 1, one->n_windows, one->n_steps};
		g_array_append_val(programs, row);
	}
	g_array_sort(programs, by_name);
	for (guint i = 0; i < programs->len; i++) {
		LodeSteppedProgram row = LODE_AT(programs, LodeSteppedProgram, i);
		LodeSteppedProgram *last = n > 0 ? &LODE_AT(programs, LodeSteppedProgram, n - 1)
		                                 : NULL;
		if (last != NULL && g_strcmp0(last->name, row.name) == 0 &&
			g_strcmp0(last->obstacle, row.obstacle) == 0)
			add_program(last, &row);
		else
			LODE_AT(programs, LodeSteppedProgram, n++) = row;
	}
	g_array_set_size(programs, n);
	g_array_sort(programs, by_windows);
	for (guint i = most; i < programs->len; i++)
		add_program(&others, &LODE_AT(programs, LodeSteppedProgram, i));
	g_array_set_size(programs, MIN(programs->len, most));
	if (others.n > 0)
		g_array_append_val(programs, others);
	return programs;
}

static const LodeColumn process_columns[] = {
	{"processes", LODE_CELL_NUMBER(LodeSteppedProgram, n)},
	{"pid", LODE_CELL_NUMBER(LodeSteppedProgram, pid)},
	{"name", LODE_CELL_TEXT(LodeSteppedProgram, name)},
	{"obstacle", LODE_CELL_TEXT(LodeSteppedProgram, obstacle)},
	{"windows", LODE_CELL_NUMBER(LodeSteppedProgram, n_windows)},
	{"steps", LODE_CELL_NUMBER(LodeSteppedProgram, n_steps)},
};
static const LodeColumns processes = LODE_COLUMNS("processes", process_columns, LodeSteppedProgram);

void lode_observed_json(LodeJsonStream *json, const LodeProfile *profile)
{
	const LodeWindows *windows = profile->windows;
	g_autoptr(GArray) programs = lode_observed_programs(profile, MOST_PROGRAMS);
	LodeObservedBranches branches = lode_observed_branches(profile);
	LodeWindowSums sums = lode_windows_sums(windows);

	lode_json_member_begin(json, "windows", '{');
	lode_json_member_number(json, "windows", (double)windows->n_windows);
	lode_json_member_number(json, "steps", (double)windows->n_steps);
	lode_json_member_number(json, "unresolved_steps", (double)windows->n_unresolved);
	lode_json_member_number(json, "user_seconds", windows->user_seconds);
	lode_json_member_number(json, "system_seconds", windows->system_seconds);
	lode_json_member_number(json, "time_share", lode_observed_time_share(profile));
	lode_json_member_number(json, "dropped_samples", (double)windows->n_dropped);
	lode_json_member_number(json, "dropped_weight", windows->dropped_weight);
	lode_json_member_number(json, "edges", windows->edges->len);
	lode_json_member_number(json, "instructions", windows->instructions->len);
	lode_json_member_number(json, "observed_branches", branches.n_branches);
	lode_json_member_number(json, "observed_weight_share", branches.weight_share);
	lode_json_member_number(json, "judged_outcomes", (double)sums.outcomes);
	lode_json_member_number(json, "unforetold_per_thousand", sums.unforetold_per_thousand);
	lode_json_member_number(json, "unjudged_per_thousand", sums.unjudged_per_thousand);
	lode_json_member_number(json, "denormals", (double)sums.denormals);
	lode_json_member_number(json, "underflows", (double)sums.underflows);
	lode_columns_put_json_list(&processes, programs, json);
	lode_json_end(json, '}');
}
