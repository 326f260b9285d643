/* SPDX-License-Identifier: MIT */
/* The highest costs: the findings of a mining run, the list of its sequences, or functions. */
#include "questions/report.h"

#include "analyses/diagnoses/diagnose.h"
#include "analyses/diagnoses/muting.h"
#include "analyses/mine/closed.h"
#include "base/error.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/program_question.h"
#include "questions/parts/rows.h"
#include "questions/parts/wait_question.h"
#include "questions/questions.h"
#include "views/calls/function_calls.h"
#include "views/code/function_list.h"
#include "views/figures/profile_figures.h"
#include "views/findings/report.h"

#include <fnmatch.h>
#include <string.h>

typedef LodeReportQuestion Options;

/* The names of options that concern findings and sequences only; --own also concerns waits. */
#define OF_FINDINGS                                                                                \
	"explain findings all with without size min-weight max-weight min-frequency "              \
	"max-frequency "                                                                           \
	"min-maximal max-maximal min-differential max-differential min-functions baseline "        \
	"percent-limit run sequences places fail-on mute diagnosis finding"
#define OF_SEQUENCES OF_FINDINGS " own"

static const LodeParameter rows[] = {
	{"functions", LODE_FLAG(Options, lists_functions), .excludes = OF_SEQUENCES,
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "list functions, with what they cost alone and with all that they call, "
			   "and families of functions"},
	{"callers", LODE_TEXT(Options, callers), .value = "NAME",
		.excludes = "functions callees image sort reverse text offset " OF_SEQUENCES,
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "list the functions that call this one, with what came through them"},
	{"callees", LODE_TEXT(Options, callees), .value = "NAME",
		.excludes = "functions image sort reverse text offset " OF_SEQUENCES,
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "list the functions that this one calls"},
	{"lines", LODE_FLAG(Options, lists_lines),
		.excludes =
			"functions callers callees image sort reverse text offset " OF_SEQUENCES,
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "list lines of the sources, with what they cost alone and with all that "
			   "they call"},
	{"explain", LODE_FLAG(Options, report.is_explained),
		.summary = "say of each diagnosis all evidence, what was ruled out, what people do "
			   "about it, and where that is written; with --findings, of each finding "
			   "what the pattern usually means"},
	{"findings", LODE_FLAG(Options, report.shows_findings),
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "list findings in place of diagnoses, in text and CSV: the patterns "
			   "that explain the cost, and what an execution of each costs"},
	{"fail-on", LODE_TEXTS(Options, fail_on), .value = "CAUSE,…",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "exit with status 3, and name them, when there are diagnoses of these "
			   "causes, words of the catalogue or globs such as 'service-*'; may be "
			   "repeated"},
	{"mute", LODE_FILE(Options, report.muting), .value = "FILE",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "leave out diagnoses that are known and accepted: those whose names, "
			   "CAUSE@SCOPE, are in this file, one a line, or match a glob there "
			   "(default: " LODE_MUTING_FILE " in the current folder)"},
	{"sort", LODE_TEXT(Options, report.sort), .value = "KEY",
		.summary = "sort by excess (the default), weight, frequency, maximal, "
			   "differential, places, functions, executions, event:NAME or sequence; "
			   "runs of instruction sequences also by count; functions by weight, "
			   "inclusive, executions, calls, name or image"},
	{"reverse", LODE_FLAG(Options, report.is_reversed), .summary = "reverse the order"},
	{"all", LODE_FLAG(Options, report.show_all),
		.summary = "show every mined sequence, not only the closed ones"},
	{"limit", LODE_COUNT(Options, report.limit), .least = 1, .value = "N",
		.summary = "show at most N findings, sequences, functions or lines"},
	{"with", LODE_TEXTS(Options, report.filter.with), .value = "GLOB",
		.summary = "only sequences with an attribute that matches; may be repeated: all "
			   "must match"},
	{"without", LODE_TEXTS(Options, report.filter.without), .value = "GLOB",
		.summary = "only sequences without any attribute that matches; may be repeated"},
	{"text", LODE_TEXT(Options, report.filter.text), .value = "WORDS",
		.summary = "only sequences that have each of these words in the name of an "
			   "attribute; only functions that have the text in their names"},
	{"image", LODE_TEXT(Options, image), .value = "TEXT", .needs = "functions",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "only functions of images that have this in their paths"},
	{"size", LODE_RANGE(Options, report.filter.size), .value = "N-M",
		.summary = "only sequences of this many attributes"},
	{"min-weight", LODE_SHARE(Options, report.filter.weight.min), .value = "SHARE",
		.summary = "minimum weight support, such as 2% or 0.02"},
	{"max-weight", LODE_SHARE(Options, report.filter.weight.max), .value = "SHARE",
		.summary = "maximum weight support"},
	{"min-frequency", LODE_SHARE(Options, report.filter.frequency.min), .value = "SHARE",
		.summary = "minimum frequency support"},
	{"max-frequency", LODE_SHARE(Options, report.filter.frequency.max), .value = "SHARE",
		.summary = "maximum frequency support"},
	{"min-maximal", LODE_SHARE(Options, report.filter.maximal.min), .value = "SHARE",
		.summary = "minimum of the maximal support"},
	{"max-maximal", LODE_SHARE(Options, report.filter.maximal.max), .value = "SHARE",
		.summary = "maximum of the maximal support"},
	{"min-differential", LODE_SHARE(Options, report.filter.differential.min), .value = "SHARE",
		.summary = "minimum differential support"},
	{"max-differential", LODE_SHARE(Options, report.filter.differential.max), .value = "SHARE",
		.summary = "maximum differential support"},
	{"min-functions", LODE_COUNT(Options, report.filter.min_functions), .value = "N",
		.summary = "only sequences that at least N functions have"},
	{"baseline", LODE_COUNT(Options, report.baseline), .value = "ID",
		.summary = "show by how many points supports differ from those of sequence ID"},
	{"percent-limit", LODE_NUMBER(Options, report.filter.percent_limit), .value = "PERCENT",
		.summary = "leave out lines whose sort key is below this percentage"},
	{"origin", LODE_TEXTS(Options, report.origins), .value = "NAME|N",
		.excludes = LODE_PART_NAMES, .summary = LODE_ORIGIN_SUMMARY},
	{"programs", LODE_FLAG(Options, lists_programs), .audience = LODE_PARAMETER_FOR_TERMINAL,
		.excludes = "functions lines callers callees image sort reverse text offset "
			    "origin weight full-names " OF_SEQUENCES,
		.summary = "list the programs that were sampled, by what they cost"},
	{"by", LODE_WORD(Options, programs.by), .value = "command|pid|thread", .needs = "programs",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "with --programs: " LODE_PROGRAMS_BY_SUMMARY},
	{"waits", LODE_FLAG(Options, lists_waits), .audience = LODE_PARAMETER_FOR_TERMINAL,
		.excludes =
			"functions lines callers callees image programs sort reverse text offset "
			"weight " OF_FINDINGS,
		.summary = "list what threads waited for, where, how long, and what those did "
			   "meanwhile who had it"},
	LODE_EVENT_ROW(Options, weight),
	{"html", LODE_OUTPUT(Options, html, OTHER), .value = "FILE", .excludes = "*",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "write the page of lode serve as one file that opens without it: "
			   "findings, the first sequences and functions, code, data addresses"},
	{"source", LODE_FILES(Options, source), .value = "DIR", .needs = "html",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "with --html: " LODE_SOURCE_SUMMARY},
	LODE_OWN_ROW(Options, report.own),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	LODE_FORMAT_ROW(Options, report.format),
	{NULL},
};

