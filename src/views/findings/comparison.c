/* SPDX-License-Identifier: MIT */
/*
 * Two profiles for people:
 *
 *   Processor time 4.21 → 4.62 s, 1.10 ×: user 4.20 → 4.61, kernel 0.01 → 0.01; wall …
 *
 *   Change                base      new  more often  costs more          each
 *   +412 ms ±20  +35.1 %  1.17 s  1.59 s     +12 ms     +400 ms  9.70 → 12.9 ns  find(…)
 */
#include "views/findings/comparison.h"

#include "analyses/compare/compared_diagnoses.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/profile.h"
#include "views/figures/event_values.h"
#include "views/figures/inlined_lines.h"
#include "views/findings/comparison_parts.h"
#include "views/findings/finding_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/table.h"
#include "views/waits/wait_list.h"

#include <math.h>
#include <string.h>

/* Changes of more times the base, which has next to nothing of it, get no percentage. */
#define MAX_CHANGE 100.0

typedef struct {
	const LodeProfile *profiles[2];
	const char *paths[2];
	const LodeOwnLines *own[2];
	const LodeComparison *comparison;
	const LodeComparedDiagnoses *diagnoses; /* NULL: not compared */
	const LodeComparisonViewOptions *options;
	FILE *out;
} View;

static const char *const kind_words[LODE_N_COMPARED] = {
	"patterns", "places", "functions", "lines", "sequences"};
static const char *const kind_singles[LODE_N_COMPARED] = {
	"pattern", "place", "function", "line", "sequence"};
/* In which the text lists them: what a reader knows by its name first. */
static const LodeComparedKind kind_order[LODE_N_COMPARED] = {LODE_COMPARED_FUNCTION,
	LODE_COMPARED_LINE, LODE_COMPARED_PATTERN, LODE_COMPARED_PLACE, LODE_COMPARED_SEQUENCE};
static const struct {
	const char *name, *unit;
} totals[LODE_N_TOTALS] = {
	{"user", "s"}, {"kernel", "s"}, {"wall", "s"}, {"page-faults", "page-faults"}};
static const char *const match_words[] = {"same", "renamed", "new", "gone"};

bool lode_comparison_options_read(const char *kinds, const char *normalise,
	LodeComparisonOptions *out, bool *out_diagnoses, GError **error)
{
	g_auto(GStrv) words = g_strsplit(
		kinds != NULL ? kinds : "diagnoses,patterns,functions,lines", ",", -1);
	bool wants_diagnoses = false;

	for (char **word = words; *word != NULL; word++) {
		int kind = lode_word_find(kind_words, LODE_N_COMPARED, *word);
		if (strcmp(*word, "all") == 0) {
			for (int i = 0; i < LODE_N_COMPARED; i++)
				out->wants[i] = true;
			wants_diagnoses = true;
		} else if (strcmp(*word, "diagnoses") == 0) {
			wants_diagnoses = true;
		} else if (kind >= 0) {
			out->wants[kind] = true;
		} else {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s' is none of diagnoses, patterns, functions, lines, sequences, "
				"all",
				*word);
			return false;
		}
	}
	*out_diagnoses = wants_diagnoses;
	if (g_strcmp0(normalise, "executions") == 0) {
		out->normalisation = LODE_NORMALISE_EXECUTIONS;
	} else if (normalise != NULL && strcmp(normalise, "none") != 0) {
		out->normalisation = LODE_NORMALISE_FUNCTION;
		out->work_function = normalise;
	}
	return true;
}

/* --- figures --- */

static const char *unit_of(const View *self)
{
	const LodeProfile *base = self->profiles[0];

	return lode_event_value_unit(base, lode_profile_find_event(base, self->comparison->weight));
}

/* Three digits. */
static void append_digits(GString *out, double value)
{
	double size = fabs(value);

	if (size >= 100 || size == 0)
		g_string_append(out, LODE_COUNT_TEXT(value));
	else if (size < 0.01)
		g_string_append_printf(out, "%.2g", value);
	else
		g_string_append_printf(out, "%.*f", size >= 10 ? 1 : 2, value);
}

/* Nanoseconds in the unit that fits `scale`. */
static void append_scaled(GString *out, const View *self, double value, double scale, bool has_unit)
{
	static const struct {
		double least, ns;
		const char *unit;
	} units[] = {{1e9, 1e9, " s"}, {1e6, 1e6, " ms"}, {1e3, 1e3, " µs"}, {0, 1, " ns"}};
	size_t i = 0;

	if (strcmp(unit_of(self), "ns") != 0) {
		append_digits(out, value);
		return;
	}
	while (fabs(scale) < units[i].least)
		i++;
	append_digits(out, value / units[i].ns);
	if (has_unit)
		g_string_append(out, units[i].unit);
}

static void append_amount(GString *out, const View *self, double value)
{
	if (value == 0)
		g_string_append(out, "0");
	else if (isfinite(value))
		append_scaled(out, self, value, value, true);
}

static void append_signed(GString *out, const View *self, double value)
{
	if (!isfinite(value))
		return;
	if (value == 0) {
		g_string_append(out, "0");
		return;
	}
	g_string_append(out, value < 0 ? "−" : "+");
	append_scaled(out, self, fabs(value), value, true);
}

