/* SPDX-License-Identifier: MIT */
/*
 * Findings for people:
 *
 *   cost                 each  places  functions  id  pattern
 *   38.7 % ± 0.9 %    +9.7 ns     120        120  F1  ⟪load pointer, address from load⟫
 *                                                     walk_17 (list.c:31) 0.4 %, …
 *   cost                 each                     id  hot place
 *   12.1 % ± 0.8 %    +3.0 ns                     F3  main (x.c:12)  ⟪div⟫
 *    8.5 % ± 0.7 %    +1.0 ns                     F4  main (x.c:20) 5.1 % and 2 others  ⟪store⟫
 */
#include "views/findings/report_text.h"

#include "analyses/diagnoses/diagnose.h"
#include "analyses/diagnoses/muting.h"
#include "analyses/diagnoses/rules/cause_rules.h"
#include "base/text/number_format.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "model/waits.h"
#include "views/figures/event_values.h"
#include "views/figures/profile_figures.h"
#include "views/findings/diagnosis_lines.h"
#include "views/findings/finding_figures.h"
#include "views/findings/top_functions.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/shell_word.h"
#include "views/observed/observed_summary.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"
#include "views/profile/program_lines.h"
#include "views/profile/thread_times.h"

#include <math.h>
#include <string.h>

/* Lines of both tables on a first screen: fewer below functions, of which there are five at most.
 */
enum { BODY_LINES = 11, TOP_PLACES = 2 };

/* From this share of the time on, that inside programs of the system is said. */
#define MUCH_FOREIGN 0.05

/* From this on, its places tell its user nothing. */
#define MOSTLY_FOREIGN 0.5

/* Where other findings add so much of its own cost to that of a finding, it is said. */
#define OTHERS_MATTER 0.25

/* The share of the weight in code that did not execute from which on the report warns. */
#define NOT_EXECUTED_MATTERS 0.005

/* Before an explanation: it stands apart from the columns. */
enum { EXPLANATION_INDENT = 4 };

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeFindings *findings;
	const LodeReportOptions *options;
	const char *path; /* of the profile, as a word of a shell */
	FILE *out;
	uint32_t weight_event;
	const char *unit;                   /* of `each`: "ns", "cycles" … */
	const LodeCauseRules *explanations; /* NULL: not requested */
	const LodeOwnLines *own;
	const LodeDiagnoses *diagnoses;
	const LodeCostedFunctions *functions; /* NULL: not for text */
	GHashTable *told; /* explanation written → the finding's number: not written twice */
} View;

/* NULL: not requested, or no explanation is known. */
static const LodeCauseRule *explanation_of(const View *self, const LodeFinding *finding)
{
	if (self->explanations == NULL)
		return NULL;
	return lode_cause_rules_find(self->explanations, self->profile, self->findings, finding);
}

static void put_each(const View *self, const LodeFinding *finding, GString *out)
{
	lode_finding_append_each(out, self->findings, finding, self->unit,
		lode_finding_is_least(self->profile, self->weight_event, self->findings, finding));
}

static void put_place(const View *self, uint32_t instruction, GString *out)
{
	lode_finding_append_place(out, self->profile, self->own, instruction,
		self->options->format == LODE_VIEW_TEXT ? &self->options->terminal : NULL);
}

static const LodeFindingPlace *place_at(const View *self, const LodeFinding *finding, uint32_t i)
{
	return &g_array_index(self->findings->places, LodeFindingPlace, finding->first_place + i);
}

/* --- tables --- */

/* A line of a table: a finding, or the places of the one above. */
typedef struct {
	uint32_t finding;
	bool is_places;
} Line;

typedef struct {
	const View *view;
	const GArray *lines; /* Line */
	bool is_hot;         /* the table of places */
} Body;

static void put_top_places(const View *self, const LodeFinding *finding, GString *out)
{
	for (uint32_t i = 0; i < finding->n_places && i < TOP_PLACES; i++) {
		const LodeFindingPlace *place = place_at(self, finding, i);
		g_string_append_printf(out, "%s", i > 0 ? ", " : "  ");
		put_place(self, place->instruction, out);
		g_string_append_printf(out, " %.1f %%", 100 * place->time);
	}
}

/* "; with F1 +8.46 ns each" where an execution costs more than this finding says. */
static void put_in_all(const View *self, uint32_t index, GString *out)
{
	LodeFinding all = *lode_findings_at(self->findings, index);
	double own = all.each;
	uint32_t other;

	all.each = lode_finding_each_in_all(self->findings, index, &other);
	if (other == LODE_NONE || all.each < (1 + OTHERS_MATTER) * own)
		return;
	g_string_append_printf(out, "; with F%u ", other + 1);
	put_each(self, &all, out);
	g_string_append(out, " each");
}

static void put_text(const Body *self, const LodeFinding *finding, GString *out)
{
	g_autofree char *text = lode_finding_text(self->view->findings, finding);

	if (self->is_hot && finding->n_places > 0) {
		const LodeFindingPlace *first = place_at(self->view, finding, 0);
		put_place(self->view, first->instruction, out);
		if (finding->places > 1)
			g_string_append_printf(out, " %.1f %% and %u other%s", 100 * first->time,
				finding->places - 1, finding->places == 2 ? "" : "s");
		g_string_append(out, "  ");
	}
	g_autofree char *shown = lode_function_name_text(text, &self->view->options->terminal);
	g_string_append(out, shown);
	if (lode_finding_is_miscounted(self->view->findings, finding, self->view->unit))
		g_string_append(out, "; ran more often when it was sampled");
}

typedef struct {
	char *cost, *each, *id, *text;
	double executed, places, functions; /* no number: not said */
	LodeStyle style;                    /* of the text */
} TableRow;

static const LodeColumn table_columns[] = {
	{NULL, LODE_CELL_TEXT(TableRow, cost), .title = "cost", .at = 1, .is_right = true},
	{NULL, LODE_CELL_TEXT(TableRow, each), .title = "each", .at = 2, .is_right = true},
	{NULL, LODE_CELL_SHARE(TableRow, executed), .titled = 1, .at = 3, .dropped = 2},
	{NULL, LODE_CELL_COUNT(TableRow, places), .titled = 2, .at = 4, .dropped = 1},
	{NULL, LODE_CELL_COUNT(TableRow, functions), .titled = 3, .at = 5, .dropped = 3},
	{NULL, LODE_CELL_TEXT(TableRow, id), .title = "id", .at = 6, .is_right = true,
		.style = LODE_STYLE_NAME},
	{NULL, LODE_CELL_TEXT(TableRow, text), .titled = 4, .at = 7,
		.styled = offsetof(TableRow, style)},
};
static const LodeColumns table_set = LODE_COLUMNS("findings", table_columns, TableRow);

