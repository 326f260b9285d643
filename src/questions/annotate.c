/* SPDX-License-Identifier: MIT */
/* Shows code: the places of a sequence or a finding, a function or a source line. */
#include "views/code/annotate.h"

#include "analyses/diagnoses/diagnose.h"
#include "base/error.h"
#include "base/text/suggestion.h"
#include "model/mining_run.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"
#include "views/figures/profile_figures.h"

#include <string.h>

typedef struct {
	LodeAnnotateOptions annotate;
	LodePartChoice part;
	const char *weight;
	const char *run, *line;
	const char *const *source;
	uint64_t sequence, finding, diagnosis;
	uint32_t number; /* of the function */
	bool has_finding, has_diagnosis, has_sequence, has_number, has_no_pager, has_full_names;
} Options;

static const LodeParameter rows[] = {
	{"run", LODE_TEXT(Options, run), .value = "NAME",
		.summary = "the mining run (default: the last one)"},
	{"limit", LODE_COUNT(Options, annotate.limit), .least = 1, .value = "N",
		.summary = "show at most N places"},
	{"context", LODE_COUNT(Options, annotate.context), .value = "N",
		.summary = "instructions to show before and after the matched ones (default: 3)"},
	{"origin", LODE_TEXTS(Options, annotate.origins), .value = "NAME|N",
		.excludes = LODE_PART_NAMES, .summary = LODE_ORIGIN_SUMMARY},
	LODE_EVENT_ROW(Options, weight),
	{"source", LODE_FILES(Options, source), .value = "DIR",
		.audience = LODE_PARAMETER_FOR_TERMINAL, .summary = LODE_SOURCE_SUMMARY},
	{"sampled", LODE_FLAG(Options, annotate.shows_sampled),
		.summary = "show the weight also where it was sampled, beside the instruction that "
			   "waited"},
	{"all", LODE_FLAG(Options, annotate.is_whole), .audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "in text, do not leave out a function's code that never ran"},
	{"no-pager", LODE_FLAG(Options, has_no_pager), .audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "on a terminal, do not show text through $LODE_PAGER, $PAGER or less"},
	LODE_OWN_ROW(Options, annotate.own),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	LODE_FORMAT_ROW(Options, annotate.format),
	{NULL},
};

#define SUBJECT .audience = LODE_PARAMETER_FOR_WORDS, .value = "SUBJECT"