/* "+412 ms ±20" */
static void append_change(GString *out, const View *self, LodeEstimate change)
{
	append_signed(out, self, change.value);
	if (change.error > 0) {
		g_string_append(out, " ±");
		append_scaled(out, self, change.error,
			change.value != 0 ? change.value : change.error, change.value == 0);
	}
}

static void append_percent(GString *out, double change, double before)
{
	if (before > 0 && fabs(change / before) < MAX_CHANGE)
		g_string_append_printf(
			out, "%s%.1f %%", change < 0 ? "−" : "+", fabs(100 * change / before));
}

/* For patterns where executions were counted, the cost above the base; for patterns where they were
 * not, × the average around; else weight by executed instruction. */
static void append_each(GString *out, const View *self, const LodeComparedRow *row)
{
	bool is_relative = row->kind <= LODE_COMPARED_PLACE && !self->comparison->is_counted;

	if (!isfinite(row->sides[0].each.value) && !isfinite(row->sides[1].each.value))
		return;
	for (int side = 0; side < 2; side++) {
		const LodeComparedSide *one = &row->sides[side];
		g_string_append(out, side == 1 ? " → " : "");
		if (isfinite(one->each.value) && one->executed.value > 0)
			append_digits(out, one->each.value);
		else
			g_string_append(out, "·");
	}
	g_string_append_printf(out, " %s", is_relative ? "×" : unit_of(self));
}

/* The subject of a row: its text, with its place, and its earlier name. A row that costs nothing
 * any more has no place in the new profile, so that the place in the base is given. */
static void append_text(GString *out, const View *self, const LodeComparedRow *row)
{
	int side = row->sides[1].instruction != LODE_NONE ? 1 : 0;
	uint32_t instruction = row->sides[side].instruction;
	bool is_finding = row->kind <= LODE_COMPARED_PLACE && instruction != LODE_NONE;

	if (is_finding && row->kind == LODE_COMPARED_PLACE) {
		lode_finding_append_place(out, self->profiles[side], self->own[side], instruction,
			&self->options->terminal);
		g_string_append(out, "  ");
	}
	g_autofree char *text = lode_function_name_text(row->text, &self->options->terminal);
	g_string_append(out, text);
	if (is_finding && row->kind == LODE_COMPARED_PATTERN) {
		g_string_append(out, side == 0 ? "  most in the base: " : "  most: ");
		lode_finding_append_place(out, self->profiles[side], self->own[side], instruction,
			&self->options->terminal);
	}
	if (row->kind == LODE_COMPARED_LINE && row->sides[side].function != LODE_NONE) {
		g_autofree char *name = lode_function_name_text(
			lode_profile_function(self->profiles[side], row->sides[side].function)
				->name,
			&self->options->terminal);
		g_string_append_printf(out, "  %s", name);
	}
	if (row->match == LODE_MATCH_NEW)
		g_string_append(out, row->is_unused ? "  unused in the base" : "  new");
	if (row->match == LODE_MATCH_GONE)
		g_string_append(out, row->is_unused ? "  unused now" : "  gone");
	if (row->old_text != NULL) {
		g_autofree char *old = lode_function_name_text(
			row->old_text, &self->options->terminal);
		/* Short names of functions that differ in a type are equal. */
		g_string_append(out, strcmp(old, text) != 0 ? "  was " : "  other types");
		if (strcmp(old, text) != 0)
			g_string_append(out, old);
	}
	if (row->sides[0].is_inlined || row->sides[1].is_inlined)
		g_string_append(
			out, row->sides[0].is_inlined ? "  inlined in the base" : "  inlined now");
	if (row->likeness > 0)
		g_string_append_printf(out, ", code %.0f %% alike", 100 * row->likeness);
}

/* "function f: 1.20 s → 1.41 s, +17.5 %" */
static void append_row(GString *out, const View *view, const LodeComparedRow *row)
{
	g_string_append_printf(out, "%s ", kind_singles[row->kind]);
	append_text(out, view, row);
	g_string_append(out, ": ");
	append_amount(out, view, row->sides[0].time.value);
	g_string_append(out, " → ");
	append_amount(out, view, row->sides[1].time.value);
	if (row->sides[0].time.value > 0) {
		g_string_append(out, ", ");
		append_percent(out, row->change.value, row->sides[0].time.value);
	}
}

static bool is_slower(const View *self, const LodeComparedRow *row)
{
	return !isnan(self->options->fail_above) &&
	       lode_compared_row_is_slower(self->comparison, row, self->options->fail_above);
}

