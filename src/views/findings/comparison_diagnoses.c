/* SPDX-License-Identifier: MIT */
#include "views/findings/comparison_diagnoses.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <math.h>

static const char *const match_words[] = {"same", "renamed", "new", "gone"};

/* That of the new profile, if it has it. */
static const LodeDiagnosis *subject_of(const LodeComparedDiagnosis *row)
{
	return row->sides[1] != NULL ? row->sides[1] : row->sides[0];
}

/* Seconds if `unit` is NULL. */
static void append_time(GString *out, double value, const char *unit)
{
	char number[LODE_NUMBER_SIZE];

	if (unit != NULL)
		g_string_append_printf(out, "%s %s", lode_number_format_count(value, number), unit);
	else if (value >= 1)
		g_string_append_printf(out, "%.3g s", value);
	else
		g_string_append_printf(out, "%.3g ms", 1000 * value);
}

static void append_name(GString *out, const LodeDiagnosis *self, const LodeTerminal *terminal)
{
	g_autofree char *base = self->file != NULL ? g_path_get_basename(self->file) : NULL;

	g_string_append(out, self->title);
	if (self->function != NULL) {
		g_string_append(out, " in ");
		lode_function_name_append(out, self->function, terminal);
	}
	if (base != NULL && self->line > 0)
		g_string_append_printf(out, " (%s:%u)", base, self->line);
	if (self->object != NULL)
		g_string_append_printf(out, ", %s", self->object);
	if (self->functions > 1)
		g_string_append_printf(out, " and %u more function%s", self->functions - 1,
			self->functions == 2 ? "" : "s");
}

/* "1.24 → 0.31 s" */
static void append_times(GString *out, const LodeComparedDiagnosis *row, const char *unit)
{
	append_time(out, row->seconds[0].value, unit);
	g_string_append(out, " → ");
	append_time(out, row->seconds[1].value, unit);
}

/* "promised 44–97 %, achieved 70 %" */
static void append_promise(GString *out, const LodeComparedDiagnosis *row)
{
	const LodeDiagnosis *base = row->sides[0];

	if (base == NULL || !(base->high > 0) || !isfinite(row->achieved) ||
		!(row->change.value < 0))
		return;
	if (isnan(base->low))
		g_string_append_printf(out, "; promised up to %.0f %%", 100 * base->high);
	else
		g_string_append_printf(
			out, "; promised %.0f–%.0f %%", 100 * base->low, 100 * base->high);
	if (row->achieved > 0)
		g_string_append_printf(out, ", achieved %.0f %%", 100 * row->achieved);
	else
		g_string_append(out, ", the program saved nothing");
}

static void put_row(const LodeComparedDiagnosis *row, const char *unit,
	const LodeComparisonViewOptions *options, FILE *out)
{
	const LodeTerminal *terminal = &options->terminal;
	bool is_alone = row->match == LODE_MATCH_GONE || row->match == LODE_MATCH_NEW;
	const char *word = row->match == LODE_MATCH_GONE  ? row->is_told ? "Gone" : "Perhaps gone"
	                   : row->match == LODE_MATCH_NEW ? row->is_told ? "New" : "Perhaps new"
	                   : !row->is_told                ? "Same"
	                   : row->change.value < 0        ? "Less"
	                                                  : "More";
	g_autoptr(GString) text = g_string_new(word);

	g_string_append(text, ": ");
	append_name(text, subject_of(row), terminal);
	g_string_append(text, ", ");
	if (is_alone)
		append_time(text, row->seconds[row->match == LODE_MATCH_NEW].value, unit);
	else
		append_times(text, row, unit);
	append_promise(text, row);
	lode_display_print(terminal, out, "%s.", text->str);
}