static void fill_table_row(size_t number, void *out, const void *user_data)
{
	const Body *self = user_data;
	const Line *line = &g_array_index(self->lines, Line, number);
	const LodeFinding *finding = lode_findings_at(self->view->findings, line->finding);
	GString *text = g_string_new(NULL), *cost = g_string_new(NULL), *each = g_string_new(NULL);
	TableRow *row = out;

	*row = (TableRow){
		.executed = NAN, .places = NAN, .functions = NAN, .style = LODE_STYLE_FAINT};
	if (line->is_places) {
		put_top_places(self->view, finding, text);
		put_in_all(self->view, line->finding, text);
	} else {
		lode_finding_append_time(cost, finding);
		put_each(self->view, finding, each);
		row->executed = finding->executed >= 0 ? finding->executed : (double)NAN;
		row->places = self->is_hot ? (double)NAN : finding->places;
		row->functions = self->is_hot ? (double)NAN : finding->functions;
		row->id = g_strdup_printf("F%u", line->finding + 1);
		put_text(self, finding, text);
		row->style = LODE_STYLE_STRONG;
	}
	row->cost = g_string_free(cost, FALSE);
	row->each = g_string_free(each, FALSE);
	row->text = g_string_free(text, FALSE);
}

/* The texts, or below which finding they are already. */
static void put_texts(const View *self, const LodeCauseRule *known, uint32_t finding,
	const LodeTerminal *terminal, FILE *out)
{
	guint told = GPOINTER_TO_UINT(g_hash_table_lookup(self->told, known->explanation));

	if (told != 0) {
		lode_display_print_indented(terminal, EXPLANATION_INDENT, out, "As F%u.", told);
		return;
	}
	g_hash_table_insert(self->told, (void *)known->explanation, GUINT_TO_POINTER(finding + 1));
	lode_display_print_indented(terminal, EXPLANATION_INDENT, out, "%s", known->explanation);
	lode_display_print_indented(
		terminal, EXPLANATION_INDENT, out, "What people do: %s", known->remedy);
	lode_display_print_indented(
		terminal, EXPLANATION_INDENT, out, "Source: %s.", known->source);
}

static void put_explanation(
	size_t row, const LodeTerminal *terminal, FILE *out, const void *user_data)
{
	const Body *self = user_data;
	const Line *line = &g_array_index(self->lines, Line, row);
	const LodeCauseRule *known = explanation_of(
		self->view, lode_findings_at(self->view->findings, line->finding));

	/* A pattern's places stand right below it. */
	if (known == NULL || (!self->is_hot && !line->is_places))
		return;
	put_texts(self->view, known, line->finding, terminal, out);
	if (row + 1 < self->lines->len)
		fputc('\n', out);
}

static void put_table(const View *self, const GArray *lines, bool is_hot)
{
	const Body body = {self, lines, is_hot};
	const LodeListing listing = {
		.columns = &table_set,
		.n_rows = lines->len,
		.fill = fill_table_row,
		.note = put_explanation,
		.user_data = &body,
		.titles = {self->findings->is_counted ? "executed" : "", is_hot ? "" : "places",
			is_hot ? "" : "functions", is_hot ? "hot place" : "pattern"},
		.wraps = true,
	};

	if (lines->len == 0)
		return;
	fputc('\n', self->out);
	lode_listing_write_text(&listing, &self->options->terminal, self->out);
}

/* Chooses by time what there is room for, and puts it into its table. */
static uint32_t choose_lines(const View *self, uint32_t room, GArray *patterns, GArray *hot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < self->findings->findings->len; i++) {
		bool is_spread = lode_finding_is_spread(lode_findings_at(self->findings, i));
		Line line = {i, false}, places = {i, true};
		if (self->options->finding != 0 && i + 1 != self->options->finding)
			continue;
		uint32_t needed = is_spread ? 2 : 1;
		if (self->options->limit != 0 ? n == self->options->limit : needed > room)
			break;
		room -= MIN(needed, room);
		n++;
		g_array_append_val(is_spread ? patterns : hot, line);
		if (is_spread)
			g_array_append_val(patterns, places);
	}
	return n;
}

/* --- sentences --- */

/* Counted weight has no samples: more cannot help (LodeFindings.samples). */
static void put_nothing(const View *self)
{
	bool is_sampled = self->weight_event < self->profile->code.events->len &&
	                  lode_profile_event(self->profile, self->weight_event)->kind ==
	                          LODE_EVENT_SAMPLED;
	double samples = self->findings->samples;
	double weight = lode_profile_event_total(self->profile, self->weight_event);

	if (!is_sampled && weight > 0 && weight == self->profile->run.total_count)
		lode_display_print(&self->options->terminal, self->out,
			"The weight is the number of executions, so that every instruction costs "
			"the same: nothing is known of caches, branches or time. 'lode run "
			"--exact' without --fast simulates caches and branch prediction, as "
			"callgrind does with --cache-sim=yes --branch-sim=yes; 'lode run --count' "
			"measures time too.");
	else if (!(samples > 0))
		lode_display_print(&self->options->terminal, self->out,
			"The profile has no weight, so that nothing can be said of costs.");
	else if (is_sampled)
		lode_display_print(&self->options->terminal, self->out,
			"No pattern and no place costs more than the rest, as far as %s %s can "
			"tell.",
			LODE_COUNT_TEXT(samples), samples > 1 ? "samples" : "sample");
	else
		lode_display_print(&self->options->terminal, self->out,
			"No pattern and no place costs more than the rest.");
}

