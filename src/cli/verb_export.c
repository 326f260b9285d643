/* SPDX-License-Identifier: MIT */
/* lode export: a profile's flow graphs as text. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "sources/flow_file.h"
#include "store/profile_store.h"

#include <string.h>

static struct {
	char *output, *format, *weight, *event_rate;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format,
		"output format: flow, a flow file (the default and the only one)", "flow"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the file to write (default: standard output)", "FILE"},
	{"weight", 0, 0, G_OPTION_ARG_STRING, &given.weight,
		"the event that becomes the weight of the vertices (default: the profile's, "
		"see 'lode info')",
		"EVENT"},
	{"event-rate", 0, 0, G_OPTION_ARG_STRING, &given.event_rate,
		"an instruction gets ev:EVENT from this many events per execution (default: "
		"0.01)",
		"RATE"},
	G_OPTION_ENTRY_NULL,
};

static bool find_weight(const LodeProfile *profile, uint32_t *out_event, GError **error)
{
	if (given.weight == NULL) {
		*out_event = profile->weight_event;
		return true;
	}
	*out_event = lode_profile_find_event(profile, given.weight);
	if (*out_event == LODE_NONE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no event '%s'; 'lode info' lists them", given.weight);
	return *out_event != LODE_NONE;
}

static int run(char **arguments, GError **error)
{
	double event_rate = 0.01;
	uint32_t weight;

	if (!lode_options_take_one(arguments, "PROFILE.lode", error) ||
		!lode_option_number("--event-rate", given.event_rate, &event_rate, error))
		return LODE_EXIT_USAGE;
	if (given.format != NULL && strcmp(given.format, "flow") != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "--format: '%s' is not flow",
			given.format);
		return LODE_EXIT_USAGE;
	}
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read(arguments[0], &screen.progress, error);
	if (profile == NULL || !find_weight(profile, &weight, error))
		return LODE_EXIT_FAILED;
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given.output, error);
	if (output == NULL)
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	if (!lode_flow_file_write(
		    profile, weight, event_rate, lode_output_file_stream(output), error) ||
		!lode_output_file_commit(output, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_export = {
	.name = "export",
	.arguments = "PROFILE.lode",
	.summary = "write a profile's flow graphs as text",
	.description = "'lode import' reads the file and makes the same graphs from it.\n"
		       "\n"
		       "Examples:\n"
		       "  lode export x.lode -o x.flow\n"
		       "  lode export x.lode --weight l1d-miss | zstd >x.flow.zst",
	.options = options,
	.run = run,
};