static const LodeParameter others[] = {
	{"run", LODE_TEXT(Options, run), .value = "NAME", .audience = LODE_PARAMETER_FOR_WORDS,
		.summary = "the mining run (default: the last one)"},
	{"diagnosis", LODE_COUNT(Options, report.diagnosis), .least = 1, .value = "N",
		.audience = LODE_PARAMETER_FOR_WORDS, .excludes = "finding findings limit",
		.summary = "this diagnosis alone, in full: 2 is D2"},
	{"finding", LODE_COUNT(Options, report.finding), .least = 1, .value = "N",
		.audience = LODE_PARAMETER_FOR_WORDS, .excludes = "limit",
		.summary = "this finding alone, explained: 3 is F3"},
	{"sequences", LODE_FLAG(Options, lists_sequences), .audience = LODE_PARAMETER_FOR_PAGE,
		.summary = "list the sequences of a run that has findings"},
	{"offset", LODE_COUNT(Options, report.offset), .value = "N",
		.audience = LODE_PARAMETER_FOR_PAGE, .summary = "leave out the first N sequences"},
	{"places", LODE_COUNT(Options, report.places), .value = "N",
		.audience = LODE_PARAMETER_FOR_PAGE, .summary = "at most N places of each finding"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{"Page", others, 0},
	{NULL},
};

static void init(void *options)
{
	lode_report_options_init(&((Options *)options)->report);
}

static bool wants_sequences(const LodeMiningRun *run, const void *options)
{
	const Options *self = options;

	return !self->report.is_explained &&
	       (self->lists_sequences || lode_report_lists_sequences(run, &self->report));
}

/* "D2", "F3". */
static bool is_number(const char *word)
{
	return strchr("DdFf", word[0]) != NULL &&
	       g_ascii_string_to_unsigned(word + 1, 10, 1, UINT32_MAX, NULL, NULL);
}

static bool take_words(char **words, LodeParameterPairs *pairs, GError **error)
{
	bool has_run = words[0] != NULL && !is_number(words[0]);
	char **rest = words + has_run;

	if (rest[0] != NULL && (!is_number(rest[0]) || rest[1] != NULL))
		return lode_parameter_refuse(error,
			"report takes a profile, perhaps the name of a run, and perhaps the number "
			"of a diagnosis (D2) or a finding (F3)");
	if (has_run && lode_file_kind(words[0]) > LODE_FILE_KIND_OTHER)
		return lode_parameter_refuse(error,
			"report takes one profile, not also '%s': 'lode diff' compares profiles, "
			"and 'lode merge' adds them up",
			words[0]);
	if (has_run)
		lode_parameter_pairs_add(pairs, "run", words[0]);
	if (rest[0] != NULL)
		lode_parameter_pairs_add(pairs,
			g_ascii_toupper(rest[0][0]) == 'D' ? "diagnosis" : "finding", rest[0] + 1);
	return true;
}

/* The page requests a list in parts, so the whole list is cached. */
static GArray *find_list(
	LodeAsking *asking, const LodeMiningRun *run, LodeReportOptions *report, GError **error)
{
	static const char *const of_part[] = {"offset", "limit", "format", "baseline", NULL};
	g_autofree char *key = lode_asking_key(asking, "report", of_part, true);
	g_autofree char *closed_key = lode_asking_key(asking, "closed", lode_run_parameters, false);
	GArray *list = asking->asker->find(asking, &lode_kept_list, key);

	if (list != NULL)
		return list;
	g_autoptr(GArray) closed = NULL;
	if (!report->show_all && !run->parameters.is_instruction_mode) {
		closed = asking->asker->find(asking, &lode_kept_list, closed_key);
		if (closed == NULL) {
			closed = g_array_new(FALSE, TRUE, sizeof(bool));
			g_array_set_size(closed, run->sequences->len + 1);
			if (!lode_closed_mark(
				    run, (bool *)(void *)closed->data, asking->progress, error))
				return NULL;
			asking->asker->keep(asking, &lode_kept_list, closed_key, closed);
		}
		report->is_closed = (const bool *)(void *)closed->data;
	}
	list = lode_report_choose(run, report, asking->progress, error);
	if (list != NULL)
		asking->asker->keep(asking, &lode_kept_list, key, list);
	report->is_closed = NULL;
	return list;
}

/* --- diagnoses --- */

/* The globs of --fail-on. NULL: one of them matches no cause. */
static char **read_causes(const char *const *given, GError **error)
{
	g_auto(GStrv) causes = lode_diagnose_causes();
	g_autofree char *joined = lode_parameter_join(given);
	g_auto(GStrv) globs = g_strsplit(joined != NULL ? joined : "", ",", -1);

	for (size_t i = 0; globs[i] != NULL; i++) {
		bool is_known = false;
		for (size_t k = 0; causes[k] != NULL; k++)
			is_known |= fnmatch(globs[i], causes[k], 0) == 0;
		if (is_known)
			continue;
		g_autofree char *all = g_strjoinv(" ", causes);
		lode_parameter_refuse(
			error, "--fail-on: no cause is '%s'; causes are: %s", globs[i], all);
		return NULL;
	}
	return g_steal_pointer(&globs);
}

static bool has_cause(const LodeDiagnosis *self, char **globs)
{
	for (; *globs != NULL; globs++)
		if (fnmatch(*globs, self->cause, 0) == 0)
			return true;
	return false;
}

/* --fail-on: one line for each diagnosis that fails. */
static void check_causes(LodeAsking *asking, const LodeDiagnoses *diagnoses, char **globs)
{
	if (diagnoses->is_too_short)
		lode_asking_note(asking, "--fail-on: fewer than %d samples: too short to tell",
			LODE_FEWEST_SAMPLES);
	for (guint i = 0; i < diagnoses->diagnoses->len; i++) {
		const LodeDiagnosis *one = lode_diagnoses_at(diagnoses, i);
		if (one->is_muted || one->is_smaller || !has_cause(one, globs))
			continue;
		bool is_wait = one->scope == LODE_SCOPE_WAIT;
		lode_asking_note(asking, "--fail-on: D%u %s, %.1f %% of the %s", i + 1, one->name,
			100 * (is_wait ? one->clock_high : one->time),
			is_wait ? "time by the clock" : diagnoses->weight);
		asking->status = LODE_EXIT_CHECKED;
	}
}

/* The caller frees them. NULL: the file of muted ones cannot be read, or the one asked for is not
 * there. */
static LodeDiagnoses *diagnose(
	const LodeAsking *asking, const Options *self, const LodeMined *mined, GError **error)
{
	const LodeReportOptions *report = &self->report;

	lode_progress_report(asking->progress, "finding diagnoses", 0, 0, NULL);
	g_autoptr(LodeDiagnoses) diagnoses = lode_diagnose(mined->profile, mined->run->findings,
		lode_profile_weight_of(mined->profile, mined->run), report->own);
	bool is_list = report->is_explained || report->limit > 0;

	if (!asking->is_page) {
		g_auto(GStrv) globs = lode_muting_read(report->muting, error);
		if (globs == NULL)
			return NULL;
		lode_muting_apply((const char *const *)globs, diagnoses);
	}
	/* The smaller ones have the numbers after the others, and are listed where more is wanted.
	 */
	if (report->diagnosis > diagnoses->diagnoses->len ||
		(is_list && report->format != LODE_VIEW_JSON))
		lode_diagnoses_join(diagnoses);
	guint n = diagnoses->diagnoses->len;
	if (report->diagnosis > n) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"D%u: the profile has %u diagnos%s%s", report->diagnosis, n,
			n == 1 ? "is" : "es",
			diagnoses->is_too_short ? ", as it has too few samples" : "");
		return NULL;
	}
	return g_steal_pointer(&diagnoses);
}

