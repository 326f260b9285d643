/* SPDX-License-Identifier: MIT */
/*
 * Maps the windows' facts and steps from code to the profile's instructions. Code that is no
 * instruction of the profile has no samples, and steps only at the beginning of windows, which
 * count for no frequency.
 */
#include "base/arrays/sort_order.h"
#include "ingest/join/join.h"
#include "ingest/windows/window_reading.h"
#include "model/profile.h"

LODE_ORDER(compare_edges, LodeObservedEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))
LODE_ORDER(compare_instructions, LodeObservedInstruction, LODE_ASCENDING(instruction))

/* The instruction of each code; LODE_NONE: none. */
static uint32_t *find_instructions(
	const LodeProfile *profile, const LodeJoinImages *images, const LodeWindowReading *reading)
{
	uint32_t n = lode_window_steps_n_codes(reading->steps);
	uint32_t *found = g_new(uint32_t, MAX(n, 1));

	for (uint32_t i = 0; i < n; i++) {
		const LodePlace *place = &lode_window_steps_code(reading->steps, i)->place;
		found[i] = lode_join_find(
			profile, lode_join_image_of(images, place->image), place->address);
	}
	return found;
}

static void add_instructions(
	LodeProfile *profile, const uint32_t *instructions, const LodeWindowReading *reading)
{
	GArray *out = profile->windows->instructions;

	for (guint i = 0; i < reading->facts->len; i++) {
		LodeObservedInstruction facts = LODE_AT(reading->facts, LodeObservedInstruction, i);
		facts.instruction = instructions[i];
		if (facts.instruction != LODE_NONE)
			g_array_append_val(out, facts);
		else
			profile->windows->n_unresolved += facts.steps;
	}
	g_array_sort(out, compare_instructions);
}

static void add_edges(
	LodeProfile *profile, const uint32_t *instructions, const LodeWindowReading *reading)
{
	GArray *out = profile->windows->edges;

	for (guint i = 0; i < reading->edges->len; i++) {
		const LodeReadEdge *read = &LODE_AT(reading->edges, LodeReadEdge, i);
		const LodeObservedEdge edge = {instructions[read->source],
			instructions[read->target], read->steps, read->windows};
		if (edge.source != LODE_NONE && edge.target != LODE_NONE)
			g_array_append_val(out, edge);
	}
	g_array_sort(out, compare_edges);
}

static void add_processes(LodeProfile *profile, const LodeWindowReading *reading)
{
	for (guint i = 0; i < reading->processes->len; i++) {
		const LodeReadProcess *read = &LODE_AT(reading->processes, LodeReadProcess, i);
		const LodeSteppedProcess process = {
			.pid = read->pid,
			.name = lode_profile_intern(profile, read->name),
			.obstacle = lode_profile_intern(
				profile, lode_window_obstacle_text(read->obstacle)),
			.n_windows = read->n_windows,
			.n_steps = read->n_steps,
		};
		g_array_append_val(profile->windows->processes, process);
	}
}

void lode_join_windows(
	LodeProfile *profile, const LodeJoinImages *images, const LodeWindowReading *reading)
{
	const LodeWindowFigures *figures = lode_window_steps_figures(reading->steps);
	g_autofree uint32_t *instructions = find_instructions(profile, images, reading);
	LodeWindows *windows = profile->windows = lode_windows_new();

	windows->n_windows = figures->n_windows;
	windows->n_steps = figures->n_steps;
	for (int i = LODE_PLACE_FOUND + 1; i < LODE_PLACE_N_OUTCOMES; i++)
		windows->n_unresolved += figures->outcomes[i];
	windows->n_dropped = reading->n_dropped;
	windows->dropped_weight = reading->dropped_weight;
	windows->user_seconds = (double)reading->user_ns / 1e9;
	windows->system_seconds = (double)reading->system_ns / 1e9;
	add_instructions(profile, instructions, reading);
	add_edges(profile, instructions, reading);
	add_processes(profile, reading);
}
