/* SPDX-License-Identifier: MIT */
/* The list of sequences as JSON and CSV. */
#include "views/report_rows.h"

#include "views/csv.h"
#include "views/profile_json.h"

static const struct {
	const char *name;
	LodeReportKeyKind kind;
} supports[] = {
	{"weight", LODE_REPORT_KEY_WEIGHT},
	{"frequency", LODE_REPORT_KEY_FREQUENCY},
	{"maximal", LODE_REPORT_KEY_MAXIMAL},
	{"differential", LODE_REPORT_KEY_DIFFERENTIAL},
};

static void put_json_row(LodeJsonStream *json, const LodeReportValues *values, size_t index)
{
	const LodeMiningRun *run = values->run;
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);

	lode_json_begin(json, '{');
	lode_json_member_number(json, "id", (double)index + 1);
	lode_json_key(json, "sequence");
	lode_mining_run_sequence_json(run, index, json);
	if (run->parameters.is_instruction_mode) {
		lode_json_member_number(json, "count",
			lode_report_values_support(values, LODE_REPORT_KEY_COUNT, index));
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(supports); i++)
			lode_json_member_number(json, supports[i].name,
				lode_report_values_support(values, supports[i].kind, index));
		lode_json_member_number(json, "places", sequence->places);
		lode_json_member_number(json, "functions", sequence->functions);
		lode_json_member_number(json, "executions", sequence->executions);
	}
	lode_json_key(json, "events");
	lode_json_begin(json, '{');
	for (guint i = 0; i < run->events->len; i++)
		lode_json_member_number(json, g_ptr_array_index(run->events, i),
			lode_report_values_event(values, i, index));
	lode_json_end(json, '}');
	if (values->baseline != SIZE_MAX)
		lode_json_member_number(json, "baseline", (double)values->baseline + 1);
	lode_json_end(json, '}');
}

void lode_report_rows_json(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, FILE *out)
{
	LodeJsonStream json;

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
	for (guint i = 0; i < indices->len; i++) {
		lode_json_line(&json);
		put_json_row(&json, values, g_array_index(indices, uint32_t, i));
	}
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void put_csv_titles(LodeCsv *csv, const LodeReportValues *values)
{
	const LodeMiningRun *run = values->run;

	lode_csv_text(csv, "id");
	lode_csv_text(csv, "sequence");
	if (run->parameters.is_instruction_mode) {
		lode_csv_text(csv, "count");
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(supports); i++)
			lode_csv_text(csv, supports[i].name);
		lode_csv_text(csv, "places");
		lode_csv_text(csv, "functions");
		lode_csv_text(csv, "executions");
	}
	for (guint i = 0; i < run->events->len; i++) {
		g_autofree char *title = g_strconcat(
			"event:", g_ptr_array_index(run->events, i), NULL);
		lode_csv_text(csv, title);
	}
	if (values->baseline != SIZE_MAX)
		lode_csv_text(csv, "baseline");
	lode_csv_text(csv, "counts");
	lode_csv_end_row(csv);
}

static void put_csv_row(LodeCsv *csv, const LodeReportValues *values, size_t index,
	LodeFrequency frequency, GString *scratch)
{
	const LodeMiningRun *run = values->run;
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);
	LodeJsonStream json;

	g_string_truncate(scratch, 0);
	lode_json_stream_init_text(&json, scratch);
	lode_mining_run_sequence_json(run, index, &json);
	lode_csv_number(csv, (double)index + 1);
	lode_csv_text(csv, scratch->str);
	if (run->parameters.is_instruction_mode) {
		lode_csv_number(
			csv, lode_report_values_support(values, LODE_REPORT_KEY_COUNT, index));
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(supports); i++)
			lode_csv_number(
				csv, lode_report_values_support(values, supports[i].kind, index));
		lode_csv_number(csv, sequence->places);
		lode_csv_number(csv, sequence->functions);
		lode_csv_number(csv, sequence->executions);
	}
	for (guint i = 0; i < run->events->len; i++)
		lode_csv_number(csv, lode_report_values_event(values, i, index));
	if (values->baseline != SIZE_MAX)
		lode_csv_number(csv, (double)values->baseline + 1);
	lode_csv_text(csv, lode_frequency_to_text(frequency));
	lode_csv_end_row(csv);
}

void lode_report_rows_csv(
	const LodeReportValues *values, const GArray *indices, LodeFrequency frequency, FILE *out)
{
	g_autoptr(GString) scratch = g_string_new(NULL);
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(&csv, values);
	for (guint i = 0; i < indices->len; i++)
		put_csv_row(&csv, values, g_array_index(indices, uint32_t, i), frequency, scratch);
}
