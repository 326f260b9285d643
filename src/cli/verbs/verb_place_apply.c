/* SPDX-License-Identifier: MIT */
/* lode place apply: runs a program with its threads and pages placed as planned. */
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/recording/wrapped_program.h"
#include "cli/verb.h"
#include "record/placement/placement_run.h"
#include "sources/placement_file.h"
#include "views/form/display_text.h"

#include <stdio.h>

typedef struct {
	LodePlacementRunOptions run;
	const char *topology;
	bool is_quiet;
} Options;

static const LodeParameter rows[] = {
	{"strict", LODE_FLAG(Options, run.is_strict),
		.summary = "do not put pages on other memories when theirs is full; the program "
			   "may then be killed"},
	{"randomise", LODE_FLAG(Options, run.is_randomised),
		.summary = "do not switch off address-space randomisation: ranges of addresses "
			   "are then not placed correctly"},
	{"topology", LODE_TEXT(Options, topology), .value = "MACHINE",
		.summary = "a description of the machine to assume, such as \"numa:2 pu:1\" "
			   "(default: this machine)"},
	{"quiet", 'q', LODE_FLAG(Options, is_quiet),
		.summary = "do not report what could not be placed"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static int apply(Options *given, const char *path, char **program, GError **error)
{
	g_autoptr(GPtrArray) ignored = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(LodePlacement) placement = lode_placement_file_read(path, ignored, error);
	g_autoptr(LodeTopology)
		topology = placement != NULL ? lode_topology_read(given->topology, error) : NULL;

	if (topology == NULL)
		return LODE_EXIT_FAILED;
	for (guint i = 0; i < ignored->len && !given->is_quiet; i++)
		lode_display_line(stderr, "lode place apply: %s: not applied: %s", path,
			(const char *)ignored->pdata[i]);
	given->run.argv = (const char *const *)program;
	given->run.placement = placement;
	given->run.topology = topology;
	given->run.notes = lode_wrapped_program_notes("place apply");
	/* Signals that come when the program is done must not end us before we say so. */
	lode_interrupt_cancellable();
	g_autoptr(LodePlacementRun) done = lode_placement_run(&given->run, error);
	if (done == NULL)
		return LODE_EXIT_FAILED;
	for (guint i = 0; i < done->notes->len && !given->is_quiet; i++)
		lode_display_line(
			stderr, "lode place apply: %s", (const char *)done->notes->pdata[i]);
	return lode_wrapped_program_status(done->exit_status, done->stop_signal);
}

static int run(void *options, char **arguments, GError **error)
{
	const LodeParameterLine line = {.groups = groups, .ends_at_first = true};
	g_auto(LodeParameterPairs) pairs;
	g_autoptr(GPtrArray) lists = NULL;
	g_auto(GStrv) program = NULL;
	LodeHelp help = LODE_HELP_NONE;

	lode_parameter_pairs_init(&pairs);
	if (arguments[0] == NULL) {
		lode_parameter_refuse(
			error, "FILE is missing: lode place apply FILE -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	/* Options ended at FILE; options after it are added to those before it. */
	if (!lode_parameter_line_split(&line, arguments + 1, &pairs, &help, &program, error) ||
		!lode_parameters_fill(
			groups, &pairs, LODE_PARAMETER_FOR_TERMINAL, options, &lists, error))
		return LODE_EXIT_USAGE;
	if (help != LODE_HELP_NONE || *program == NULL) {
		lode_parameter_refuse(error, "%s",
			help != LODE_HELP_NONE
				? "--help comes before FILE"
				: "PROGRAM is missing: lode place apply FILE -- PROGRAM "
				  "ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	return apply(options, arguments[0], program, error);
}

const LodeVerb lode_verb_place_apply = {
	.name = "place apply",
	.arguments = "FILE [OPTION…] -- PROGRAM [ARGUMENT…]",
	.summary = "run a program with threads and pages placed",
	.description =
		"A preloaded library binds each thread, in the order of creation, to the "
		"processors of its memory, and each range of addresses to its memory as soon "
		"as it is mapped. The program's results do not change. Address-space "
		"randomisation is switched off, so that addresses are those of the recording.\n"
		"\n"
		"The program has the standard input, output and error of lode, and lode exits "
		"with its status. Threads and pages that could not be placed are reported at "
		"the end.\n"
		"\n"
		"Examples:\n"
		"  lode place apply x.place -- ./program argument",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
	.is_wrapper = true,
};