/* Nothing is known of what an execution costs where none was counted. */
static void put_not_executed(const View *self)
{
	const LodeProfile *profile = self->profile;
	double weight = 0, all = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len && self->findings->is_counted;
		i++) {
		double here = self->weight_event < profile->code.events->len
		                      ? lode_profile_event_value(profile, self->weight_event, i)
		                      : 0;
		all += here;
		weight += lode_profile_instruction(profile, i)->count > 0 ? 0 : here;
	}
	if (all > 0 && weight / all >= NOT_EXECUTED_MATTERS)
		lode_display_print(&self->options->terminal, self->out,
			"%s of the weight lies where no executions were counted, and is left out.",
			LODE_SHARE_TEXT(weight / all));
}

/* "76.9 % of the time", or of a part of the findings "61.2 % of the time, all 9 findings 76.9 %".
 */
static void append_explained(const View *self, uint32_t n_shown, GString *out)
{
	const LodeFindings *findings = self->findings;
	const char *what = !findings->is_counted || strcmp(self->unit, "ns") == 0
	                           ? "time"
	                           : lode_profile_event_name(self->profile, self->weight_event);
	double shown = 0;

	for (uint32_t i = 0; i < n_shown; i++)
		shown += lode_findings_at(findings, i)->time;
	if (n_shown == findings->findings->len)
		shown = findings->explained;
	g_string_append_printf(out, "%s of the %s", LODE_SHARE_TEXT(shown), what);
	if (n_shown < findings->findings->len)
		g_string_append_printf(out, ", all %u findings %s", findings->findings->len,
			LODE_SHARE_TEXT(findings->explained));
}

static void put_model(const View *self, uint32_t n_shown)
{
	const LodeFindings *findings = self->findings;
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GString) explained = g_string_new(NULL);

	if (findings->findings->len == 0) {
		put_nothing(self);
		return;
	}
	append_explained(self, n_shown, explained);
	if (findings->is_counted) {
		lode_display_print(terminal, self->out,
			"What is below explains %s. Where no finding applies, an instruction costs "
			"%s %s; 'each' is what comes on top.",
			explained->str, LODE_AMOUNT_TEXT(findings->base), self->unit);
		return;
	}
	lode_display_print(terminal, self->out,
		"What is below explains %s; 'each' is in multiples of the average instruction "
		"around it, as executions were not counted%s%s%s.",
		explained->str, findings->single >= 0.05 ? " (" : "",
		findings->single >= 0.05 ? LODE_SHARE_TEXT(findings->single) : "",
		findings->single >= 0.05 ? " is in blocks of one instruction, and taken as average)"
					 : "");
}

/* From this share of the weight on, what was sampled and not counted is more than chance. */
#define MUCH_UNCOUNTED 0.1

/* Their executions are in no share. */
static void put_left_handlers(const View *self)
{
	for (guint i = 0; i < self->profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(self->profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_UNRESOLVED_LEFT_HANDLER) != 0)
			continue;
		lode_display_print(&self->options->terminal, self->out,
			"Counts: %s %s, and the handler did not return (siglongjmp): which "
			"instruction it was is not known, and those after it in its block count as "
			"executed.",
			LODE_COUNT_TEXT(row->samples),
			row->samples == 1 ? "time an instruction faulted"
					  : "times an instruction faulted");
	}
}

/* What a share of the samples is a share of, of all processor time: the samples are of the
 * program's own code. Of a time too short to be accounted the head says nothing of the kernel. */
static double user_share(const View *self)
{
	return self->diagnoses->seconds >= LODE_LEAST_ACCOUNTED ? self->diagnoses->user : 1;
}

/* One line: the whole account is in `lode info`. */
static void put_unresolved(const View *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	double share = 0, uncounted = 0;
	char all[LODE_NUMBER_SIZE];

	for (guint i = 0; i < self->profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(self->profile->unresolved, LodeUnresolved, i);
		double its = lode_profile_unresolved_share(self->profile, row);
		share += its;
		uncounted += strcmp(row->reason, LODE_UNRESOLVED_UNCOUNTED) == 0 ? its : 0;
	}
	if (share < 0.0005)
		return;
	lode_number_format_share(share, all);
	if (uncounted >= MUCH_UNCOUNTED)
		lode_display_print(terminal, self->out,
			"Unresolved: %s of the weight, of which %s was sampled in code that the "
			"counting run did not execute: the program did something else the second "
			"time, as make does when everything is built. Without --count it runs "
			"once.",
			all, LODE_SHARE_TEXT(uncounted));
	else
		lode_display_print(terminal, self->out,
			"Unresolved: %s of the weight; lode info says why.", all);
}

/* From this share on, what stands below is of the smaller part of the program. */
#define MUCH_UNNAMED 0.25

static void put_unnamed(const View *self)
{
	for (guint i = 0; i < self->profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(self->profile->unresolved, LodeUnresolved, i);
		double its = user_share(self) * lode_profile_unresolved_share(self->profile, row);
		if (strcmp(row->reason, LODE_UNRESOLVED_UNNAMED) != 0 || its < MUCH_UNNAMED)
			continue;
		lode_display_print(&self->options->terminal, self->out,
			"%s is in code made at run time, without names. Java and Node.js name it "
			"where lode run starts them; of a Java that runs, 'jcmd PID "
			"Compiler.perfmap' does so before a recording.",
			LODE_SHARE_TEXT(its));
	}
}

/* Before the first command, and before those below it. */
static const char next_begin[] = "Next:  ", further_begin[] = "       ";

/* A command on the profile, and what it shows where there is room for both in the line. */
static void put_command(const View *self, const char *begin, const char *verb, const char *options,
	const char *meaning)
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *command = g_strdup_printf(
		"%slode %s %s %s", begin, verb, self->path, options);
	g_autofree char *line = g_strdup_printf("%s   %s", command, meaning);
	bool has_room = terminal->width == 0 || lode_display_width(line) <= terminal->width;

	lode_display_print(terminal, self->out, "%s", has_room ? line : command);
}

/* Further commands; `is_open`: much of the time is not explained. */
static void put_further(const View *self, bool is_open)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const char *observe = is_open ? lode_observed_hint(self->profile) : NULL;
	g_autofree char *by_clock = lode_latency_hint(self->profile, self->weight_event, terminal);

	if (by_clock != NULL)
		put_command(self, further_begin, "report", "--weight latency", by_clock);
	if (observe != NULL)
		lode_display_print(terminal, self->out, "%s%s", further_begin, observe);
}

