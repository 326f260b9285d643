/* SPDX-License-Identifier: MIT */
/* lode info: what is in a profile, and how good it is. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "store/profile_store.h"
#include "views/info.h"

static char *given_format;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given_format, "output format (default: text)",
		"text|json|csv"},
	{NULL},
};

static int run(char **arguments, GError **error)
{
	LodeInfoOptions info = {.terminal = lode_terminal_of(stdout)};

	if (arguments[0] == NULL || arguments[1] != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "info takes one profile");
		return LODE_EXIT_USAGE;
	}
	if (!lode_option_format(given_format, &info.format, error))
		return LODE_EXIT_USAGE;
	info.profile_path = arguments[0];
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_profile_store_read_with_memory(
		arguments[0], &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(GPtrArray) runs = lode_profile_store_list_runs(arguments[0], error);
	lode_terminal_progress_hide(&screen);
	if (runs == NULL || !lode_info_write(profile, runs, &info, stdout, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_info = {
	.name = "info",
	.arguments = "PROFILE.lode",
	.summary = "show the contents and quality of a profile",
	.description =
		"Shows the program, the events and their totals, the images with their share "
		"of the weight, the numbers of functions, blocks, instructions and edges, flow "
		"conservation, the share of samples with a data address, what could not be "
		"resolved by reason, and the mining runs.\n"
		"\n"
		"Example:\n"
		"  lode info x.lode --format json",
	.old_options = options,
	.old_run = run,
};