unsigned lode_comparison_write_slower(const LodeProfile *base, const LodeComparedFile *others,
	size_t n_others, const LodeComparisonViewOptions *options, FILE *out)
{
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(base, options->own);
	unsigned n = 0;

	for (size_t i = 0; i < n_others; i++) {
		g_autoptr(LodeOwnLines)
			other_own = lode_own_lines_new(others[i].profile, options->own);
		const View view = {.profiles = {base, others[i].profile},
			.own = {own, other_own},
			.comparison = others[i].comparison,
			.options = options};
		if (others[i].diagnoses != NULL && !isnan(options->fail_above))
			n += lode_comparison_diagnoses_write_slower(
				others[i].diagnoses, view.comparison, options, out);
		for (int kind = 0; kind < LODE_N_COMPARED; kind++) {
			const LodeComparedRows *rows = &view.comparison->kinds[kind];
			for (guint r = 0; rows->rows != NULL && r < rows->rows->len; r++) {
				const LodeComparedRow *row = lode_compared_row(rows, r);
				if (!is_slower(&view, row))
					continue;
				g_autoptr(GString) text = g_string_new(NULL);
				append_row(text, &view, row);
				lode_display_line(out, "slower: %s", text->str);
				n++;
			}
		}
	}
	return n;
}

/* --- tables --- */

enum {
	COLUMN_CHANGE,
	COLUMN_PERCENT,
	COLUMN_BASE,
	COLUMN_NEW,
	COLUMN_OFTEN,
	COLUMN_COSTS,
	COLUMN_EACH,
	COLUMN_TEXT,
	N_COLUMNS,
};

typedef struct {
	const View *view;
	const GArray *shown; /* const LodeComparedRow * */
} Body;

static LodeStyle cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const Body *body = user_data;
	const LodeComparedRow *row = g_array_index(body->shown, const LodeComparedRow *, index);
	bool is_alarm = is_slower(body->view, row);
	g_autoptr(GString) raw = g_string_new(NULL);

	switch (column) {
	case COLUMN_CHANGE:
		append_change(raw, body->view, row->change);
		break;
	case COLUMN_PERCENT:
		append_percent(raw, row->change.value, row->sides[0].time.value);
		break;
	case COLUMN_BASE:
		append_amount(raw, body->view, row->sides[0].time.value);
		break;
	case COLUMN_NEW:
		append_amount(raw, body->view, row->sides[1].time.value);
		break;
	case COLUMN_OFTEN:
		append_signed(raw, body->view, row->more_often.value);
		break;
	case COLUMN_COSTS:
		append_signed(raw, body->view, row->costs_more.value);
		break;
	case COLUMN_EACH:
		append_each(raw, body->view, row);
		break;
	default:
		append_text(raw, body->view, row);
		break;
	}
	lode_display_append(out, raw->str, body->view->options->terminal.is_ascii);
	if (column == COLUMN_TEXT)
		return is_alarm ? LODE_STYLE_ALARM : LODE_STYLE_STRONG;
	return row->is_told ? LODE_STYLE_PLAIN : LODE_STYLE_FAINT;
}

/* "6 patterns": so many of a kind, and `what` before a noun. */
static void append_kind(GString *out, guint n, const char *what, LodeComparedKind kind)
{
	g_string_append_printf(out, "%s %s%s", LODE_COUNT_TEXT(n), what,
		n == 1 ? kind_singles[kind] : kind_words[kind]);
}

/* The rows of a kind that the text lists, in `shown`. */
static void choose_rows(
	const View *self, const LodeComparedRows *rows, GArray *shown, guint *out_left)
{
	guint n = 0;

	*out_left = 0;
	for (guint i = 0; rows->rows != NULL && i < rows->rows->len; i++) {
		const LodeComparedRow *row = lode_compared_row(rows, i);
		if ((!row->is_told || row->is_repeated) && !self->options->is_all)
			continue;
		if (self->options->limit == 0 || n++ < self->options->limit)
			g_array_append_val(shown, row);
		else
			++*out_left;
	}
}

static guint count_told(const LodeComparedRows *rows)
{
	guint n = 0;

	for (guint i = 0; rows->rows != NULL && i < rows->rows->len; i++)
		n += lode_compared_row(rows, i)->is_told;
	return n;
}

static guint count_repeated(const LodeComparedRows *rows)
{
	guint n = 0;

	for (guint i = 0; rows->rows != NULL && i < rows->rows->len; i++)
		n += lode_compared_row(rows, i)->is_told && lode_compared_row(rows, i)->is_repeated;
	return n;
}

/* What is not in the table: changed rows beyond the limit, and rows without a change. */
static void put_rest(const View *self, const guint left[LODE_N_COMPARED])
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GString) cut = g_string_new(NULL);
	g_autoptr(GString) same = g_string_new(NULL);
	bool has_samples = self->comparison->profiles[0].samples > 0 ||
	                   self->comparison->profiles[1].samples > 0;

	for (size_t i = 0; i < LODE_N_COMPARED; i++) {
		const LodeComparedRows *rows = &self->comparison->kinds[kind_order[i]];
		guint n_told = count_told(rows), n = rows->rows != NULL ? rows->rows->len : 0;
		if (left[kind_order[i]] > 0) {
			g_string_append(cut, cut->len > 0 ? ", " : "");
			append_kind(cut, left[kind_order[i]], "more ", kind_order[i]);
		}
		if (n == n_told || self->options->is_all)
			continue;
		g_string_append(same, same->len > 0 ? ", " : "");
		append_kind(same, n - n_told, n_told > 0 ? "more " : "", kind_order[i]);
		if (has_samples)
			g_string_append_printf(same, " (%.1f)", rows->deviations);
	}
	if (cut->len > 0)
		lode_display_print(terminal, self->out, "%s: %s; --limit shows them.",
			self->options->is_all ? "Not listed" : "Changed, too", cut->str);
	guint n_repeated = count_repeated(&self->comparison->kinds[LODE_COMPARED_LINE]);
	if (n_repeated > 0 && !self->options->is_all)
		lode_display_print(terminal, self->out,
			"Not listed: %u line%s of functions in the table, or among which the time "
			"of a function only moved; --all lists all.",
			n_repeated, n_repeated == 1 ? "" : "s");
	if (same->len > 0 && has_samples)
		lode_display_print(terminal, self->out,
			"No change that the samples can tell (standard errors): %s.", same->str);
	else if (same->len > 0)
		lode_display_print(terminal, self->out, "No change: %s.", same->str);
}