static void put_next(const View *self, uint32_t n_shown)
{
	uint32_t n = self->findings->findings->len;
	bool only_findings = self->run->parameters.only_findings;
	const char *begin = next_begin;

	fputc('\n', self->out);
	put_unresolved(self);
	put_left_handlers(self);
	if (n > n_shown) {
		g_autofree char *limit = g_strdup_printf("--limit %u", n);
		g_autofree char *meaning = g_strdup_printf("all %u findings", n);
		put_command(self, begin, "report", limit, meaning);
		begin = further_begin;
	}
	if (n_shown > 0) {
		put_command(
			self, begin, "annotate", "F1", "the places of a finding, with their code");
		begin = further_begin;
	}
	if (n_shown > 0 && self->explanations == NULL)
		put_command(self, begin, "report", "--explain",
			only_findings ? "what they usually mean; --all mines and lists sequences"
				      : "what they usually mean; --all lists the mined sequences");
	else
		put_command(self, begin, "report", "--all",
			only_findings ? "mines and lists sequences" : "the mined sequences");
	put_further(self, self->diagnoses->diagnoses->len == 0);
}

/* --- the first screen --- */

/* From this share of unexplained time on, more windows are proposed. */
static const double MOSTLY_UNCOVERED = 0.5;

/* Likewise of the clock: what waiting has. */
static const double MOSTLY_WAITS = 0.5;

/* Lines of the screen, and what it has of functions above the diagnoses and of findings below. */
enum {
	SCREEN_LINES = 25,
	SCREEN_FUNCTIONS = 3,
	MOST_FUNCTIONS = 5,  /* where there is one diagnosis */
	DIAGNOSIS_LINES = 5, /* of the first at least, and an empty one */
	N_SENTENCES = 4,     /* below the diagnoses */
	SCREEN_FINDINGS = 2,
	SCREEN_SCRIPT_LINES = 3,
	UNDIAGNOSED_FINDINGS = 5
};

/* Whether a diagnosis names a finding. */
static bool is_diagnosed(const View *self, uint32_t finding)
{
	for (guint i = 0; i < self->diagnoses->diagnoses->len; i++) {
		const GArray *its = lode_diagnoses_at(self->diagnoses, i)->findings;
		for (guint k = 0; k < its->len; k++)
			if (g_array_index(its, uint32_t, k) == finding)
				return true;
	}
	return false;
}

/* The share is of all time, as others on the screen are. */
static double screen_time(const View *self, const LodeFinding *finding)
{
	return finding->time * user_share(self);
}

/* "F1  38.5 %  hash_step (table.c:41)  load pointer", and of a pattern, whose share is that of all
 * its places, "F1  38.5 %  load pointer at 707 places of 328 functions". */
static void put_screen_finding(const View *self, uint32_t index)
{
	const LodeFinding *finding = lode_findings_at(self->findings, index);
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GString) line = g_string_new(NULL);
	g_autofree char *text = lode_finding_focus_text(self->findings, finding);
	g_autofree char *shown = lode_function_name_text(text, terminal);

	g_string_append_printf(line, "F%u  %.1f %%  ", index + 1, 100 * screen_time(self, finding));
	if (finding->places == 1 && finding->n_places > 0) {
		put_place(self, place_at(self, finding, 0)->instruction, line);
		g_string_append_printf(line, "  %s", shown);
	} else {
		g_string_append_printf(line, "%s at %s places of %s function%s", shown,
			LODE_COUNT_TEXT(finding->places), LODE_COUNT_TEXT(finding->functions),
			finding->functions == 1 ? "" : "s");
	}
	lode_diagnosis_lines_put(terminal, line->str, self->out);
}

/* As many as `n_most` that no diagnosis names, and that are together not more than `rest` of the
 * time: what has more is in a diagnosis for a part. */
static void put_screen_findings(const View *self, double rest, uint32_t n_most)
{
	uint32_t n = 0;

	/* They are the interpreter's: its script's lines stand above. */
	if (lode_function_costs_have_scripts(self->functions->costs))
		return;
	for (uint32_t i = 0; i < self->findings->findings->len && n < n_most; i++) {
		double time = screen_time(self, lode_findings_at(self->findings, i));
		if (is_diagnosed(self, i) || time > rest)
			continue;
		put_screen_finding(self, i);
		rest -= time;
		n++;
	}
}

static double uncovered_share(const View *self)
{
	return MAX(self->diagnoses->user - self->diagnoses->covered - self->diagnoses->foreign, 0);
}

/* The first that is not muted; 0: there is none. */
static guint first_listed(const LodeDiagnoses *self)
{
	for (guint i = 0; i < self->diagnoses->len; i++)
		if (!lode_diagnoses_at(self, i)->is_muted)
			return i;
	return 0;
}

/* Whether the first diagnosis is of waiting that has most of the time by the clock: what the rest
 * of the processor's time is for is another question. */
static bool is_of_waiting(const LodeDiagnoses *self)
{
	const LodeDiagnosis *first = self->diagnoses->len > 0
	                                     ? lode_diagnoses_at(self, first_listed(self))
	                                     : NULL;

	return first != NULL && first->scope == LODE_SCOPE_WAIT &&
	       first->clock_high >= MOSTLY_WAITS;
}

/* Whether the first diagnosis says how the only program of the system is to be used. */
static bool is_of_use(const LodeDiagnoses *self)
{
	return self->diagnoses->len > 0 &&
	       lode_diagnoses_at(self, first_listed(self))->scope == LODE_SCOPE_PROGRAM &&
	       self->foreigners != NULL && strchr(self->foreigners, ',') == NULL;
}

static void put_foreign(const View *self)
{
	const LodeDiagnoses *diagnoses = self->diagnoses;
	g_autofree char *names = lode_display_text(
		diagnoses->foreigners != NULL ? diagnoses->foreigners : "",
		self->options->terminal.is_ascii);

	if (diagnoses->foreign < MUCH_FOREIGN || is_of_use(diagnoses))
		return;
	lode_display_print(&self->options->terminal, self->out,
		"%.0f %% of the %s is inside programs of the system (%s): what only their authors "
		"could change is left out.",
		100 * diagnoses->foreign, diagnoses->weight, names);
}