static bool write_report(LodeAsking *asking, const LodeMined *mined, Options *self, GError **error)
{
	LodeReportOptions *report = &self->report;
	FILE *out = lode_asking_begin(asking, NULL, error);

	if (out == NULL)
		return false;
	report->terminal = asking->terminal;
	report->terminal.has_full_names = self->has_full_names;
	return lode_report_write(
		       mined->profile, mined->run, report, asking->progress, out, error) &&
	       lode_asking_end(asking, error);
}

static bool write_functions(const Options *self, const LodeProfile *profile,
	const LodeTerminal *terminal, FILE *out, GError **error)
{
	const LodeReportOptions *report = &self->report;
	LodeFunctionListOptions options = {.format = report->format,
		.terminal = *terminal,
		.is_reversed = report->is_reversed,
		.text = report->filter.text,
		.image = self->image,
		.offset = report->offset,
		.limit = report->limit};
	int order = report->sort != NULL ? lode_function_order_from_text(report->sort)
	                                 : LODE_FUNCTION_BY_WEIGHT;

	if (order < 0)
		return lode_parameter_refuse(error,
			"--sort: functions are sorted by weight, inclusive, executions, calls, "
			"name or image, not by '%s'",
			report->sort);
	options.order = (LodeFunctionOrder)order;
	return lode_function_list_write(
		profile, lode_code_of(profile)->weight_event, &options, out, error);
}