/* One table: functions, then lines, then findings. */
static void put_table(const View *self)
{
	g_autoptr(GArray) shown = g_array_new(FALSE, FALSE, sizeof(const LodeComparedRow *));
	guint left[LODE_N_COMPARED];
	bool has_parts = false, has_each = false;

	for (size_t i = 0; i < LODE_N_COMPARED; i++)
		choose_rows(
			self, &self->comparison->kinds[kind_order[i]], shown, &left[kind_order[i]]);
	for (guint i = 0; i < shown->len; i++) {
		const LodeComparedRow *row = g_array_index(shown, const LodeComparedRow *, i);
		has_parts |= isfinite(row->more_often.value);
		has_each |= isfinite(row->sides[0].each.value) ||
		            isfinite(row->sides[1].each.value);
	}
	const LodeTableColumn columns[N_COLUMNS] = {
		[COLUMN_CHANGE] = {"change"},
		[COLUMN_PERCENT] = {"%", .dropped = 1},
		[COLUMN_BASE] = {"base"},
		[COLUMN_NEW] = {"new"},
		[COLUMN_OFTEN] = {has_parts ? "more often" : "", .dropped = 3},
		[COLUMN_COSTS] = {has_parts ? "costs more" : "", .dropped = 3},
		[COLUMN_EACH] = {has_each ? "each" : "", .dropped = 2},
		[COLUMN_TEXT] = {"what changed", .is_text = true},
	};
	Body body = {self, shown};
	LodeTable table = {
		.columns = columns,
		.n_columns = N_COLUMNS,
		.n_rows = shown->len,
		.cell = cell,
		.user_data = &body,
		.last_width = 24,
		.wraps = true,
	};
	if (self->comparison->profiles[0].total > 0 && self->comparison->profiles[1].total > 0)
		fputc('\n', self->out);
	if (shown->len > 0)
		lode_table_write(&table, &self->options->terminal, self->out);
	put_rest(self, left);
}

static void put_profile(const View *self, int side, const char *name)
{
	const LodeComparison *comparison = self->comparison;
	const LodeComparedProfile *one = &comparison->profiles[side];
	g_autoptr(GString) total = g_string_new(NULL);
	bool is_ns = strcmp(unit_of(self), "ns") == 0;

	append_amount(total, self, one->total);
	lode_display_print(&self->options->terminal, self->out, "%s %s · %s%s%s%s%s%s%s counts%s%s",
		name, self->paths[side], total->str, is_ns ? "" : " ",
		is_ns ? "" : comparison->weight, one->samples > 0 ? " in " : "",
		one->samples > 0 ? LODE_COUNT_TEXT(one->samples) : "",
		one->samples <= 0   ? " · "
		: one->samples == 1 ? " sample · "
				    : " samples · ",
		self->profiles[side]->part != NULL
			? "estimated"
			: lode_frequency_to_text(self->profiles[side]->run.frequency),
		comparison->kinds[LODE_COMPARED_PATTERN].rows != NULL ? " · explained " : "",
		comparison->kinds[LODE_COMPARED_PATTERN].rows != NULL
			? LODE_SHARE_TEXT(one->explained)
			: "");
	if (self->profiles[side]->part != NULL)
		lode_display_print_indented(&self->options->terminal, 5, self->out, "part: %s",
			self->profiles[side]->part);
}

/* Where the code that did not change takes longer or shorter than chance has it. */
static void put_same_code(const View *self)
{
	const LodeSameCode *same = &self->comparison->same_code;

	if (same->is_told)
		lode_display_print(&self->options->terminal, self->out,
			"%u functions with the same code take %.2f × the time: what they work on "
			"changed, or how often they are called, not the code.",
			same->n_functions, same->factor);
}

static void put_speed(const View *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeSpeed *speed = &self->comparison->speed;

	if (speed->is_measured && speed->is_different)
		lode_display_print(terminal, self->out,
			"The machine took %.2f ±%.2f times as long for the same work, as measured "
			"beside both programs.%s",
			speed->factor, speed->factor * speed->error,
			self->options->is_all ? "" : " Listed is what changed beside that.");
	else if (!speed->is_measured && speed->error > 0)
		lode_display_print(terminal, self->out,
			"The machine's speed was not measured beside both programs: changes within "
			"%.0f %% may be the machine's.",
			200 * speed->error);
}