static void put_uncovered(const View *self)
{
	const LodeWaits *waits = self->profile->waits;
	double rest = uncovered_share(self);
	double of_clock = self->diagnoses->is_by_clock && waits->clock_ns > 0
	                          ? rest * waits->running_ns / waits->clock_ns
	                          : 1;

	if (rest < 0.02 || of_clock < LODE_LEAST_BY_CLOCK || self->diagnoses->is_too_short ||
		is_of_waiting(self->diagnoses))
		return;
	lode_display_print(&self->options->terminal, self->out,
		"No diagnosis covers %.0f %% of the %s.", 100 * rest, self->diagnoses->weight);
	/* Diagnoses have the room first. */
	put_screen_findings(self, rest,
		self->diagnoses->diagnoses->len > SCREEN_FINDINGS ? 1 : SCREEN_FINDINGS);
}

static void put_smaller(const View *self)
{
	g_autofree char *smaller = lode_diagnosis_lines_smaller(
		self->diagnoses, &self->options->terminal);

	if (smaller != NULL)
		lode_display_print(&self->options->terminal, self->out, "%s: %s; see --explain.",
			self->diagnoses->foreign < MUCH_FOREIGN ? "Smaller" : "Set aside", smaller);
}

static void put_diagnoses_next(const View *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	guint first = first_listed(self->diagnoses);
	g_autofree char *next = g_strdup_printf(
		"%slode report %s --explain D%u; --findings", next_begin, self->path, first + 1);
	bool is_wait = lode_diagnoses_at(self->diagnoses, first)->scope == LODE_SCOPE_WAIT;
	g_autofree char *more = is_wait ? g_strdup_printf("%s; --waits", next)
	                                : g_strdup_printf("%s; lode annotate %s D%u", next,
						  self->path, first + 1);

	put_unresolved(self);
	put_left_handlers(self);
	/* The second command only where there is code to show, and room. */
	bool has_code = lode_diagnoses_at(self->diagnoses, first)->at->len > 0;
	bool has_room = terminal->width == 0 || lode_display_width(more) <= terminal->width;
	lode_display_print(terminal, self->out, "%s", has_code && has_room ? more : next);
	put_further(
		self, uncovered_share(self) >= MOSTLY_UNCOVERED && !is_of_waiting(self->diagnoses));
}

/* A part of the screen, made before it is known how much of the others has room. */
typedef struct {
	View view; /* which writes into it */
	char *text;
	size_t size;
} Part;

static void part_begin(Part *self, const View *view)
{
	*self = (Part){.view = *view};
	self->view.out = open_memstream(&self->text, &self->size);
}

/* The number of its lines. */
static guint part_end(Part *self)
{
	guint n = 0;

	fclose(self->view.out);
	for (const char *at = self->text; (at = strchr(at, '\n')) != NULL; at++)
		n++;
	return n;
}

