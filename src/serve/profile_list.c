/* SPDX-License-Identifier: MIT */
/* The list of served files, for the page. */
#include "base/text/json_stream.h"
#include "model/profile.h"
#include "serve/query.h"
#include "serve/served_profile.h"
#include "serve/served_trace.h"
#include "views/form/format.h"

/* The events that samples of data addresses belong to. */
static void put_events(LodeJsonStream *json, LodeProfileSnapshot *snapshot)
{
	const LodeProfile *profile = snapshot != NULL ? lode_profile_snapshot_profile(snapshot)
	                                              : NULL;

	lode_json_key(json, "events");
	lode_json_begin(json, '[');
	for (guint i = 0; profile != NULL && i < lode_code_of(profile)->events->len; i++)
		if (lode_profile_snapshot_has_addresses(snapshot, i))
			lode_json_string(json, lode_profile_event(profile, i)->name);
	lode_json_end(json, ']');
}

static void put_traces(LodeJsonStream *json, const GPtrArray *traces)
{
	lode_json_key(json, "traces");
	lode_json_begin(json, '[');
	for (guint i = 0; i < traces->len; i++) {
		lode_json_begin(json, '{');
		lode_json_member_number(json, "number", i);
		lode_json_member_string(
			json, "name", lode_served_trace_name(g_ptr_array_index(traces, i)));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

bool lode_profile_list_write(
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out, GError **error)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "version", LODE_VERSION);
	lode_json_key(&json, "profiles");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < files->profiles->len; i++) {
		LodeServedProfile *served = g_ptr_array_index(files->profiles, i);
		LodeServedState state;
		g_autoptr(GError) fault = NULL;
		g_autoptr(LodeProfileSnapshot)
			snapshot = lode_served_profile_take(served, progress, &state, &fault);
		lode_json_line(&json);
		lode_json_begin(&json, '{');
		lode_json_member_number(&json, "number", i);
		lode_json_member_string(&json, "name", lode_served_profile_name(served));
		lode_json_member_string(&json, "program",
			snapshot != NULL ? lode_profile_snapshot_profile(snapshot)->run.program
					 : NULL);
		lode_json_member_string(&json, "fault", fault != NULL ? fault->message : NULL);
		lode_json_member_bool(&json, "has_memory",
			snapshot != NULL &&
				lode_profile_snapshot_profile(snapshot)->memory != NULL);
		lode_json_member_bool(&json, "has_waits",
			snapshot != NULL && lode_profile_snapshot_profile(snapshot)->waits != NULL);
		put_events(&json, snapshot);
		lode_json_key(&json, "runs");
		lode_json_begin(&json, '[');
		GPtrArray *runs = snapshot != NULL ? lode_profile_snapshot_runs(snapshot) : NULL;
		for (guint j = 0; runs != NULL && j < runs->len; j++)
			lode_json_string(
				&json, ((LodeRunSummary *)g_ptr_array_index(runs, j))->name);
		lode_json_end(&json, ']');
		lode_json_end(&json, '}');
	}
	lode_json_end(&json, ']');
	put_traces(&json, files->traces);
	lode_json_key(&json, "live");
	if (files->live != NULL) {
		lode_json_begin(&json, '{');
		lode_json_member_string(&json, "program", lode_live_feed_program(files->live));
		lode_json_member_bool(&json, "is_over", lode_live_feed_is_over(files->live));
		lode_json_end(&json, '}');
	} else {
		lode_json_string(&json, NULL);
	}
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
