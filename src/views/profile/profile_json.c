/* SPDX-License-Identifier: MIT */
/* The members that every JSON document of a profile has. */
#include "views/profile/profile_json.h"

#include "analyses/memory/window_samples.h"
#include "model/causes.h"
#include "model/mining_run.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "views/figures/profile_figures.h"
#include "views/profile/thread_times.h"

/* Where there are several, those that can be the weight, each once: where it was waited for, if
 * that is known. */
static void put_sampled_events(LodeJsonStream *json, const LodeProfile *profile)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	uint32_t windows = lode_window_samples_event(profile);

	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		if (event->kind == LODE_EVENT_SAMPLED && event->total > 0 && i != windows &&
			lode_profile_event_as_charged(profile, i) == LODE_NONE)
			g_ptr_array_add(names, event->name);
	}
	if (names->len < 2)
		return;
	lode_json_key(json, "sampled_events");
	lode_json_strings(json, names);
}

void lode_profile_json_head(LodeJsonStream *json, const LodeProfile *profile)
{
	uint32_t weight = profile->code.weight_event;
	g_autofree char *tool = lode_profile_tool(profile);
	g_autofree char *simulated = lode_profile_simulated(profile);
	g_autofree char *sampling = lode_profile_sampling(profile);

	lode_json_member_begin(json, "profile", '{');
	lode_json_member_string(json, "program", profile->run.program);
	lode_json_member_string(json, "creator", tool);
	if (profile->part != NULL)
		lode_json_member_string(json, "part", profile->part);
	if (simulated != NULL)
		lode_json_member_string(json, "simulated", simulated);
	if (sampling != NULL)
		lode_json_member_string(json, "sampling", sampling);
	lode_json_member_string(json, "frequency", lode_frequency_to_text(profile->run.frequency));
	lode_json_member_string(json, "weight_event", lode_profile_event_name(profile, weight));
	put_sampled_events(json, profile);
	lode_json_member_number(json, "weight", lode_profile_event_total(profile, weight));
	lode_json_member_number(json, "executions", profile->run.total_count);
	if (profile->windows != NULL) {
		lode_json_member_number(json, "windows", (double)profile->windows->n_windows);
		lode_json_member_number(json, "window_steps", (double)profile->windows->n_steps);
	}
	if (profile->run.user_seconds + profile->run.system_seconds > 0) {
		lode_json_member_number(json, "user_seconds", profile->run.user_seconds);
		lode_json_member_number(json, "system_seconds", profile->run.system_seconds);
		lode_json_member_bool(json, "is_kernel_sampled", profile->run.is_kernel_sampled);
	}
	if (profile->thread_times->len > 0)
		lode_json_member_number(json, "threads_running", lode_threads_running(profile));
	lode_json_member_number(json, "images", profile->code.images->len);
	lode_json_member_number(json, "functions", profile->code.functions->len);
	lode_json_member_number(json, "blocks", profile->code.blocks->len);
	lode_json_member_number(json, "instructions", profile->code.instructions->len);
	lode_json_member_number(json, "edges", (double)lode_profile_count_edges(profile));
	lode_json_end(json, '}');
}

static void put_graph_parameters(LodeJsonStream *json, const LodeMiningParameters *parameters)
{
	lode_json_member_number(json, "min_support", parameters->min_support);
	/* Above 1 is how the parameters say "off". */
	if (parameters->min_differential <= 1)
		lode_json_member_number(json, "min_differential", parameters->min_differential);
	lode_json_member_number(json, "min_functions", parameters->min_functions);
	lode_json_member_number(json, "gap", parameters->gap);
	lode_json_member_number(json, "window", parameters->window);
	lode_json_member_number(json, "iterations", parameters->iterations);
	lode_json_member_string(json, "flow", lode_flow_model_to_text(parameters->flow));
	lode_json_member_string(
		json, "granularity", lode_granularity_to_text(parameters->granularity));
}

/* "run": name, kind of run, whether complete, number of sequences, thresholds. */
static void put_run(LodeJsonStream *json, const LodeMiningRun *run)
{
	const LodeMiningParameters *parameters = &run->parameters;

	lode_json_member_begin(json, "run", '{');
	lode_json_member_string(json, "name", run->name);
	lode_json_member_bool(json, "is_instruction_mode", parameters->is_instruction_mode);
	lode_json_member_bool(json, "is_complete", run->is_complete);
	lode_json_member_number(json, "sequences", run->sequences->len);
	lode_json_member_string(json, "weight_event", parameters->weight);
	if (parameters->is_instruction_mode) {
		lode_json_member_number(json, "min_count", parameters->min_count);
	} else {
		put_graph_parameters(json, parameters);
	}
	lode_json_member_bool(json, "across_calls", parameters->across_calls);
	lode_json_end(json, '}');
}

void lode_profile_json_unresolved(LodeJsonStream *json, const LodeProfile *profile)
{
	lode_json_member_begin(json, "unresolved", '[');
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "reason", row->reason);
		lode_json_member_string(json, "example", row->example);
		lode_json_member_number(json, "count", row->count);
		lode_json_member_number(json, "weight", row->weight);
		lode_json_member_number(json, "share", lode_profile_unresolved_share(profile, row));
		lode_json_member_number(json, "places", (double)row->places);
		lode_json_member_number(json, "samples", row->samples);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

void lode_profile_json_open(LodeJsonStream *json, FILE *out, const LodeProfile *profile)
{
	lode_json_stream_init(json, out);
	lode_json_begin(json, '{');
	lode_json_line(json);
	lode_profile_json_head(json, profile);
	lode_json_line(json);
}

void lode_profile_json_begin(
	LodeJsonStream *json, FILE *out, const LodeProfile *profile, const LodeMiningRun *run)
{
	lode_profile_json_open(json, out, profile);
	if (run != NULL) {
		put_run(json, run);
		lode_json_line(json);
	}
	lode_profile_json_unresolved(json, profile);
	lode_json_line(json);
}
