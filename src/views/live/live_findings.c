/* SPDX-License-Identifier: MIT */
#include "views/live/live_findings.h"

#include "model/code.h"
#include "model/findings.h"
#include "views/form/function_name.h"

enum { MAX_FINDINGS = 12 };

typedef struct {
	LodeFinding finding;
	char *text;
	const char *function; /* of the costliest place, in `strings`; NULL: none is kept */
} Row;

struct LodeLiveFindings {
	GArray *rows; /* Row */
	GStringChunk *strings;
	double samples, explained;
};

static const char *function_of(
	LodeLiveFindings *self, const LodeProfile *profile, const LodeFindings *findings, guint i)
{
	const LodeFinding *finding = lode_findings_at(findings, i);

	if (finding->n_places == 0)
		return NULL;
	uint32_t instruction =
		g_array_index(findings->places, LodeFindingPlace, finding->first_place).instruction;
	uint32_t function = lode_profile_instruction(profile, instruction)->function;
	return g_string_chunk_insert(self->strings, lode_profile_function(profile, function)->name);
}

static void clear_row(void *row)
{
	g_free(((Row *)row)->text);
}

LodeLiveFindings *lode_live_findings_new(const LodeProfile *profile, const LodeFindings *findings)
{
	LodeLiveFindings *self = g_new0(LodeLiveFindings, 1);

	self->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_array_set_clear_func(self->rows, clear_row);
	self->strings = g_string_chunk_new(1024);
	self->samples = findings->samples;
	self->explained = findings->explained;
	for (guint i = 0; i < MIN(findings->findings->len, MAX_FINDINGS); i++) {
		const LodeFinding *finding = lode_findings_at(findings, i);
		Row row = {
			.finding = *finding,
			.text = lode_finding_text(findings, finding),
			.function = function_of(self, profile, findings, i),
		};
		g_array_append_val(self->rows, row);
	}
	return self;
}

void lode_live_findings_free(LodeLiveFindings *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_string_chunk_free(self->strings);
	g_free(self);
}

void lode_live_findings_put(const LodeLiveFindings *self, LodeJsonStream *json)
{
	if (self == NULL) {
		lode_json_string(json, NULL);
		return;
	}
	lode_json_begin(json, '{');
	lode_json_member_number(json, "samples", self->samples);
	lode_json_member_number(json, "explained", self->explained);
	lode_json_member_begin(json, "rows", '[');
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &g_array_index(self->rows, Row, i);
		lode_json_begin(json, '{');
		lode_function_name_json(json, "text", row->text);
		lode_json_member_number(json, "time", row->finding.time);
		lode_json_member_number(json, "time_error", row->finding.time_error);
		lode_json_member_number(json, "places", row->finding.places);
		lode_json_member_number(json, "functions", row->finding.functions);
		lode_function_name_json(json, "function", row->function);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}