static void put_head(const View *self)
{
	const LodeComparison *comparison = self->comparison;
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GString) change = g_string_new(NULL);
	g_autoptr(GString) percent = g_string_new(NULL);

	g_autoptr(GString) first = g_string_new(NULL);
	lode_comparison_append_differences(self->profiles, comparison, first);
	lode_comparison_append_times(self->profiles, comparison, first);
	if (first->len > 0)
		lode_display_print(terminal, self->out, "%s", g_strchomp(first->str));
	put_profile(self, 0, "base");
	put_profile(self, 1, "new ");
	append_change(change, self, comparison->change);
	if (comparison->change.value != 0)
		append_percent(percent, comparison->change.value, comparison->profiles[0].total);
	lode_display_print(terminal, self->out, "In all %s%s%s%s%s.", change->str,
		percent->len > 0 ? ", " : "", percent->str,
		comparison->normalisation == LODE_NORMALISE_EXECUTIONS ? ", by executed instruction"
		: comparison->normalisation == LODE_NORMALISE_FUNCTION ? ", by call of "
								       : "",
		comparison->normalisation == LODE_NORMALISE_FUNCTION ? comparison->work_function
								     : "");
	put_speed(self);
}

/* Attributes that say nothing of a change. */
static void put_left_out(const View *self)
{
	const LodeComparison *comparison = self->comparison;

	if (comparison->left_out->len == 0 || !(comparison->profiles[0].total > 0) ||
		!(comparison->profiles[1].total > 0))
		return;
	g_autoptr(GPtrArray) words = g_ptr_array_copy(
		comparison->left_out, (GCopyFunc)(void (*)(void))g_strdup, NULL);
	g_ptr_array_add(words, NULL);
	g_autofree char *list = g_strjoinv(" ", (char **)words->pdata);
	lode_display_print(&self->options->terminal, self->out,
		"Only one of the profiles has these attributes, by which nothing was compared: %s",
		list);
}

static void put_waits(const View *self)
{
	const LodeWaitListOptions options = {.terminal = self->options->terminal,
		.own = self->options->own,
		.limit = self->options->limit,
		.is_all = self->options->is_all};

	lode_wait_comparison_write(self->profiles, &options, self->out);
}

static void write_text(const View *self)
{
	bool is_most = self->comparison->same_code.is_most;

	put_head(self);
	if (is_most)
		put_same_code(self);
	if (self->diagnoses != NULL)
		lode_comparison_diagnoses_write(self->diagnoses, self->options, self->out);
	if (self->diagnoses != NULL)
		put_waits(self);
	if (!is_most)
		put_same_code(self);
	put_table(self);
	put_left_out(self);
}

/* --- for programs --- */

/* Figure and error. */
#define ESTIMATE(key, type, member)                                                                \
	{key, LODE_CELL_NUMBER(type, member.value), .is_nullable = true},                          \
	{                                                                                          \
		key "_error", LODE_CELL_NUMBER(type, member.error), .is_nullable = true            \
	}

typedef struct {
	LodeComparedSide of;
	const LodeOwnLines *own;
	const char *function, *image, *file;
	char *address;
	double function_number, line;
} Side;

static void put_inlined(LodeJsonStream *json, const void *row, const void *user_data)
{
	const Side *self = row;
	g_autoptr(GArray) chain = self->of.instruction != LODE_NONE
	                                  ? lode_own_lines_chain(self->own, self->of.instruction)
	                                  : g_array_new(FALSE, FALSE, sizeof(LodeInlinedLine));

	(void)user_data;
	lode_inlined_lines_json(json, chain, false);
}

static const LodeColumn side_columns[] = {
	ESTIMATE("time", Side, of.time),
	{"is_inlined", LODE_CELL_FLAG(Side, of.is_inlined)},
	ESTIMATE("executed", Side, of.executed),
	ESTIMATE("each", Side, of.each),
	{"function", LODE_CELL_NAME(Side, function), .is_nullable = true},
	{"function_number", LODE_CELL_NUMBER(Side, function_number), .is_nullable = true},
	{"image", LODE_CELL_TEXT(Side, image), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Side, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Side, line), .is_nullable = true},
	{"inlined", LODE_CELL_JSON(put_inlined), .only = LODE_IN_JSON, .type = "InlinedLine[]"},
	{"address", LODE_CELL_TEXT(Side, address), .is_nullable = true},
};
const LodeColumns lode_compared_side_columns = LODE_COLUMNS("side", side_columns, Side);

/* A row for programs. In CSV all are of one table; JSON has diagnoses and totals in lists of their
 * own. */
typedef struct {
	LodeComparedRow of;
	const char *kind, *unit;
	bool is_slower;
	const char *file, *title;
	double likeness, promised_low, promised_high, achieved;
	Side sides[2];
} Row;