static void part_clear(Part *self)
{
	free(self->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

/* Into the part: what is above the diagnoses, with at most so many functions. */
/* Below this, each sample is a twentieth of all: their functions say nothing. */
enum { LEAST_OF_TABLE = 20 };

static void put_functions(const View *self, LodeTopFunctions *functions)
{
	const LodeTerminal *terminal = &self->options->terminal;

	if (!self->diagnoses->is_too_short || self->profile->run.n_samples >= LEAST_OF_TABLE) {
		lode_script_lines_write(functions, SCREEN_SCRIPT_LINES, terminal, self->out);
		lode_top_functions_write(functions, terminal, self->out);
		put_unnamed(self);
	}
	fputc('\n', self->out);
}

static void put_screen_head(const View *self, guint n_functions)
{
	g_auto(LodeTopFunctions) functions = {0};
	const LodeTerminal *terminal = &self->options->terminal;

	lode_top_functions_init(&functions, self->functions, self->weight_event, user_share(self));
	lode_top_functions_keep(&functions, n_functions);
	lode_profile_lines_head_of_diagnoses(
		self->profile, self->weight_event, terminal, self->out);
	put_functions(self, &functions);
}

static void put_muted(const View *self)
{
	guint n = 0;

	for (guint i = 0; i < self->diagnoses->diagnoses->len; i++)
		n += lode_diagnoses_at(self->diagnoses, i)->is_muted;
	if (n > 0)
		lode_display_print(&self->options->terminal, self->out, "%u muted by %s.", n,
			self->options->muting != NULL ? self->options->muting : LODE_MUTING_FILE);
}

/* The lines of one; 0: it is muted. */
static guint make_diagnosis(const View *self, guint index, Part *out)
{
	if (lode_diagnoses_at(self->diagnoses, index)->is_muted)
		return 0;
	part_begin(out, self);
	(self->options->is_explained ? lode_diagnosis_lines_explain : lode_diagnosis_lines_write)(
		self->diagnoses, self->profile, index, &self->options->terminal, out->view.out);
	return part_end(out);
}

/* The titles of those that have no room, from `index` on, in so many lines: what costs much is
 * not hidden. Where there are more lines, the first have their places and remedies, too; else the
 * last line tells how many there are besides. */
static void put_titles(const View *self, guint index, guint n, guint room)
{
	const LodeDiagnoses *diagnoses = self->diagnoses;
	guint n_titles = n <= room ? n : MAX(room, 1) - 1;
	/* An empty line ends them. */
	guint spare = room > n + 1 ? room - n - 1 : 0;

	for (guint i = 0; i < n_titles; index++) {
		if (lode_diagnoses_at(diagnoses, index)->is_muted)
			continue;
		spare -= lode_diagnosis_lines_brief(diagnoses, self->profile, index, spare,
			&self->options->terminal, self->out);
		i++;
	}
	if (n > n_titles)
		lode_display_print(&self->options->terminal, self->out,
			"%u more: lode report %s --limit %u", n - n_titles, self->path,
			diagnoses->diagnoses->len);
	else if (n < room)
		fputc('\n', self->out);
}

/* Lines that are kept for the titles of those that have no room. */
enum { TITLE_LINES = 2 };

/* Those that are not muted: whole as many as have room in so many lines. */
static void put_diagnoses(const View *self, guint room)
{
	const LodeReportOptions *options = self->options;
	guint n = self->diagnoses->diagnoses->len, n_left = 0, n_put = 0;

	for (guint i = 0; i < n; i++)
		n_left += !lode_diagnoses_at(self->diagnoses, i)->is_muted;
	for (guint i = 0; n_left > 0; i++) {
		g_auto(Part) part = {0};
		guint lines = make_diagnosis(self, i, &part);
		bool has_room = options->limit != 0 ? n_put < options->limit
		                : options->is_explained
		                        ? true
		                        : n_put == 0 ||
		                                  lines + CLAMP(n_left - 1, 1, TITLE_LINES) <= room;
		if (lines == 0)
			continue;
		if (!has_room) {
			put_titles(self, i, n_left, options->limit != 0 ? 0 : room);
			return;
		}
		fputs(part.text, self->out);
		room -= MIN(lines, room);
		n_put++;
		n_left--;
	}
	fputc('\n', self->out);
}

/* What is below the diagnoses, without the `n_left_out` sentences that say least: the first with 1,
 * the last with all of them. Gives the number of its lines. */
static guint make_tail(const View *self, guint n_left_out, Part *out)
{
	static const struct {
		void (*put)(const View *self);
		guint left_out; /* from this number on */
	} sentences[N_SENTENCES] = {
		{put_muted, 4}, {put_smaller, 1}, {put_foreign, 3}, {put_uncovered, 2}};

	part_begin(out, self);
	for (guint i = 0; i < N_SENTENCES; i++)
		if (n_left_out < sentences[i].left_out)
			sentences[i].put(&out->view);
	put_diagnoses_next(&out->view);
	return part_end(out);
}

static guint make_head(const View *self, guint n_functions, Part *out)
{
	part_begin(out, self);
	put_screen_head(&out->view, n_functions);
	return part_end(out);
}

/* The lines of the first diagnosis, and one after it. */
static guint lines_of_first(const View *self)
{
	g_auto(Part) part = {0};

	if (self->options->is_explained)
		return DIAGNOSIS_LINES;
	return MAX(make_diagnosis(self, first_listed(self->diagnoses), &part) + 1, DIAGNOSIS_LINES);
}

static void write_diagnoses(const View *self)
{
	g_auto(Part) head = {0}, tail = {0};
	guint n_functions = self->diagnoses->diagnoses->len > 1 ? SCREEN_FUNCTIONS : MOST_FUNCTIONS;
	guint n_left_out = 0, first = lines_of_first(self);
	guint below = make_tail(self, 0, &tail), used = make_head(self, n_functions, &head) + below;

	/* Of a long head the functions give room to the first diagnosis, then lines below it. */
	while (used + first > SCREEN_LINES && (n_functions > 1 || n_left_out < N_SENTENCES)) {
		part_clear(&head);
		if (n_functions > 1) {
			n_functions--;
		} else {
			part_clear(&tail);
			below = make_tail(self, ++n_left_out, &tail);
		}
		used = make_head(self, n_functions, &head) + below;
	}
	fputs(head.text, self->out);
	put_diagnoses(self, SCREEN_LINES - MIN(used, SCREEN_LINES));
	fputs(tail.text, self->out);
}

/* Findings of so few samples are not worth a look either. */
static void put_too_short(const View *self)
{
	lode_display_print(&self->options->terminal, self->out,
		"Too short to tell: %.0f of at least %d samples. Let it run longer, or repeat it.",
		self->profile->run.n_samples, LODE_FEWEST_SAMPLES);
	fputc('\n', self->out);
	put_command(self, next_begin, "report", "--findings", "what these samples show");
}

/* Where most of the time is inside programs of the system: their users cannot change their code,
 * so that its places tell them nothing. */
static bool is_foreign(const View *self)
{
	return self->diagnoses->foreign >= MOSTLY_FOREIGN;
}

static void put_undiagnosed_foreign(const View *self)
{
	const LodeDiagnoses *diagnoses = self->diagnoses;
	g_autofree char *names = lode_display_text(
		diagnoses->foreigners, self->options->terminal.is_ascii);

	lode_display_print(&self->options->terminal, self->out,
		"No diagnosis: %.0f %% of the %s is inside programs of the system (%s), whose code "
		"only their authors can change. Users can change options, input and environment.",
		100 * diagnoses->foreign, diagnoses->weight, names);
	put_smaller(self);
	fputc('\n', self->out);
	put_unresolved(self);
	put_command(
		self, next_begin, "report", "--functions", "all functions, with what they call");
	if (diagnoses->smaller->len > 0)
		put_command(self, further_begin, "report", "--explain", "what was set aside");
}

/* A program that hardly runs: its code is no answer. */
static void put_undiagnosed_waits(const View *self)
{
	const LodeWaits *waits = self->profile->waits;

	lode_display_print(&self->options->terminal, self->out,
		"No diagnosis: the program waits for %.0f %% of the time by the clock, and no "
		"cause of that stands out.",
		100 * (1 - waits->path_running_ns / waits->clock_ns));
	put_smaller(self);
	fputc('\n', self->out);
	put_unresolved(self);
	put_command(
		self, next_begin, "report", "--waits", "what each thread waited for, and where");
}

/* The first screen of a sampled program without a diagnosis. */
static void write_undiagnosed(const View *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_auto(LodeTopFunctions) functions = {0};
	bool is_script = lode_function_costs_have_scripts(self->functions->costs);
	bool has_findings = self->findings->findings->len > 0 && !is_script;

	lode_profile_lines_head_of_diagnoses(
		self->profile, self->weight_event, terminal, self->out);
	lode_top_functions_init(&functions, self->functions, self->weight_event, user_share(self));
	put_functions(self, &functions);
	if (self->diagnoses->is_too_short) {
		put_too_short(self);
		return;
	}
	if (is_foreign(self)) {
		put_undiagnosed_foreign(self);
		return;
	}
	if (self->diagnoses->is_by_clock) {
		put_undiagnosed_waits(self);
		return;
	}
	lode_display_print(terminal, self->out,
		"No diagnosis: no cause that lode knows stands out.%s",
		has_findings ? " What costs most:" : "");
	put_smaller(self);
	put_screen_findings(self, 1, UNDIAGNOSED_FINDINGS);
	fputc('\n', self->out);
	put_unresolved(self);
	put_left_handlers(self);
	if (is_script) {
		put_command(
			self, next_begin, "report", "--lines", "each line, with all that it calls");
	} else {
		double cost;
		uint32_t hottest = lode_profile_hottest_function(
			self->profile, self->weight_event, &cost);
		g_autofree char *place =
			hottest == LODE_NONE || has_findings
				? g_strdup("F1")
				: lode_shell_word(
					  lode_profile_function(self->profile, hottest)->name);
		put_command(self, next_begin, "annotate", place,
			"its code, with the time of each line");
	}
	put_command(self, further_begin, "report", "--findings",
		has_findings ? "what an execution of each costs"
			     : "what else can be asked of the profile");
	put_further(self, true);
}

static void write_text(const View *self)
{
	g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(Line));
	g_autoptr(GArray) hot = g_array_new(FALSE, FALSE, sizeof(Line));
	g_auto(LodeTopFunctions) functions = {0};

	if (!self->options->shows_findings && self->profile->run.n_samples > 0) {
		write_undiagnosed(self);
		return;
	}
	lode_top_functions_init(&functions, self->functions, self->weight_event, 1);
	uint32_t n_shown = choose_lines(self, BODY_LINES - functions.rows->len, patterns, hot);

	(functions.rows->len > 0 ? lode_profile_lines_head_of_functions : lode_profile_lines_head)(
		self->profile, self->weight_event, &self->options->terminal, self->out);
	lode_top_functions_write(&functions, &self->options->terminal, self->out);
	if (functions.rows->len > 0)
		fputc('\n', self->out);
	put_model(self, n_shown);
	put_not_executed(self);
	/* The costliest finding is on top, whatever its kind. */
	bool is_hot_first = n_shown > 0 &&
	                    !lode_finding_is_spread(lode_findings_at(self->findings, 0));
	put_table(self, is_hot_first ? hot : patterns, is_hot_first);
	put_table(self, is_hot_first ? patterns : hot, !is_hot_first);
	put_next(self, n_shown);
}

/* --- for programs --- */

enum { IS_EXPLAINED = 1, ON_PAGE = 2 };

/* Those to list, from the first on. */
typedef struct {
	const View *view;
	uint32_t first;
} Listed;

typedef struct {
	LodeFinding of;
	char *id, *pattern, *top_place;
	const char *kind, *explanation, *remedy, *source;
	double each_in_all, each_ns, executed;
	bool is_least, is_miscounted, is_spread;
} Row;

/* Its elements from `first` to before `end`. */
static void put_elements(
	LodeJsonStream *json, const void *row, const void *user_data, uint32_t first, uint32_t end)
{
	LodeFinding part = ((const Row *)row)->of;

	part.first_element += first;
	part.n_elements = end - first;
	lode_finding_json(((const Listed *)user_data)->view->findings, &part, json);
}

static void put_context(LodeJsonStream *json, const void *row, const void *user_data)
{
	put_elements(json, row, user_data, 0, ((const Row *)row)->of.focus);
}

static void put_following(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeFinding *of = &((const Row *)row)->of;

	put_elements(json, row, user_data, of->focus + 1, of->n_elements);
}

static void put_focus(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeFindings *findings = ((const Listed *)user_data)->view->findings;
	const LodeFinding *of = &((const Row *)row)->of;
	const LodeFindingElement *focus = &g_array_index(
		findings->elements, LodeFindingElement, of->first_element + of->focus);

	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < focus->n_items; i++)
		lode_json_string(json,
			g_ptr_array_index(findings->attributes,
				g_array_index(findings->items, uint32_t, focus->first_item + i)));
	lode_json_end(json, ']');
}