static const LodeParameter subjects[] = {
	{"finding", LODE_COUNT(Options, finding), SUBJECT, .given = offsetof(Options, has_finding),
		.excludes = "diagnosis sequence function function-number line",
		.summary = "the places of this finding: 3 is F3"},
	{"diagnosis", LODE_COUNT(Options, diagnosis), SUBJECT,
		.given = offsetof(Options, has_diagnosis),
		.excludes = "sequence function function-number line",
		.summary = "the places of this diagnosis: 2 is D2"},
	{"sequence", LODE_COUNT(Options, sequence), SUBJECT,
		.given = offsetof(Options, has_sequence),
		.excludes = "function function-number line",
		.summary = "the places of this sequence"},
	{"function", LODE_TEXT(Options, annotate.name), SUBJECT, .excludes = "function-number line",
		.summary = "the function of this name"},
	{"function-number", LODE_COUNT(Options, number), .most = UINT32_MAX - 1,
		.given = offsetof(Options, has_number), .audience = LODE_PARAMETER_FOR_PAGE,
		.value = "N", .excludes = "line",
		.summary = "the function that has this number in the profile"},
	{"line", LODE_TEXT(Options, line), SUBJECT,
		.summary = "the instructions of this source line: list.c:31"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{"Subject", subjects, 0},
	{NULL},
};

static void init(void *options)
{
	lode_annotate_options_init(&((Options *)options)->annotate);
}

/* "231", "D2", "F3", "function NAME", "line FILE:LINE", or NAME or FILE:LINE alone. */
static bool take_words(char **words, LodeParameterPairs *pairs, GError **error)
{
	static const char *const names[] = {"function", "line", NULL};
	bool is_name = words[0] != NULL && g_strv_contains(names, words[0]);

	if (words[0] == NULL || (words[1] == NULL && is_name) ||
		(words[1] != NULL && words[2] != NULL))
		return lode_parameter_refuse(error,
			"annotate takes a profile and one of: the id of a diagnosis (D2), a "
			"finding (F3) or a sequence (231), function NAME, line FILE:LINE");
	if (words[1] != NULL) {
		const char *nearest = lode_suggestion(words[0], names);
		if (is_name)
			lode_parameter_pairs_add(pairs, words[0], words[1]);
		else if (nearest != NULL)
			return lode_parameter_refuse(
				error, "'%s': did you mean '%s'?", words[0], nearest);
		return is_name ||
		       lode_parameter_refuse(
			       error, "'%s' and '%s': one subject at a time", words[0], words[1]);
	}
	char letter = g_ascii_toupper(words[0][0]);
	bool has_letter = letter == 'F' || letter == 'D';
	if (g_ascii_string_to_unsigned(
		    words[0] + has_letter, 10, has_letter ? 0 : 1, G_MAXUINT64, NULL, NULL)) {
		lode_parameter_pairs_add(pairs,
			letter == 'F'   ? "finding"
			: letter == 'D' ? "diagnosis"
					: "sequence",
			words[0] + has_letter);
		return true;
	}
	const char *colon = strrchr(words[0], ':');
	bool is_line = colon != NULL && g_ascii_isdigit(colon[1]);
	lode_parameter_pairs_add(pairs, is_line ? "line" : "function", words[0]);
	return true;
}

/* "list.c:31"; the number is after the last colon. */
static bool read_line(Options *self, char **out_file, GError **error)
{
	const char *colon = strrchr(self->line, ':');
	guint64 number;

	if (colon == NULL || colon == self->line ||
		!g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT32_MAX - 1, &number, NULL))
		return lode_parameter_refuse(
			error, "'%s' is not a source line, such as 'list.c:31'", self->line);
	*out_file = g_strndup(self->line, (gsize)(colon - self->line));
	self->annotate.subject = LODE_ANNOTATE_LINE;
	self->annotate.name = *out_file;
	self->annotate.line = (uint32_t)number;
	return true;
}

static bool read_subject(Options *self, char **out_file, GError **error)
{
	LodeAnnotateOptions *annotate = &self->annotate;

	annotate->id = self->has_finding     ? self->finding
	               : self->has_diagnosis ? self->diagnosis
	                                     : self->sequence;
	annotate->subject = self->has_finding     ? LODE_ANNOTATE_FINDING
	                    : self->has_diagnosis ? LODE_ANNOTATE_DIAGNOSIS
	                    : self->has_sequence  ? LODE_ANNOTATE_SEQUENCE
	                                          : LODE_ANNOTATE_FUNCTION;
	if (self->has_number)
		annotate->function = self->number;
	if (self->line != NULL)
		return read_line(self, out_file, error);
	return self->has_finding || self->has_diagnosis || self->has_sequence || self->has_number ||
	       annotate->name != NULL ||
	       lode_parameter_refuse(
		       error, "one of finding, diagnosis, sequence, function or line is needed");
}

static bool wants_sequences(const LodeMiningRun *run, const void *options)
{
	(void)run;
	return ((const Options *)options)->annotate.subject == LODE_ANNOTATE_SEQUENCE;
}

static void clear_graph(void *graph)
{
	lode_flow_graph_free(*(LodeFlowGraph **)graph);
}

static void unref_graph(void *graph)
{
	g_atomic_rc_box_release_full(graph, clear_graph);
}

/* LodeFlowGraph *, in a box that counts references */
static const LodeKeptKind kept_graph = {g_atomic_rc_box_acquire, unref_graph};

