/* SPDX-License-Identifier: MIT */
/* lode mine: finds the costliest sequences of a profile and stores them in it as a run. */
#include "base/error.h"
#include "cli/mpi_ranks.h"
#include "cli/options/mining_options.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/profile.h"
#include "questions/parts/rows.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"

#include <stdio.h>
#include <string.h>

typedef struct {
	LodeMiningOptions mining;
	const char *const *origins;
	bool uses_ranks, is_alone;
} Options;

static const LodeParameter rows[] = {
	{"origin", LODE_TEXTS(Options, origins), .value = "NAME|N", .summary = LODE_ORIGIN_SUMMARY},
	{"mpi", LODE_FLAG(Options, uses_ranks), .excludes = "no-mpi",
		.summary = "share the work with the other ranks that mpirun or srun started "
			   "(default: if there are any)"},
	{"no-mpi", LODE_FLAG(Options, is_alone),
		.summary = "do not share it: each process that mpirun or srun started mines a "
			   "profile of its own"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	LODE_MINING_GROUPS(Options, mining, false),
	{NULL},
};

static void init(void *options)
{
	lode_mining_options_init(&((Options *)options)->mining);
}

static bool store(const char *path, const LodeProfile *profile, const LodeMiningRun *run,
	const LodeRanks *ranks, LodeTerminalProgress *screen, GError **error)
{
	if (!lode_profile_store_add_run(path, profile, run, &screen->progress, error))
		return false;
	lode_terminal_progress_hide(screen);
	lode_mining_options_warn(run, "mine");
	lode_mining_options_write_summary(run, path, stdout);
	if (ranks != NULL && ranks->size > 1)
		lode_mining_options_write_traffic(ranks, stdout);
	g_autofree char *quoted_path = lode_shell_word(path),
			*quoted_name = lode_shell_word(run->name);
	lode_display_line(stdout, "lode report %s%s%s shows them", quoted_path,
		strcmp(run->name, "main") == 0 ? "" : " ",
		strcmp(run->name, "main") == 0 ? "" : quoted_name);
	return true;
}

static int mine(const char *path, const LodeMiningOptions *mining, LodeRanks *ranks, GError **error)
{
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	if (ranks != NULL && ranks->rank != 0)
		screen.progress.report = NULL;
	const LodeProfileChoice choice = {.origins = mining->parameters.origins};
	g_autofree char *note = NULL;
	g_autoptr(LodeProfile) profile = lode_profile_choice_read(
		&choice, path, path, &screen.progress, &note, error);
	if (ranks != NULL ? !lode_mpi_agree(ranks, profile != NULL, 0, error) : profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun) mined = ranks != NULL
	                                         ? lode_mining_options_mine_shared(mining, profile,
							   ranks, &screen.progress, error)
	                                         : lode_mining_options_mine(mining, profile,
							   &screen.progress, error);
	if (mined == NULL)
		return LODE_EXIT_FAILED;
	/* The first rank writes, after all ranks succeeded. */
	if (ranks != NULL && ranks->rank != 0)
		return LODE_EXIT_OK;
	return store(path, profile, mined, ranks, &screen, error) ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

/* An error of all ranks is printed by one. */
static bool is_other_rank(const void *options)
{
	const Options *given = options;

	return !given->is_alone && lode_mpi_place().rank > 0;
}

static int run_shared(const char *path, const LodeMiningOptions *mining, GError **error)
{
	LodeRanks *ranks = lode_mpi_open(error);

	if (ranks == NULL)
		return LODE_EXIT_FAILED;
	int status = mine(path, mining, ranks, error);
	lode_mpi_close(ranks);
	return status;
}

/* Without MPI the first process does all the work: the result is the same, but takes longer. */
static int run_unshared(const char *path, const Options *given, GError **error)
{
	if (is_other_rank(given))
		return LODE_EXIT_OK;
	lode_display_line(stderr,
		"lode mine: this build has no MPI: the first of the processes mines alone "
		"(--no-mpi lets each mine a profile of its own)");
	return mine(path, &given->mining, NULL, error);
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;
	bool is_shared = given->uses_ranks || (!given->is_alone && lode_mpi_place().size != 1);

	if (!lode_parameter_take_one(arguments, "profile", "x.lode", error))
		return LODE_EXIT_USAGE;
	if (is_shared && given->mining.parameters.is_instruction_mode) {
		lode_parameter_refuse(error,
			"--instructions is counted by one process: start lode without mpirun or "
			"srun, or with --no-mpi");
		return LODE_EXIT_USAGE;
	}
	g_autofree char *origins = lode_parameter_join(given->origins);
	given->mining.parameters.origins = origins;
	if (!is_shared)
		return mine(arguments[0], &given->mining, NULL, error);
	return given->uses_ranks || lode_mpi_is_built()
	               ? run_shared(arguments[0], &given->mining, error)
	               : run_unshared(arguments[0], given, error);
}

const LodeVerb lode_verb_mine = {
	.name = "mine",
	.arguments = "PROFILE.lode",
	.summary = "mine a profile for the sequences that cost most",
	.description =
		"A sequence is a list of elements, each a set of attributes of an instruction, "
		"that follow each other along the paths of the program. Its weight is the "
		"share of all cost that is spent in it, its frequency the share of all "
		"executed instructions that belong to it. The result is stored in the profile "
		"as a named run; other runs are kept. After Ctrl-C nothing is stored.\n"
		"\n"
		"Examples:\n"
		"  lode mine x.lode                                  the defaults, as run "
		"'main'\n"
		"  lode mine x.lode --gap 1 --window 1 --name loose  a second run\n"
		"  lode mine x.lode --min-support 0.2% --images 'libz'\n"
		"  lode mine x.lode --weight l1d-miss --top 1000\n"
		"  lode mine all.lode --origin 'web*' --name web     a part of a merged profile\n"
		"  lode mine x.lode --instructions --min-count 100 --name opcodes\n"
		"  mpirun -n 8 lode mine x.lode                      shared by eight processes",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.run = run,
	.is_silent = is_other_rank,
};