void lode_comparison_diagnoses_write(
	const LodeComparedDiagnoses *self, const LodeComparisonViewOptions *options, FILE *out)
{
	guint n = 0, n_left = 0;

	for (guint i = 0; i < self->rows->len; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(self, i);
		if (!row->is_told && !options->is_all)
			continue;
		if (n == 0)
			fputc('\n', out);
		if (options->limit != 0 && n >= options->limit)
			n_left++;
		else
			put_row(row, self->unit, options, out);
		n++;
	}
	if (n_left > 0)
		lode_display_print(&options->terminal, out,
			"%u more diagnos%s; --limit shows them.", n_left,
			n_left == 1 ? "is" : "es");
}

static void put_json_side(const LodeComparedDiagnosis *row, int side, const LodeProfile *profile,
	LodeJsonStream *json)
{
	const LodeDiagnosis *one = row->sides[side];
	bool has_place = one != NULL && one->instruction != LODE_NONE;
	const LodeInstruction *place = has_place
	                                       ? lode_profile_instruction(profile, one->instruction)
	                                       : NULL;
	g_autofree char *address =
		has_place ? g_strdup_printf("0x%" G_GINT64_MODIFIER "x", place->address) : NULL;

	lode_json_key(json, side == 0 ? "base" : "new");
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", one != NULL ? one->name : NULL);
	lode_json_member_number(json, "seconds", row->seconds[side].value);
	lode_json_member_number(json, "seconds_error", row->seconds[side].error);
	lode_function_name_json(json, "function", one != NULL ? one->function : NULL);
	lode_json_member_string(json, "file", one != NULL ? one->file : NULL);
	lode_json_member_number(
		json, "line", one != NULL && one->line > 0 ? (double)one->line : (double)NAN);
	lode_json_member_string(json, "object", one != NULL ? one->object : NULL);
	lode_json_member_number(json, "functions", one != NULL ? one->functions : 0);
	lode_json_member_number(
		json, "function_number", has_place ? (double)place->function : (double)NAN);
	lode_json_member_string(json, "address", address);
	lode_json_end(json, '}');
}

void lode_comparison_diagnoses_json(const LodeComparedDiagnoses *self,
	const LodeComparison *comparison, const LodeProfile *const profiles[2],
	const LodeComparisonViewOptions *options, LodeJsonStream *json)
{

	lode_json_line(json);
	lode_json_member_begin(json, "diagnoses", '[');
	for (guint i = 0; i < self->rows->len; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(self, i);
		const LodeDiagnosis *one = subject_of(row), *base = row->sides[0];
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "cause", one->cause);
		lode_json_member_string(json, "title", one->title);
		lode_json_member_string(json, "scope", lode_scope_kind_to_text(one->scope));
		lode_json_member_string(json, "match", match_words[row->match]);
		lode_json_member_string(json, "unit", self->unit != NULL ? self->unit : "s");
		lode_json_member_number(json, "change_seconds", row->change.value);
		lode_json_member_number(json, "change_error", row->change.error);
		lode_json_member_begin(json, "promised", '{');
		lode_json_member_number(json, "low", base != NULL ? base->low : (double)NAN);
		lode_json_member_number(json, "high", base != NULL ? base->high : (double)NAN);
		lode_json_end(json, '}');
		lode_json_member_number(json, "achieved", row->achieved);
		lode_json_member_bool(json, "is_told", row->is_told);
		lode_json_member_bool(json, "is_slower",
			!isnan(options->fail_above) && lode_compared_diagnosis_is_slower(self, i,
							       comparison, options->fail_above));
		put_json_side(row, 0, profiles[0], json);
		put_json_side(row, 1, profiles[1], json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

unsigned lode_comparison_diagnoses_write_slower(const LodeComparedDiagnoses *self,
	const LodeComparison *comparison, const LodeComparisonViewOptions *options, FILE *out)
{
	unsigned n = 0;

	for (guint i = 0; i < self->rows->len; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(self, i);
		if (!lode_compared_diagnosis_is_slower(self, i, comparison, options->fail_above))
			continue;
		g_autoptr(GString) text = g_string_new("slower: diagnosis ");
		append_name(text, row->sides[1], &options->terminal);
		g_string_append(text, ": ");
		append_times(text, row, self->unit);
		lode_display_line(out, "%s", text->str);
		n++;
	}
	return n;
}
