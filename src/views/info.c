/* SPDX-License-Identifier: MIT */
/* What is in a profile, and how good it is: rows of facts as text or CSV, and a JSON document. */
#include "views/info.h"

#include "views/info_rows.h"
#include "views/profile_json.h"
#include "views/profile_lines.h"

#include <math.h>
#include <string.h>

static const LodeFactTitle titles[] = {
	{"profile", "Profile"},
	{"contents", "Contents"},
	{"quality", "Quality"},
	{"event", "Events"},
	{"image", "Images, by share of weight"},
	{"data address", "Data addresses, samples with share of weight"},
	{"unresolved", "Unresolved, by reason, with share of weight"},
	{"run", "Mining runs"},
	{NULL, NULL},
};

static void write_text(const LodeProfile *profile, const GArray *rows, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out)
{
	lode_fact_rows_write_text(rows, titles, &options->terminal, out);
	fputc('\n', out);
	if (profile->unresolved->len == 0)
		lode_profile_lines_unresolved(profile, &options->terminal, out);
	if (runs == NULL || runs->len == 0)
		lode_profile_lines_print(&options->terminal, out, "No mining run yet: lode mine %s",
			options->profile_path != NULL ? options->profile_path : "PROFILE.lode");
}

/* A section's rows as an array of objects. */
static void put_json_rows(LodeJsonStream *json, const GArray *rows, const char *section)
{
	lode_json_begin(json, '[');
	for (guint i = 0; i < rows->len; i++) {
		const LodeFactRow *row = &g_array_index(rows, LodeFactRow, i);
		if (strcmp(row->section, section) != 0)
			continue;
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "name", row->name);
		lode_json_member_number(json, "value", row->number);
		if (isfinite(row->share))
			lode_json_member_number(json, "share", row->share);
		lode_json_member_string(json, "detail", row->detail);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_json_runs(LodeJsonStream *json, const GPtrArray *runs)
{
	lode_json_key(json, "runs");
	lode_json_begin(json, '[');
	for (guint i = 0; runs != NULL && i < runs->len; i++) {
		const LodeRunSummary *run = g_ptr_array_index(runs, i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "name", run->name);
		lode_json_member_string(json, "weight", run->weight);
		lode_json_member_number(json, "sequences", (double)run->n_sequences);
		lode_json_member_bool(json, "is_complete", run->is_complete);
		lode_json_member_number(json, "seconds", run->seconds);
		/* The store's own JSON, as text: nothing here vouches for it. */
		lode_json_member_string(json, "parameters", run->parameters);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void write_json(
	const LodeProfile *profile, const GArray *rows, const GPtrArray *runs, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, profile);
	lode_json_line(&json);
	lode_json_key(&json, "flow_conservation");
	lode_json_begin(&json, '{');
	lode_json_member_number(&json, "checked", profile->inflow_checked);
	lode_json_member_number(&json, "equal", profile->inflow_equal);
	lode_json_member_number(&json, "share",
		profile->inflow_checked > 0 ? profile->inflow_equal / profile->inflow_checked
					    : (double)NAN);
	lode_json_end(&json, '}');
	lode_json_line(&json);
	lode_json_key(&json, "events");
	put_json_rows(&json, rows, "event");
	lode_json_line(&json);
	lode_json_key(&json, "images");
	put_json_rows(&json, rows, "image");
	lode_json_line(&json);
	if (profile->memory != NULL) {
		lode_json_key(&json, "data_addresses");
		put_json_rows(&json, rows, "data address");
		lode_json_line(&json);
	}
	lode_profile_json_unresolved(&json, profile);
	lode_json_line(&json);
	put_json_runs(&json, runs);
	lode_json_end(&json, '}');
}

bool lode_info_write(const LodeProfile *profile, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) rows = lode_info_rows(profile, runs);

	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(profile, rows, runs, options, out);
		break;
	case LODE_VIEW_JSON:
		write_json(profile, rows, runs, out);
		break;
	case LODE_VIEW_CSV:
		lode_fact_rows_write_csv(rows, false, out);
		break;
	}
	return lode_view_flush(out, error);
}
