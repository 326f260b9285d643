/* SPDX-License-Identifier: MIT */
#include "views/observed/observed_facts.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/observed/branch_shares.h"
#include "model/observed/windows.h"
#include "model/run/program_run.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/function_name.h"

#include <math.h>

enum {
	MOST_EDGES = 64,
	LEAST_OUTCOMES = 100,    /* judged ones, of which a share is shown */
	LEAST_VISITS = 16,       /* of lines, likewise */
	LEAST_FOR_TENTHS = 1000, /* outcomes or accesses: their shares have a decimal */
};

/* From this share of the accesses on, they go by one stride, or to one address. */
#define MOST_ACCESSES 0.5

#define LEAST_SHARE 0.01

/* A part of what was seen, as exactly as its number allows. */
static const char *share_of_seen(double part, double whole, char buffer[LODE_NUMBER_SIZE])
{
	if (whole >= LEAST_FOR_TENTHS)
		return lode_number_format_share(lode_share_of(part, whole), buffer);
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%.0f %%", 100 * lode_share_of(part, whole));
	return buffer;
}

static void append_branch(const LodeProfile *profile, const LodeBranchShares *shares, GString *out)
{
	char share[LODE_NUMBER_SIZE];

	if (lode_branch_shares_are_observed(shares))
		g_string_append_printf(out, "taken %s (observed, %s)",
			share_of_seen((double)shares->taken, (double)shares->outcomes, share),
			LODE_COUNT_TEXT(shares->outcomes));
	else if (shares->counted >= 0)
		g_string_append_printf(out, "taken %s (%s)",
			lode_number_format_share(shares->counted, share),
			lode_frequency_to_text(lode_program_run_of(profile)->frequency));
}

/* "stride 4 in 75 %"; shares below 1 % take no room. */
static void append_share(GString *out, const char *what, double part, double whole)
{
	char share[LODE_NUMBER_SIZE];

	if (part >= LEAST_SHARE * whole)
		g_string_append_printf(out, "%s%s in %s", out->len > 0 ? ", " : "", what,
			share_of_seen(part, whole, share));
}

/* Whether a branch's outcomes, which differ, are foretold; one that always goes one way costs
 * nothing. */
static void append_judged(
	const LodeObservedInstruction *facts, const LodeBranchShares *shares, GString *out)
{
	bool is_mixed = lode_branch_shares_are_observed(shares) && shares->taken > 0 &&
	                shares->taken < shares->outcomes;

	if (is_mixed && lode_window_foretold(facts) == LODE_FORETOLD_ALL)
		g_string_append(out, ", foretold");
	else if (facts->outcomes >= LEAST_OUTCOMES)
		append_share(out, "not foretold", facts->unforetold, facts->outcomes);
	else if (is_mixed)
		g_string_append(out, ", not judged");
}

/* The address of each access compared with the one before. */
static void append_accesses(const LodeObservedInstruction *facts, GString *out)
{
	double accesses = facts->accesses, compared = lode_window_compared_accesses(facts);

	if (facts->accesses < LODE_OBSERVED_STEPS)
		return;
	if (facts->stride != 0 && facts->strided >= MOST_ACCESSES * compared) {
		g_autofree char *stride = g_strdup_printf(
			"stride %" G_GINT64_FORMAT, facts->stride);
		append_share(out, stride, facts->strided, compared);
	} else if (facts->repeated > 0 && facts->repeated >= MOST_ACCESSES * compared) {
		append_share(out, "same address", facts->repeated, compared);
	}
	append_share(
		out, "part-stored", facts->loads.part_stored, lode_window_judged_accesses(facts));
	append_share(out, "split", facts->split, accesses);
	append_share(out, "across pages", facts->split_pages, accesses);
	append_share(
		out, "set conflict", facts->loads.conflicting, lode_window_judged_accesses(facts));
	if (facts->line_visits >= LEAST_VISITS)
		g_string_append_printf(out, "%s%.0f of 64 bytes of its lines used",
			out->len > 0 ? ", " : "",
			(double)facts->line_used_bytes / facts->line_visits);
}

/* Each call compared with the one before from the same place. */
static void append_calls(const LodeObservedInstruction *facts, GString *out)
{
	if (facts->calls.compared < LODE_OBSERVED_STEPS)
		return;
	append_share(out, "same arguments", facts->calls.same_arguments, facts->calls.compared);
	if (facts->calls.compared_results > 0)
		append_share(out, "then same result", facts->calls.same_results,
			facts->calls.compared_results);
}

