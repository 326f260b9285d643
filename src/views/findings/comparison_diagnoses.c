/* SPDX-License-Identifier: MIT */
#include "views/findings/comparison_parts.h"

#include "analyses/compare/compared_diagnoses.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "views/form/declared_columns.h"
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
	if (unit != NULL)
		g_string_append_printf(out, "%s %s", LODE_COUNT_TEXT(value), unit);
	else if (value >= 1)
		g_string_append_printf(out, "%.3g s", value);
	else
		g_string_append_printf(out, "%.3g ms", 1000 * value);
}

static void append_name(GString *out, const LodeDiagnosis *self, const LodeTerminal *terminal)
{
	g_autofree char *base = self->site.file != NULL ? g_path_get_basename(self->site.file)
	                                                : NULL;

	g_string_append(out, self->title);
	if (self->site.function != NULL) {
		g_string_append(out, " in ");
		lode_function_name_append(out, self->site.function, terminal);
	}
	if (base != NULL && self->site.line > 0)
		g_string_append_printf(out, " (%s:%u)", base, self->site.line);
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

/* --- for programs --- */

typedef struct {
	const char *name, *function, *file, *object;
	char *address;
	LodeEstimate seconds;
	double line, function_number;
	uint32_t functions;
} Side;

static const LodeColumn side_columns[] = {
	{"name", LODE_CELL_TEXT(Side, name), .is_nullable = true},
	{"seconds", LODE_CELL_NUMBER(Side, seconds.value)},
	{"seconds_error", LODE_CELL_NUMBER(Side, seconds.error)},
	{"function", LODE_CELL_NAME(Side, function), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Side, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Side, line), .is_nullable = true},
	{"object", LODE_CELL_TEXT(Side, object), .is_nullable = true},
	{"functions", LODE_CELL_NUMBER(Side, functions)},
	{"function_number", LODE_CELL_NUMBER(Side, function_number), .is_nullable = true},
	{"address", LODE_CELL_TEXT(Side, address), .is_nullable = true},
};
const LodeColumns lode_compared_cause_columns = LODE_COLUMNS("side", side_columns, Side);

typedef struct {
	LodeComparedDiagnosis of;
	const char *cause, *title, *scope, *unit;
	double low, high;
	bool is_slower;
	Side sides[2];
} Row;

static const LodeColumn columns[] = {
	{"cause", LODE_CELL_TEXT(Row, cause)},
	{"title", LODE_CELL_TEXT(Row, title)},
	{"scope", LODE_CELL_TEXT(Row, scope)},
	{"match", LODE_CELL_NUMBER(Row, of.match), .words = match_words},
	{"unit", LODE_CELL_TEXT(Row, unit)},
	{"change_seconds", LODE_CELL_NUMBER(Row, of.change.value)},
	{"change_error", LODE_CELL_NUMBER(Row, of.change.error)},
	{"promised", LODE_GROUP("promised_")},
	{"low", LODE_CELL_SHARE(Row, low), .is_nullable = true},
	{"high", LODE_CELL_SHARE(Row, high), .is_nullable = true},
	LODE_GROUP_END,
	{"achieved", LODE_CELL_SHARE(Row, of.achieved), .is_nullable = true},
	{"is_told", LODE_CELL_FLAG(Row, of.is_told)},
	{"is_slower", LODE_CELL_FLAG(Row, is_slower)},
	{"base", LODE_GROUP("base:")},
	{LODE_CELL_PART(Row, sides[0], lode_compared_cause_columns)},
	LODE_GROUP_END,
	{"new", LODE_GROUP("new:")},
	{LODE_CELL_PART(Row, sides[1], lode_compared_cause_columns)},
	LODE_GROUP_END,
};
const LodeColumns lode_compared_diagnosis_columns = LODE_COLUMNS("diagnoses", columns, Row);

typedef struct {
	const LodeComparedDiagnoses *diagnoses;
	const LodeComparison *comparison;
	const LodeProfile *const *profiles;
	double fail_above;
} Listed;

static Side side_of(const LodeComparedDiagnosis *row, int side, const LodeProfile *profile)
{
	const LodeDiagnosis *one = row->sides[side];
	Side out = {
		.seconds = row->seconds[side], .line = (double)NAN, .function_number = (double)NAN};

	if (one == NULL)
		return out;
	out.name = one->name;
	out.function = one->site.function;
	out.file = one->site.file;
	out.object = one->object;
	out.line = one->site.line > 0 ? one->site.line : (double)NAN;
	out.functions = one->functions;
	if (one->site.instruction != LODE_NONE) {
		const LodeInstruction *at = lode_profile_instruction(
			profile, one->site.instruction);
		out.function_number = at->function;
		out.address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", at->address);
	}
	return out;
}

static void fill_row(size_t number, void *out, const void *user_data)
{
	const Listed *self = user_data;
	guint index = (guint)number;
	const LodeComparedDiagnosis *of = lode_compared_diagnosis(self->diagnoses, index);
	const LodeDiagnosis *one = subject_of(of), *base = of->sides[0];

	*(Row *)out = (Row){*of, one->cause, one->title, lode_scope_kind_to_text(one->scope),
		self->diagnoses->unit != NULL ? self->diagnoses->unit : "s",
		base != NULL ? base->low : (double)NAN, base != NULL ? base->high : (double)NAN,
		!isnan(self->fail_above) && lode_compared_diagnosis_is_slower(self->diagnoses,
						    index, self->comparison, self->fail_above),
		{side_of(of, 0, self->profiles[0]), side_of(of, 1, self->profiles[1])}};
}

void lode_comparison_diagnoses_json(const LodeComparedDiagnoses *self,
	const LodeComparison *comparison, const LodeProfile *const profiles[2],
	const LodeComparisonViewOptions *options, LodeJsonStream *json)
{
	const Listed listed = {self, comparison, profiles, options->fail_above};
	const LodeListing listing = {.columns = &lode_compared_diagnosis_columns,
		.n_rows = self->rows->len,
		.fill = fill_row,
		.user_data = &listed};

	lode_json_line(json);
	lode_listing_put_json(&listing, json);
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