/* A page shows one sequence after the other: their graph is kept for it. The caller unrefs it. */
static LodeFlowGraph **find_graph(LodeAsking *asking, const LodeMined *mined, GError **error)
{
	g_autofree char *key = lode_asking_key(asking, "graph", lode_run_parameters, false);
	LodeFlowGraph **box = asking->asker->find(asking, &kept_graph, key);

	if (box != NULL)
		return box;
	LodeFlowGraph *graph = lode_flow_graph_build(
		mined->profile, &mined->run->parameters, error);
	if (graph == NULL)
		return NULL;
	box = g_atomic_rc_box_new(LodeFlowGraph *);
	*box = graph;
	asking->asker->keep(asking, &kept_graph, key, box);
	return box;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	LodeAnnotateOptions *annotate = &self->annotate;
	g_autofree char *origins = lode_parameter_join(annotate->origins);
	const LodeSourceAccess own = {.folders = self->source};
	g_autofree char *file = NULL;
	LodeFlowGraph **graph = NULL;
	LodeMined mined;

	annotate->is_page = asking->is_page;
	if (!read_subject(self, &file, error) || !lode_source_folders_check(self->source, error))
		return false;
	/* Diagnoses of services are made from stacks. */
	const LodeRunChoice choice = {.profile = {.has_memory = true,
					      .has_stacks = self->has_diagnosis,
					      .origins = origins,
					      .part = self->part,
					      .event = self->weight},
		.run = self->run,
		.wants_sequences = wants_sequences,
		.options = self,
		.can_lack_run = annotate->subject >= LODE_ANNOTATE_FUNCTION};
	g_autoptr(LodeDiagnoses) diagnoses = NULL;
	if (!asking->asker->mined(asking, &choice, &mined, error))
		return false;
	if (self->has_diagnosis) {
		lode_progress_report(asking->progress, "finding diagnoses", 0, 0, NULL);
		diagnoses = lode_diagnose(mined.profile, mined.run->findings,
			lode_profile_weight_of(mined.profile, mined.run), annotate->own);
		lode_diagnoses_join(diagnoses);
	}
	annotate->diagnoses = diagnoses;
	asking->is_paged = annotate->format == LODE_VIEW_TEXT && !self->has_no_pager;
	FILE *out = lode_asking_begin(asking, NULL, error);
	if (out == NULL)
		return false;
	if (asking->is_page && annotate->subject == LODE_ANNOTATE_SEQUENCE) {
		graph = find_graph(asking, &mined, error);
		if (graph == NULL)
			return false;
		annotate->graph = *graph;
	}
	annotate->terminal = asking->terminal;
	annotate->terminal.has_full_names = self->has_full_names;
	annotate->profile_path = asking->names[0];
	annotate->names_run = self->run != NULL;
	annotate->has_no_run = mined.has_no_run;
	annotate->source = asking->is_page ? asking->source : &own;
	bool is_written = lode_annotate_write(
		mined.profile, mined.run, annotate, asking->progress, out, error);
	if (graph != NULL)
		unref_graph(graph);
	return is_written && lode_asking_end(asking, error);
}

const LodeVerb lode_question_annotate = {
	.name = "annotate",
	.arguments = "PROFILE.lode D2 | F3 | ID | [function] NAME | [line] FILE:LINE",
	.summary = "show the code of a diagnosis, finding, sequence, function or line",
	.description =
		"Shows code with its source lines, where the source files are below the folder in "
		"which it was compiled or one of --source, and the events of each instruction: the "
		"places of a diagnosis (D2), a finding (F3) or a sequence (231), the costliest "
		"first, a function "
		"without what never ran, or the instructions of a source line.\n"
		"\n"
		"Instructions that match have a mark; where there are several elements, the number "
		"of the one that they match. For a finding, the mark is on the instruction that is "
		"charged. In a function and around a line, the margin names the findings that "
		"explain time of an instruction.\n"
		"\n"
		"With data addresses in the profile (lode memory record), each load and store has "
		"beside it its share of the function's sampled memory time, its samples, the "
		"object and member with most of them, and the range of addresses.\n"
		"\n"
		"A function is named by its whole name, or by a part of it that no other one has. "
		"A source file is named by its path, or by the end of it. The words 'function' and "
		"'line' are only needed for a name that reads otherwise, such as F1 or 231.\n"
		"\n"
		"Examples:\n"
		"  lode annotate x.lode D1\n"
		"  lode annotate x.lode F1\n"
		"  lode annotate x.lode lookup\n"
		"  lode annotate x.lode list.c:31\n"
		"  lode annotate all.lode F1 --origin web1\n"
		"  lode annotate x.lode 231 --limit 100 --format csv",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.take_words = take_words,
	.answer = answer,
};