static const LodeColumn columns[] = {
	{"file", LODE_CELL_TEXT(Row, file), .only = LODE_IN_CSV},
	{"kind", LODE_CELL_TEXT(Row, kind)},
	{"text", LODE_CELL_BORROWED_NAME(Row, of.text)},
	{"was", LODE_CELL_BORROWED_NAME(Row, of.old_text), .is_nullable = true},
	{"match", LODE_CELL_NUMBER(Row, of.match), .words = match_words},
	{"likeness", LODE_CELL_SHARE(Row, likeness), .is_nullable = true},
	ESTIMATE("change", Row, of.change),
	ESTIMATE("more_often", Row, of.more_often),
	ESTIMATE("costs_more", Row, of.costs_more),
	{"is_told", LODE_CELL_FLAG(Row, of.is_told)},
	{"is_repeated", LODE_CELL_FLAG(Row, of.is_repeated)},
	{"is_slower", LODE_CELL_FLAG(Row, is_slower)},
	{"base", LODE_GROUP("base:")},
	{LODE_CELL_PART(Row, sides[0], lode_compared_side_columns)},
	LODE_GROUP_END,
	{"new", LODE_GROUP("new:")},
	{LODE_CELL_PART(Row, sides[1], lode_compared_side_columns)},
	LODE_GROUP_END,
	{"is_unused", LODE_CELL_FLAG(Row, of.is_unused)},
	{"unit", LODE_CELL_TEXT(Row, unit), .only = LODE_IN_CSV},
	{"title", LODE_CELL_TEXT(Row, title), .only = LODE_IN_CSV},
	{"promised_low", LODE_CELL_SHARE(Row, promised_low), .only = LODE_IN_CSV},
	{"promised_high", LODE_CELL_SHARE(Row, promised_high), .only = LODE_IN_CSV},
	{"achieved", LODE_CELL_SHARE(Row, achieved), .only = LODE_IN_CSV},
};
const LodeColumns lode_compared_row_columns = LODE_COLUMNS("rows", columns, Row);

static void clear_row(void *row)
{
	for (int side = 0; side < 2; side++)
		g_free(((Row *)row)->sides[side].address);
}

static GArray *rows_new(void)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));

	g_array_set_clear_func(rows, clear_row);
	return rows;
}

static LodeListing listing_of(const GArray *rows)
{
	return (LodeListing){
		.columns = &lode_compared_row_columns, .n_rows = rows->len, .rows = rows->data};
}

static Side side_of(const View *self, const LodeComparedSide *one, int side)
{
	const LodeProfile *profile = self->profiles[side];
	Side row = {*one, self->own[side], .function_number = (double)NAN, .line = (double)NAN};
	uint64_t address = 0;

	if (one->function != LODE_NONE) {
		const LodeFunction *function = lode_profile_function(profile, one->function);
		row.function = function->name;
		row.function_number = one->function;
		row.image = lode_profile_image(profile, function->image)->path;
		address = function->address;
	}
	if (one->instruction != LODE_NONE) {
		uint32_t own = lode_own_lines_find(self->own[side], one->instruction);
		const LodeLocation *location = own != LODE_NONE ? &LODE_AT(profile->code.locations,
									  LodeLocation, own)
		                                                : NULL;
		row.file = location != NULL ? location->file : NULL;
		row.line = location != NULL ? location->line : (double)NAN;
		address = lode_profile_instruction(profile, one->instruction)->address;
	}
	if (one->function != LODE_NONE)
		row.address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);
	return row;
}

/* Adds the row of a diagnosis; with `diagnosis` NULL, that of a function, line or finding. */
static void add_row(const View *self, Row row, const LodeComparedDiagnosis *diagnosis, GArray *rows)
{
	const LodeDiagnosis *base = diagnosis != NULL ? diagnosis->sides[0] : NULL;

	row.file = self->paths[1];
	row.likeness = row.of.likeness > 0 ? row.of.likeness : (double)NAN;
	row.promised_low = base != NULL ? base->low : (double)NAN;
	row.promised_high = base != NULL ? base->high : (double)NAN;
	row.achieved = diagnosis != NULL ? diagnosis->achieved : (double)NAN;
	for (int side = 0; side < 2; side++) {
		row.sides[side] = side_of(self, &row.of.sides[side], side);
		/* That of a service is the caller's, which stacks may name. */
		if (diagnosis != NULL && diagnosis->sides[side] != NULL)
			row.sides[side].function = diagnosis->sides[side]->site.function;
	}
	g_array_append_val(rows, row);
}

/* Rows of a kind, up to the limit. */
static void add_rows(const View *self, const LodeComparedRows *compared, GArray *rows)
{
	guint n = compared->rows != NULL ? compared->rows->len : 0;

	for (guint i = 0; i < (self->options->limit != 0 ? MIN(self->options->limit, n) : n); i++) {
		const LodeComparedRow *of = lode_compared_row(compared, i);
		const Row row = {*of, kind_singles[of->kind], unit_of(self), is_slower(self, of)};
		add_row(self, row, NULL, rows);
	}
}