static bool write_lines(const Options *self, const LodeProfile *profile,
	const LodeTerminal *terminal, FILE *out, GError **error)
{
	const LodeFunctionListOptions options = {
		.format = self->report.format, .terminal = *terminal, .limit = self->report.limit};

	return lode_line_list_write(
		profile, lode_code_of(profile)->weight_event, &options, out, error);
}

static bool write_calls(const Options *self, const LodeProfile *profile,
	const LodeTerminal *terminal, FILE *out, GError **error)
{
	const LodeFunctionCallsOptions options = {.format = self->report.format,
		.terminal = *terminal,
		.name = self->callers != NULL ? self->callers : self->callees,
		.has_callers = self->callers != NULL,
		.has_callees = self->callees != NULL,
		.limit = self->report.limit,
		.own = (const char *const *)self->report.own};

	return lode_function_calls_write(
		profile, lode_code_of(profile)->weight_event, &options, out, error);
}

/* Needs no mining run. */
static bool answer_functions(
	LodeAsking *asking, const Options *self, const char *origins, GError **error)
{
	const LodeProfileChoice choice = {
		.has_stacks = true, .origins = origins, .part = self->part, .event = self->weight};
	const LodeProfile *profile = asking->asker->profile(asking, 0, &choice, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	LodeTerminal terminal = asking->terminal;

	terminal.has_full_names = self->has_full_names;
	return out != NULL &&
	       (self->lists_functions      ? write_functions
		       : self->lists_lines ? write_lines
					   : write_calls)(self, profile, &terminal, out, error) &&
	       lode_asking_end(asking, error);
}

/* Likewise. */
static bool answer_waits(
	LodeAsking *asking, const Options *self, const char *origins, GError **error)
{
	const LodeProfileChoice choice = {
		.has_stacks = true, .origins = origins, .part = self->part};
	LodeWaitListOptions list = {.format = self->report.format,
		.terminal.has_full_names = self->has_full_names,
		.own = self->report.own,
		.limit = self->report.limit};

	return lode_waits_answer(asking, &choice, &list, error);
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	LodeReportOptions *report = &self->report;
	g_autofree char *origins = lode_parameter_join(report->origins);
	const LodeRunChoice choice = {.profile = {.origins = origins,
					      .part = self->part,
					      .event = self->weight,
					      .has_memory = true,
					      .has_stacks = true},
		.run = self->run,
		.wants_sequences = wants_sequences,
		.options = self};
	g_autoptr(LodeDiagnoses) diagnoses = NULL;
	g_autoptr(GArray) list = NULL;
	g_auto(GStrv) causes = read_causes(self->fail_on, error);
	LodeMined mined;

	if (causes == NULL)
		return false;
	if (report->filter.percent_limit > 100)
		return lode_parameter_refuse(error, "--percent-limit: a share is at most 100 %%");
	report->is_explained |= report->diagnosis != 0 || report->finding != 0;
	report->shows_findings |= report->finding != 0;
	if (self->lists_functions || self->lists_lines || self->callers != NULL ||
		self->callees != NULL)
		return answer_functions(asking, self, origins, error);
	if (self->lists_waits)
		return answer_waits(asking, self, origins, error);
	if (self->lists_programs) {
		self->programs.limit = report->limit;
		self->programs.format = report->format;
		return lode_programs_answer(asking, &self->programs, &self->part, error);
	}
	if (!asking->asker->mined(asking, &choice, &mined, error))
		return false;
	bool lists = wants_sequences(mined.run, self);
	if (lists && self->lists_sequences && report->sort == NULL)
		report->sort = mined.run->parameters.is_instruction_mode ? "count" : "excess";
	report->profile_path = asking->names[0];
	report->names_run = self->run != NULL;
	report->is_page = asking->is_page;
	if (lists && asking->is_page) {
		list = find_list(asking, mined.run, report, error);
		if (list == NULL)
			return false;
		report->sequences = list;
	}
	guint n = mined.run->findings != NULL ? mined.run->findings->findings->len : 0;
	if (!lists && report->finding > n) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"F%u: the run has %u finding%s", report->finding, n, n == 1 ? "" : "s");
		return false;
	}
	if (!lists || self->fail_on != NULL)
		diagnoses = diagnose(asking, self, &mined, error);
	if ((!lists || self->fail_on != NULL) && diagnoses == NULL)
		return false;
	report->diagnoses = diagnoses;
	if (!write_report(asking, &mined, self, error))
		return false;
	if (self->fail_on != NULL)
		check_causes(asking, diagnoses, causes);
	return true;
}