static void put_top(LodeJsonStream *json, const void *row, const void *user_data)
{
	const View *self = ((const Listed *)user_data)->view;
	const LodeFinding *of = &((const Row *)row)->of;
	uint32_t n = of->n_places;

	if (self->options->is_page && self->options->places > 0)
		n = MIN(n, self->options->places);
	lode_finding_places_json(
		place_at(self, of, 0), n, self->profile, self->own, self->options->is_page, json);
}

static const LodeColumn columns[] = {
	{"id", LODE_CELL_TEXT(Row, id)},
	{"kind", LODE_CELL_TEXT(Row, kind), .type = "\"pattern\" | \"place\""},
	{"time", LODE_CELL_SHARE(Row, of.time)},
	{"time_error", LODE_CELL_SHARE(Row, of.time_error)},
	{"each", LODE_CELL_NUMBER(Row, of.each)},
	{"each_error", LODE_CELL_NUMBER(Row, of.each_error)},
	{"each_is_least", LODE_CELL_FLAG(Row, is_least), .only = LODE_IN_JSON},
	{"each_in_all", LODE_CELL_NUMBER(Row, each_in_all), .only = LODE_IN_JSON},
	{"each_ns", LODE_CELL_NUMBER(Row, each_ns), .only = LODE_IN_JSON, .is_nullable = true},
	{"ran_more_often_when_sampled", LODE_CELL_FLAG(Row, is_miscounted), .only = LODE_IN_JSON},
	{"executed", LODE_CELL_SHARE(Row, executed), .is_nullable = true},
	{"places", LODE_CELL_NUMBER(Row, of.places)},
	{"functions", LODE_CELL_NUMBER(Row, of.functions)},
	{"spread", LODE_CELL_NUMBER(Row, of.spread)},
	{"is_spread", LODE_CELL_FLAG(Row, is_spread), .only = LODE_IN_JSON, .when = ON_PAGE},
	{"kept", LODE_CELL_NUMBER(Row, of.n_places), .only = LODE_IN_JSON, .when = ON_PAGE},
	{"pattern", LODE_CELL_TEXT(Row, pattern)},
	{"context", LODE_CELL_JSON(put_context), .only = LODE_IN_JSON, .type = "string[][]"},
	{"focus", LODE_CELL_JSON(put_focus), .only = LODE_IN_JSON, .type = "string[]"},
	{"following", LODE_CELL_JSON(put_following), .only = LODE_IN_JSON, .type = "string[][]"},
	{"top", LODE_CELL_JSON(put_top), .only = LODE_IN_JSON, .type = "Place[]"},
	{"top_place", LODE_CELL_TEXT(Row, top_place), .only = LODE_IN_CSV},
	{"explanation", LODE_CELL_TEXT(Row, explanation), .when = IS_EXPLAINED,
		.is_nullable = true},
	{"remedy", LODE_CELL_TEXT(Row, remedy), .when = IS_EXPLAINED, .is_nullable = true},
	{"source", LODE_CELL_TEXT(Row, source), .when = IS_EXPLAINED, .is_nullable = true},
};
const LodeColumns lode_finding_columns = LODE_COLUMNS("findings", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const Listed *listed = user_data;
	const View *self = listed->view;
	uint32_t index = listed->first + (uint32_t)number, other;
	const LodeFinding *of = lode_findings_at(self->findings, index);
	const LodeCauseRule *known = explanation_of(self, of);
	g_autoptr(GString) place = g_string_new(NULL);
	bool is_ns = self->findings->is_counted && strcmp(self->unit, "ns") == 0;

	if (of->n_places > 0)
		put_place(self, place_at(self, of, 0)->instruction, place);
	*(Row *)out = (Row){*of, g_strdup_printf("F%u", index + 1),
		lode_finding_text(self->findings, of), g_strdup(place->str),
		lode_finding_kind_to_text(of->kind), known != NULL ? known->explanation : NULL,
		known != NULL ? known->remedy : NULL, known != NULL ? known->source : NULL,
		lode_finding_each_in_all(self->findings, index, &other),
		is_ns ? of->each : (double)NAN, of->executed >= 0 ? of->executed : (double)NAN,
		lode_finding_is_least(self->profile, self->weight_event, self->findings, of),
		lode_finding_is_miscounted(self->findings, of, self->unit),
		lode_finding_is_spread(of)};
}