static void put_json_profile(const View *self, LodeJsonStream *json, int side)
{
	const LodeComparedProfile *one = &self->comparison->profiles[side];
	const LodeProfile *profile = self->profiles[side];
	bool has_times = profile->run.user_seconds + profile->run.system_seconds > 0;

	lode_json_begin(json, '{');
	lode_json_member_string(json, "file", self->paths[side]);
	lode_json_member_string(json, "program", self->profiles[side]->run.program);
	lode_json_member_string(
		json, "frequency", lode_frequency_to_text(self->profiles[side]->run.frequency));
	lode_json_member_number(json, "total", one->total);
	lode_json_member_number(json, "total_error", one->total_error);
	lode_json_member_number(json, "work", one->work);
	lode_json_member_number(json, "user_seconds", has_times ? profile->run.user_seconds : NAN);
	lode_json_member_number(
		json, "system_seconds", has_times ? profile->run.system_seconds : NAN);
	lode_json_member_number(json, "wall_seconds", lode_comparison_wall_seconds(profile));
	lode_json_member_number(json, "samples", one->samples);
	lode_json_member_number(json, "explained",
		self->comparison->kinds[LODE_COMPARED_PATTERN].rows != NULL ? one->explained : NAN);
	lode_json_member_number(
		json, "base_each", self->comparison->is_counted ? one->base_each : NAN);
	lode_json_end(json, '}');
}

typedef struct {
	LodeComparedTotal of;
	const char *name, *unit;
} TotalRow;

static const LodeColumn total_columns[] = {
	{"name", LODE_CELL_TEXT(TotalRow, name)},
	{"unit", LODE_CELL_TEXT(TotalRow, unit)},
	{"base", LODE_CELL_NUMBER(TotalRow, of.sides[0].value), .is_nullable = true},
	{"new", LODE_CELL_NUMBER(TotalRow, of.sides[1].value), .is_nullable = true},
	ESTIMATE("change", TotalRow, of.change),
	{"is_told", LODE_CELL_FLAG(TotalRow, of.is_told)},
};
const LodeColumns lode_compared_total_columns = LODE_COLUMNS("totals", total_columns, TotalRow);