bool lode_observed_facts_append(const LodeProfile *profile, uint32_t instruction, GString *out)
{
	const LodeObservedInstruction *facts = lode_windows_find(
		lode_windows_of(profile), instruction);
	LodeBranchShares shares = {0};
	gsize length = out->len;

	if (lode_branch_shares_find(profile, instruction, &shares))
		append_branch(profile, &shares, out);
	bool is_observed = lode_branch_shares_are_observed(&shares);
	gsize of_branch = out->len;
	if (facts != NULL)
		append_judged(facts, &shares, out);
	if (facts != NULL && facts->denormals > 0)
		append_share(out, "denormal", facts->denormals, facts->steps);
	if (facts != NULL && facts->underflows > 0)
		append_share(out, "denormal result", facts->underflows, facts->steps);
	if (facts != NULL) {
		append_accesses(facts, out);
		append_calls(facts, out);
	}
	return out->len > length && (is_observed || out->len > of_branch);
}

LODE_ORDER(compare_edges, LodeObservedEdge, LODE_DESCENDING(steps), LODE_ASCENDING(target))

/* The most frequent first. */
static GArray *edges_from(const LodeWindows *windows, uint32_t source)
{
	const GArray *all = windows->edges;
	guint first = LODE_PARTITION_POINT(
		all->len, i, LODE_AT(all, LodeObservedEdge, i).source < source);
	guint end = LODE_PARTITION_POINT(
		all->len, i, LODE_AT(all, LodeObservedEdge, i).source <= source);
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(LodeObservedEdge));

	g_array_append_vals(edges, &LODE_AT(all, LodeObservedEdge, first), end - first);
	g_array_sort(edges, compare_edges);
	return edges;
}

