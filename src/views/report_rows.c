/* SPDX-License-Identifier: MIT */
/* The list of sequences as JSON and CSV. */
#include "views/report_rows.h"

#include "views/profile_json.h"
#include "views/row_stream.h"

static const struct {
	const char *name;
	LodeReportKeyKind kind;
} supports[] = {
	{"weight", LODE_REPORT_KEY_WEIGHT}, {"frequency", LODE_REPORT_KEY_FREQUENCY},
	{"maximal", LODE_REPORT_KEY_MAXIMAL}, {"differential", LODE_REPORT_KEY_DIFFERENTIAL},
	{"count", LODE_REPORT_KEY_COUNT}, /* only instruction runs have it, and only this */
};

/* A list of lists in JSON, its text in CSV. */
static void put_sequence(LodeRowStream *rows, const LodeMiningRun *run, size_t index)
{
	g_autoptr(GString) text = g_string_new(NULL);
	LodeJsonStream json;

	if (rows->json != NULL) {
		lode_json_key(rows->json, "sequence");
		lode_mining_run_sequence_json(run, index, rows->json);
		return;
	}
	lode_json_stream_init_text(&json, text);
	if (!rows->has_titles)
		lode_mining_run_sequence_json(run, index, &json);
	lode_row_csv_text(rows, "sequence", text->str);
}

/* `index` LODE_NONE: the line of titles. */
static void put_row(LodeRowStream *rows, const LodeProfile *profile, const LodeReportValues *values,
	uint32_t index)
{
	const LodeMiningRun *run = values->run;
	const LodeSequence none = {0};
	bool has_row = index != LODE_NONE;
	const LodeSequence *sequence = has_row ? &g_array_index(run->sequences, LodeSequence, index)
	                                       : &none;

	lode_row_begin(rows);
	lode_row_number(rows, "id", (double)index + 1);
	put_sequence(rows, run, index);
	for (size_t i = 0; i < G_N_ELEMENTS(supports); i++)
		if ((supports[i].kind == LODE_REPORT_KEY_COUNT) ==
			run->parameters.is_instruction_mode)
			lode_row_number(rows, supports[i].name,
				has_row ? lode_report_values_support(
						  values, supports[i].kind, index)
					: 0);
	if (!run->parameters.is_instruction_mode) {
		lode_row_number(rows, "places", sequence->places);
		lode_row_number(rows, "functions", sequence->functions);
		lode_row_number(rows, "executions", sequence->executions);
	}
	lode_row_begin_group(rows, "events", "event:");
	for (guint i = 0; i < run->events->len; i++)
		lode_row_number(rows, g_ptr_array_index(run->events, i),
			has_row ? lode_report_values_event(values, i, index) : 0);
	lode_row_end_group(rows);
	if (values->baseline != SIZE_MAX)
		lode_row_number(rows, "baseline", (double)values->baseline + 1);
	lode_row_csv_text(rows, "counts", lode_frequency_to_text(profile->frequency));
	lode_row_end(rows);
}

void lode_report_rows_json(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, FILE *out)
{
	LodeJsonStream json;
	LodeRowStream rows;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, profile);
	lode_json_line(&json);
	lode_profile_json_run(&json, values->run);
	lode_json_line(&json);
	lode_profile_json_unresolved(&json, profile);
	lode_json_line(&json);
	lode_json_key(&json, "sequences");
	lode_json_begin(&json, '[');
	lode_row_stream_init_json(&rows, &json);
	for (guint i = 0; i < indices->len; i++)
		put_row(&rows, profile, values, g_array_index(indices, uint32_t, i));
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

void lode_report_rows_csv(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, FILE *out)
{
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_row(&rows, profile, values, LODE_NONE);
	for (guint i = 0; i < indices->len; i++)
		put_row(&rows, profile, values, g_array_index(indices, uint32_t, i));
}