static void put_json_totals(const View *self, LodeJsonStream *json)
{
	lode_json_member_begin(json, "totals", '[');
	for (int i = 0; i < LODE_N_TOTALS; i++) {
		const TotalRow row = {self->comparison->totals[i], totals[i].name, totals[i].unit};
		lode_json_begin(json, '{');
		lode_columns_put_json(&lode_compared_total_columns, &row, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_json(const View *self, LodeJsonStream *json)
{
	static const char *const words[] = {"none", "executions", "function"};
	const LodeComparison *comparison = self->comparison;

	lode_json_line_begin(json, '{');
	lode_json_key(json, "base");
	put_json_profile(self, json, 0);
	lode_json_key(json, "new");
	put_json_profile(self, json, 1);
	lode_json_member_string(json, "weight", comparison->weight);
	lode_json_member_string(json, "unit", unit_of(self));
	lode_json_member_bool(json, "is_counted", comparison->is_counted);
	lode_json_member_string(json, "normalised_by", words[comparison->normalisation]);
	lode_json_member_string(json, "work_function", comparison->work_function);
	lode_json_member_number(json, "change", comparison->change.value);
	lode_json_member_number(json, "change_error", comparison->change.error);
	lode_json_member_number(json, "speed",
		comparison->speed.is_measured ? comparison->speed.factor : (double)NAN);
	lode_json_member_number(json, "speed_error", comparison->speed.error);
	lode_json_member_bool(json, "speed_is_different", comparison->speed.is_different);
	put_json_totals(self, json);
	lode_json_member_begin(json, "same_code", '{');
	lode_json_member_number(json, "functions", comparison->same_code.n_functions);
	lode_json_member_number(json, "changed", comparison->same_code.n_changed);
	lode_json_member_number(json, "factor",
		comparison->same_code.n_functions > 0 ? comparison->same_code.factor : (double)NAN);
	lode_json_member_bool(json, "is_told", comparison->same_code.is_told);
	lode_json_member_bool(json, "is_most", comparison->same_code.is_most);
	lode_json_end(json, '}');
	g_autoptr(GString) differences = g_string_new(NULL);
	lode_comparison_append_differences(self->profiles, comparison, differences);
	lode_json_member_string(json, "differences", g_strchomp(differences->str));
	lode_json_key(json, "left_out");
	lode_json_strings(json, comparison->left_out);
	if (self->diagnoses != NULL)
		lode_comparison_diagnoses_json(
			self->diagnoses, comparison, self->profiles, self->options, json);
	if (self->diagnoses != NULL)
		lode_wait_comparison_json(self->profiles, self->options->own, json);
	for (int kind = 0; kind < LODE_N_COMPARED; kind++) {
		const LodeComparedRows *compared = &comparison->kinds[kind];
		g_autoptr(GArray) rows = rows_new();
		if (compared->rows == NULL)
			continue;
		add_rows(self, compared, rows);
		const LodeListing listing = listing_of(rows);
		lode_json_line(json);
		lode_json_member_begin(json, kind_words[kind], '{');
		lode_json_member_number(json, "compared", compared->rows->len);
		lode_json_member_number(json, "deviations", compared->deviations);
		lode_listing_put_json(&listing, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, '}');
}

/* A row of which only the time in both is known, or not even that. */
static Row plain_row(const char *kind, const char *unit, const char *text,
	const LodeEstimate times[2], bool is_told)
{
	const LodeEstimate unknown = {(double)NAN, (double)NAN};
	const LodeEstimate change = {
		times[1].value - times[0].value, hypot(times[0].error, times[1].error)};
	Row row = {.kind = kind,
		.unit = unit,
		.of = {.text = (char *)text,
			.change = change,
			.more_often = unknown,
			.costs_more = unknown,
			.is_told = is_told}};

	for (int side = 0; side < 2; side++)
		row.of.sides[side] = (LodeComparedSide){.time = times[side],
			.executed = unknown,
			.each = unknown,
			.function = LODE_NONE,
			.instruction = LODE_NONE};
	return row;
}

/* The limits of the comparison, the totals, and the functions with the same code. */
static void add_head(const View *self, const char *differences, GArray *rows)
{
	const LodeEstimate none[2] = {{(double)NAN, (double)NAN}, {(double)NAN, (double)NAN}};
	const LodeSameCode *same = &self->comparison->same_code;

	if (*differences != '\0')
		add_row(self, plain_row("difference", NULL, differences, none, false), NULL, rows);
	for (int i = 0; i < LODE_N_TOTALS; i++) {
		const LodeComparedTotal *one = &self->comparison->totals[i];
		const Row row = plain_row(
			"total", totals[i].unit, totals[i].name, one->sides, one->is_told);
		if (one->sides[0].value > 0 || one->sides[1].value > 0)
			add_row(self, row, NULL, rows);
	}
	if (same->n_functions > 0)
		add_row(self,
			plain_row("total", unit_of(self), "same code", same->times, same->is_told),
			NULL, rows);
}

static void add_diagnosis(const View *self, guint index, GArray *rows)
{
	const LodeComparedDiagnosis *one = lode_compared_diagnosis(self->diagnoses, index);
	const LodeDiagnosis *subject = one->sides[one->sides[1] != NULL];
	double limit = self->options->fail_above;
	Row row = plain_row("diagnosis",
		self->diagnoses->unit != NULL ? self->diagnoses->unit : "s", subject->name,
		one->seconds, one->is_told);

	row.title = subject->title;
	row.is_slower = !isnan(limit) && lode_compared_diagnosis_is_slower(
						 self->diagnoses, index, self->comparison, limit);
	row.of.match = one->match;
	row.of.old_text = one->match == LODE_MATCH_RENAMED ? one->sides[0]->name : NULL;
	for (int side = 0; side < 2; side++) {
		const LodeDiagnosis *diagnosis = one->sides[side];
		if (diagnosis == NULL || diagnosis->site.instruction == LODE_NONE)
			continue;
		row.of.sides[side].instruction = diagnosis->site.instruction;
		row.of.sides[side].function = lode_profile_instruction(
			self->profiles[side], diagnosis->site.instruction)
		                                      ->function;
	}
	add_row(self, row, one, rows);
}

/* With the line of titles before the first profile's rows. */
static void put_csv(const View *self, bool is_first)
{
	g_autoptr(GArray) rows = rows_new();
	g_autoptr(GString) differences = g_string_new(NULL);

	lode_comparison_append_differences(self->profiles, self->comparison, differences);
	add_head(self, g_strchomp(differences->str), rows);
	for (guint i = 0; self->diagnoses != NULL && i < self->diagnoses->rows->len; i++)
		add_diagnosis(self, i, rows);
	for (int kind = 0; kind < LODE_N_COMPARED; kind++)
		add_rows(self, &self->comparison->kinds[kind], rows);
	const LodeListing listing = listing_of(rows);
	if (is_first)
		lode_listing_put_csv_titles(&listing, self->out);
	lode_listing_put_csv_rows(&listing, self->out);
}

bool lode_comparison_write(const LodeProfile *base, const LodeComparedFile *others, size_t n_others,
	const LodeComparisonViewOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(base, options->own);
	LodeJsonStream json;

	if (options->format == LODE_VIEW_JSON) {
		lode_json_stream_init(&json, out);
		lode_json_begin(&json, '{');
		lode_json_member_begin(&json, "comparisons", '[');
	}
	for (size_t i = 0; i < n_others; i++) {
		g_autoptr(LodeOwnLines)
			other_own = lode_own_lines_new(others[i].profile, options->own);
		const View view = {{base, others[i].profile}, {options->base_path, others[i].path},
			{own, other_own}, others[i].comparison, others[i].diagnoses, options, out};
		if (options->format == LODE_VIEW_JSON)
			put_json(&view, &json);
		else if (options->format == LODE_VIEW_CSV)
			put_csv(&view, i == 0);
		else
			write_text(&view);
		if (options->format == LODE_VIEW_TEXT && i + 1 < n_others)
			fputs("\n\n", out);
	}
	if (options->format == LODE_VIEW_JSON) {
		lode_json_end(&json, ']');
		lode_json_end(&json, '}');
	}
	return lode_view_flush(out, error);
}