static void put_edges(
	const LodeProfile *profile, uint32_t source, double followed, LodeJsonStream *json)
{
	g_autoptr(GArray) edges = edges_from(lode_windows_of(profile), source);
	uint32_t function = lode_profile_instruction(profile, source)->function;

	lode_json_member_number(json, "n_edges", edges->len);
	lode_json_member_begin(json, "edges", '[');
	for (guint i = 0; i < MIN(edges->len, MOST_EDGES); i++) {
		const LodeObservedEdge *edge = &LODE_AT(edges, LodeObservedEdge, i);
		const LodeInstruction *target = lode_profile_instruction(profile, edge->target);
		lode_json_begin(json, '{');
		if (target->function != function)
			lode_function_name_json(json, "function",
				lode_profile_function(profile, target->function)->name);
		lode_json_member_address(json, "address", target->address);
		lode_json_member_number(json, "steps", edge->steps);
		lode_json_member_number(json, "windows", edge->windows);
		lode_json_member_number(json, "share", lode_share_of(edge->steps, followed));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

LodeObservedCells lode_observed_cells(const LodeProfile *profile, uint32_t instruction)
{
	const LodeWindows *windows = lode_windows_of(profile);
	LodeObservedCells cells = {.taken = (double)NAN, .taken_by_edges = (double)NAN};
	LodeBranchShares shares = {.counted = -1};

	if (instruction == LODE_NONE)
		return cells;
	const LodeObservedInstruction *found = lode_windows_find(windows, instruction);
	if (found != NULL)
		cells.facts = *found;
	cells.followed = lode_windows_outcomes(windows, instruction);
	cells.is_observed = cells.followed >= LODE_OBSERVED_STEPS;
	lode_branch_shares_find(profile, instruction, &shares);
	if (shares.outcomes > 0)
		cells.taken = (double)shares.taken / (double)shares.outcomes;
	if (shares.counted >= 0)
		cells.taken_by_edges = shares.counted;
	return cells;
}

static const LodeColumn columns[] = {
	{"steps", LODE_CELL_NUMBER(LodeObservedCells, facts.steps), .only = LODE_IN_JSON},
	{"window_steps", LODE_CELL_NUMBER(LodeObservedCells, facts.steps), .only = LODE_IN_CSV},
	{"followed", LODE_CELL_NUMBER(LodeObservedCells, followed)},
	{"is_observed", LODE_CELL_FLAG(LodeObservedCells, is_observed), .only = LODE_IN_JSON},
	{"taken", LODE_CELL_NUMBER(LodeObservedCells, taken), .is_nullable = true},
	{"taken_by_edges", LODE_CELL_NUMBER(LodeObservedCells, taken_by_edges),
		.only = LODE_IN_JSON, .is_nullable = true},
	{"outcomes", LODE_CELL_NUMBER(LodeObservedCells, facts.outcomes)},
	{"unforetold", LODE_CELL_NUMBER(LodeObservedCells, facts.unforetold)},
	{"denormals", LODE_CELL_NUMBER(LodeObservedCells, facts.denormals)},
	{"accesses", LODE_CELL_NUMBER(LodeObservedCells, facts.accesses)},
	{"repeated", LODE_CELL_NUMBER(LodeObservedCells, facts.repeated)},
	{"strided", LODE_CELL_NUMBER(LodeObservedCells, facts.strided)},
	{"stride", LODE_CELL_NUMBER(LodeObservedCells, facts.stride)},
	{"lines", LODE_CELL_NUMBER(LodeObservedCells, facts.lines)},
	{"pages", LODE_CELL_NUMBER(LodeObservedCells, facts.pages)},
	{"line_bytes", LODE_CELL_ADDRESS(LodeObservedCells, facts.line_bytes),
		.only = LODE_IN_JSON},
	{"split", LODE_CELL_NUMBER(LodeObservedCells, facts.split)},
	{"stored", LODE_CELL_NUMBER(LodeObservedCells, facts.loads.stored)},
	{"part_stored", LODE_CELL_NUMBER(LodeObservedCells, facts.loads.part_stored)},
	{"store_steps", LODE_CELL_NUMBER(LodeObservedCells, facts.loads.store_steps)},
	{"conflicting", LODE_CELL_NUMBER(LodeObservedCells, facts.loads.conflicting)},
	{"underflows", LODE_CELL_NUMBER(LodeObservedCells, facts.underflows)},
	{"split_pages", LODE_CELL_NUMBER(LodeObservedCells, facts.split_pages)},
	{"compared_calls", LODE_CELL_NUMBER(LodeObservedCells, facts.calls.compared)},
	{"same_arguments", LODE_CELL_NUMBER(LodeObservedCells, facts.calls.same_arguments)},
	{"compared_results", LODE_CELL_NUMBER(LodeObservedCells, facts.calls.compared_results)},
	{"same_results", LODE_CELL_NUMBER(LodeObservedCells, facts.calls.same_results)},
	{"page_changes", LODE_CELL_NUMBER(LodeObservedCells, facts.page_changes)},
	{"line_visits", LODE_CELL_NUMBER(LodeObservedCells, facts.line_visits)},
	{"line_used_bytes", LODE_CELL_NUMBER(LodeObservedCells, facts.line_used_bytes)},
	{"loop_rounds", LODE_CELL_NUMBER(LodeObservedCells, facts.loop_rounds)},
	{"loop_exits", LODE_CELL_NUMBER(LodeObservedCells, facts.loop_exits)},
	{"string_runs", LODE_CELL_NUMBER(LodeObservedCells, facts.string_runs)},
	{"string_rounds", LODE_CELL_NUMBER(LodeObservedCells, facts.string_rounds)},
	{"hits", LODE_CELL_NUMBER(LodeObservedCells, facts.hits)},
	{"first_accesses", LODE_CELL_NUMBER(LodeObservedCells, facts.first_accesses)},
	{"early_accesses", LODE_CELL_NUMBER(LodeObservedCells, facts.early_accesses)},
};
const LodeColumns lode_observed_columns = LODE_COLUMNS("observed", columns, LodeObservedCells);

void lode_observed_facts_json(
	const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json)
{
	const LodeObservedCells cells = lode_observed_cells(profile, instruction);
	bool is_found = instruction != LODE_NONE &&
	                lode_windows_find(lode_windows_of(profile), instruction) != NULL;
	g_autoptr(GString) text = g_string_new(NULL);

	lode_json_key(json, "observed");
	if (!is_found && cells.followed == 0) {
		lode_json_string(json, NULL);
		return;
	}
	lode_observed_facts_append(profile, instruction, text);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "text", text->str);
	lode_columns_put_json(&lode_observed_columns, &cells, json);
	put_edges(profile, instruction, (double)cells.followed, json);
	lode_json_end(json, '}');
}
