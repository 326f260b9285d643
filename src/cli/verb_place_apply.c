/* SPDX-License-Identifier: MIT */
/* lode place apply: runs a program with its threads and pages where a placement says. */
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/option_parser.h"
#include "cli/verb.h"
#include "cli/wrapped_program.h"
#include "record/placement_run.h"
#include "sources/placement_file.h"
#include "views/display_text.h"

#include <stdio.h>
#include <string.h>

static struct {
	char *topology;
	gboolean is_strict, is_randomised, is_quiet;
} given;

static const GOptionEntry options[] = {
	{"strict", 0, 0, G_OPTION_ARG_NONE, &given.is_strict,
		"do not put pages on other memories when theirs is full; the program may then "
		"be killed",
		NULL},
	{"randomise", 0, 0, G_OPTION_ARG_NONE, &given.is_randomised,
		"do not switch off address-space randomisation: ranges of addresses are then "
		"not placed correctly",
		NULL},
	{"topology", 0, 0, G_OPTION_ARG_STRING, &given.topology,
		"a description of the machine to assume, such as \"numa:2 pu:1\" (default: "
		"this machine)",
		"MACHINE"},
	{"quiet", 'q', 0, G_OPTION_ARG_NONE, &given.is_quiet,
		"do not report what could not be placed", NULL},
	G_OPTION_ENTRY_NULL,
};

static void tell(const char *text)
{
	if (!given.is_quiet)
		lode_display_line(stderr, "lode place apply: %s", text);
}

static int exit_status(const LodePlacementRun *run)
{
	for (guint i = 0; i < run->notes->len; i++)
		tell(run->notes->pdata[i]);
	return lode_wrapped_program_status(run->exit_status, run->stop_signal);
}

static int apply(const char *path, char **arguments, GError **error)
{
	g_autoptr(GPtrArray) ignored = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(LodePlacement) placement = lode_placement_file_read(path, ignored, error);
	g_autoptr(LodeTopology)
		topology = placement != NULL ? lode_topology_read(given.topology, error) : NULL;

	if (topology == NULL)
		return LODE_EXIT_FAILED;
	for (guint i = 0; i < ignored->len; i++) {
		g_autofree char *text = g_strdup_printf(
			"%s: not applied: %s", path, (char *)ignored->pdata[i]);
		tell(text);
	}
	LodePlacementRunOptions run = {
		.argv = (const char *const *)arguments,
		.placement = placement,
		.topology = topology,
		.is_strict = given.is_strict,
		.is_randomised = given.is_randomised,
		.notes = lode_wrapped_program_notes("place apply"),
	};
	/* Signals that come when the program is done must not end us before we say so. */
	lode_interrupt_cancellable();
	g_autoptr(LodePlacementRun) done = lode_placement_run(&run, error);
	return done != NULL ? exit_status(done) : LODE_EXIT_FAILED;
}

static bool is_option(const char *word)
{
	return word != NULL && word[0] == '-' && strcmp(word, "--") != 0;
}

/* Options end at FILE for the parser, which takes what follows for the program's. */
static bool take_late_options(char **after_file, char ***out_program, GError **error)
{
	bool wants_help = false;

	if (!is_option(*after_file)) {
		bool is_separator = *after_file != NULL && strcmp(*after_file, "--") == 0;
		*out_program = g_strdupv(after_file + is_separator);
		return true;
	}
	if (!lode_options_parse(
		    &lode_verb_place_apply, after_file, &wants_help, out_program, error))
		return false;
	if (!wants_help)
		return true;
	g_clear_pointer(out_program, g_strfreev);
	return lode_option_refuse(error, "--help comes before FILE");
}

static int run(char **arguments, GError **error)
{
	g_auto(GStrv) program = NULL;

	if (arguments[0] == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"FILE is missing: lode place apply FILE -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	if (!take_late_options(arguments + 1, &program, error))
		return LODE_EXIT_USAGE;
	if (*program == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"PROGRAM is missing: lode place apply FILE -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	return apply(arguments[0], program, error);
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
		"with its status. What could not be placed is reported at the end.\n"
		"\n"
		"Examples:\n"
		"  lode place apply x.place -- ./program argument",
	.old_options = options,
	.old_run = run,
	.is_wrapper = true,
};