const LodeVerb lode_question_report = {
	.name = "report",
	.arguments = "PROFILE.lode [RUN] [D2 | F3]",
	.summary = "show the patterns that cost most",
	.description =
		"Without options, shows the diagnoses: what costs time, why, where, what removing "
		"it would save, and what to do. With --findings, or where there is no diagnosis, "
		"shows the patterns that explain the cost, what an execution of each costs, and "
		"the hottest places. D2 is one diagnosis alone, in full, and F3 one finding. With "
		"--all, "
		"--sort, --reverse, --baseline or a filter, lists the mined sequences. After "
		"'lode run' the first list takes longer: it mines them.\n"
		"\n"
		"With --functions, --callers or --callees, lists functions by what they cost alone "
		"and with all that they call; a run is not needed. What was called is known of "
		"recorded stacks (-g, --call-graph dwarf), and estimated from counted calls "
		"(--count, --exact). A function is named by its name, by a part of it that no "
		"other one has, or by its number, which an ambiguous name lists. --lines lists "
		"lines of the sources likewise.\n"
		"\n"
		"Examples:\n"
		"  lode report x.lode\n"
		"  lode report x.lode --explain D2\n"
		"  lode report x.lode --fail-on division,part-store   status 3 for a CI job\n"
		"  lode report x.lode --functions --sort inclusive\n"
		"  lode report x.lode --callers malloc\n"
		"  lode report x.lode --waits\n"
		"  lode report x.lode --with 'ev:*' --size 2-\n"
		"  lode report x.lode --format csv\n"
		"  lode report x.lode --all --sort places --format csv\n"
		"  lode report all.lode --origin web1\n"
		"  lode report x.lode --thread worker --time 1.5..2.25\n"
		"  lode report x.lode --programs --by thread\n"
		"  lode report x.lode --html x.html",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.take_words = take_words,
	.answer = answer,
};
