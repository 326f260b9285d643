/* SPDX-License-Identifier: MIT */
/* lode mine: finds the sequences of a profile that cost most and keeps them in it as a run. */
#include "cli/mining_options.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "store/profile_store.h"
#include "views/display_text.h"
#include "views/shell_word.h"

#include <stdio.h>
#include <string.h>

static int run(char **arguments, GError **error)
{
	LodeMiningParameters parameters;

	if (!lode_options_take_one(arguments, "PROFILE.lode", error) ||
		!lode_mining_options_read(&parameters, error))
		return LODE_EXIT_USAGE;
	const char *path = arguments[0];
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_profile_store_read(path, &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun)
		mined = lode_mining_options_mine(profile, &parameters, &screen.progress, error);
	if (mined == NULL ||
		!lode_profile_store_add_run(path, profile, mined, &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	lode_mining_options_warn(mined, "mine");
	lode_mining_options_write_summary(mined, path, stdout);
	g_autofree char *quoted_path = lode_shell_word(path),
			*quoted_name = lode_shell_word(mined->name);
	lode_display_line(stdout, "lode report %s%s%s shows them", quoted_path,
		strcmp(mined->name, "main") == 0 ? "" : " ",
		strcmp(mined->name, "main") == 0 ? "" : quoted_name);
	return LODE_EXIT_OK;
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
		"  lode mine x.lode --instructions --min-count 100 --name opcodes",
	.run = run,
	.groups = lode_mining_groups,
};