/* None beside a diagnosis; the one that was asked for; or the first of all. */
static LodeListing listing_of(Listed *self)
{
	const LodeReportOptions *options = self->view->options;
	uint32_t n = self->view->findings->findings->len;

	if (options->finding != 0) {
		self->first = MIN(options->finding - 1, n);
		n = MIN(n - self->first, 1);
	} else if (options->limit != 0) {
		n = MIN(n, options->limit);
	}
	return (LodeListing){.columns = &lode_finding_columns,
		.n_rows = options->diagnosis != 0 ? 0 : n,
		.fill = fill_row,
		.user_data = self,
		.what = (self->view->explanations != NULL ? IS_EXPLAINED : 0) |
	                (options->is_page ? ON_PAGE : 0)};
}

/* What the first screen has besides diagnoses. */
static void put_json_screen(const View *self, LodeJsonStream *json)
{
	g_auto(LodeTopFunctions) functions = {0};
	g_autofree char *programs = lode_profile_programs(self->profile);

	lode_json_member_string(json, "programs", programs);
	lode_top_functions_init(&functions, self->functions, self->weight_event, user_share(self));
	if (self->diagnoses->diagnoses->len > 1)
		lode_top_functions_keep(&functions, SCREEN_FUNCTIONS);
	lode_script_lines_json(&functions, SCREEN_SCRIPT_LINES, json);
	lode_top_functions_json(&functions, json);
}

static void write_json(const View *self, const LodeListing *listing)
{
	const LodeFindings *findings = self->findings;
	bool is_ns = findings->is_counted && strcmp(self->unit, "ns") == 0;
	LodeJsonStream json;

	lode_profile_json_begin(&json, self->out, self->profile, self->run);
	lode_json_member_string(&json, "each_unit",
		findings->is_counted ? self->unit : "average instructions of the blocks");
	lode_json_member_number(&json, "base_each", findings->is_counted ? findings->base : NAN);
	lode_json_member_number(&json, "base_each_ns", is_ns ? findings->base : NAN);
	lode_json_member_number(&json, "explained", findings->explained);
	lode_json_member_number(&json, "in_single_blocks", findings->single);
	lode_json_member_number(&json, "samples", findings->samples);
	lode_diagnosis_lines_json(self->diagnoses,
		self->options->finding != 0 ? LODE_NONE : self->options->diagnosis, self->own,
		self->options->is_page ? self->profile : NULL, &json);
	lode_json_member_bool(&json, "too_short", self->diagnoses->is_too_short);
	lode_json_member_number(&json, "foreign", self->diagnoses->foreign);
	lode_json_member_string(&json, "foreigners", self->diagnoses->foreigners);
	if (self->options->finding == 0)
		put_json_screen(self, &json);
	if (self->options->is_page)
		lode_json_member_number(&json, "not_diagnosed", uncovered_share(self));
	lode_listing_put_json(listing, &json);
	lode_json_end(&json, '}');
}

void lode_finding_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, FILE *out)
{
	uint32_t event = lode_profile_weight_of(profile, run);
	g_autoptr(LodeCauseRules) explanations = options->is_explained ? lode_cause_rules_new()
	                                                               : NULL;
	g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, options->own);
	g_autofree char *path = lode_shell_profile(
		options->profile_path, options->origins, profile->part_options);
	g_autoptr(LodeDiagnoses) made = NULL;
	const LodeDiagnoses *diagnoses = options->diagnoses;
	if (diagnoses == NULL)
		diagnoses = made = lode_diagnose(profile, run->findings, event, options->own);
	g_autoptr(LodeCostedFunctions) costed = NULL;
	const LodeCostedFunctions *functions = diagnoses->functions;
	if (functions == NULL && options->format != LODE_VIEW_CSV)
		functions = costed = lode_costed_functions_new(profile, event, options->own);
	const View view = {profile, run, run->findings, options, path, out, event,
		lode_event_value_unit(profile, event), explanations, own, diagnoses, functions,
		told};
	Listed listed = {&view, 0};
	const LodeListing listing = listing_of(&listed);

	if (options->format == LODE_VIEW_JSON)
		write_json(&view, &listing);
	else if (options->format == LODE_VIEW_CSV && options->shows_findings)
		lode_listing_write_csv(&listing, out);
	else if (options->format == LODE_VIEW_CSV)
		lode_diagnosis_lines_csv(diagnoses, options->diagnosis, options->limit, out);
	else if (options->diagnosis != 0)
		lode_diagnosis_lines_explain(
			diagnoses, profile, options->diagnosis - 1, &options->terminal, out);
	else if (diagnoses->diagnoses->len > 0 && !options->shows_findings)
		write_diagnoses(&view);
	else
		write_text(&view);
}
