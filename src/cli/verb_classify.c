/* SPDX-License-Identifier: MIT */
/* lode classify: which known workloads a profile is, and what of it is none of them. */
#include "analyses/signatures/capacity.h"
#include "analyses/signatures/slice_classification.h"
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "sources/signature_directory.h"
#include "store/profile_store.h"
#include "views/classification_slices.h"

static struct {
	char *signatures, *format, *slices, *elapsed, *processors;
	gboolean is_over_time, has_capacity;
} given;

enum { DEFAULT_SLICES = 10, MAX_SLICES = 1000 };

static const GOptionEntry options[] = {
	{"signatures", 0, 0, G_OPTION_ARG_FILENAME, &given.signatures,
		"the directory with the signatures (*.sig)", "DIR"},
	{"over-time", 0, 0, G_OPTION_ARG_NONE, &given.is_over_time,
		"of a recording (perf.data): shares in each slice of its time", NULL},
	{"slices", 0, 0, G_OPTION_ARG_STRING, &given.slices,
		"with --over-time: the number of slices (default: 10)", "N"},
	{"capacity", 0, 0, G_OPTION_ARG_NONE, &given.has_capacity,
		"say what share of the machine each kind of work takes, and how much more fits; "
		"needs --elapsed",
		NULL},
	{"elapsed", 0, 0, G_OPTION_ARG_STRING, &given.elapsed,
		"with --capacity: the time in which the profile was recorded", "SECONDS"},
	{"processors", 0, 0, G_OPTION_ARG_STRING, &given.processors,
		"with --capacity: the number of processors (default: this machine's)", "N"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	G_OPTION_ENTRY_NULL,
};

static bool check_together(GError **error)
{
	const char *message = NULL;

	if (given.is_over_time && given.has_capacity)
		message = "--over-time cannot be used with --capacity";
	else if (given.slices != NULL && !given.is_over_time)
		message = "--slices goes with --over-time";
	else if ((given.elapsed != NULL || given.processors != NULL) && !given.has_capacity)
		message = "--elapsed and --processors go with --capacity";
	else if (given.has_capacity && given.elapsed == NULL)
		message =
			"--capacity needs --elapsed: in how many seconds the profile was recorded";
	if (message != NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return message == NULL;
}

typedef struct {
	LodeClassificationViewOptions view;
	LodeCapacityOptions capacity;
	uint64_t n_slices;
} Wanted;

static bool parse_numbers(Wanted *out, GError **error)
{
	out->capacity.processors = g_get_num_processors();
	out->n_slices = DEFAULT_SLICES;
	if (!lode_option_positive("--slices", given.slices, MAX_SLICES, &out->n_slices, error) ||
		!lode_option_number(
			"--elapsed", given.elapsed, &out->capacity.elapsed_seconds, error) ||
		!lode_option_number(
			"--processors", given.processors, &out->capacity.processors, error))
		return false;
	if (given.has_capacity &&
		!(out->capacity.elapsed_seconds > 0 && out->capacity.processors > 0))
		return lode_option_refuse(error, "--elapsed and --processors must be above 0");
	return true;
}

static bool parse_options(char **arguments, Wanted *out, GError **error)
{
	LodeClassificationViewOptions *view = &out->view;

	view->terminal = lode_terminal_of(stdout);
	view->profile_path = arguments[0];
	if (!lode_options_take_one(arguments, given.is_over_time ? "FILE" : "PROFILE.lode", error))
		return false;
	if (given.signatures == NULL)
		return lode_option_refuse(
			error, "--signatures is missing: the directory with the signatures");
	if (!lode_option_format(given.format, &view->format, error))
		return false;
	return check_together(error) && parse_numbers(out, error);
}

static bool write_over_time(const char *path, const GPtrArray *signatures, const Wanted *wanted,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GArray)
		slices = lode_time_slices_of(path, (unsigned)wanted->n_slices, progress, error);
	g_autoptr(GPtrArray) found = slices != NULL ? lode_classify_slices(path, slices, signatures,
							      progress, error)
	                                            : NULL;

	return found != NULL && lode_classification_slices_write(
					signatures, slices, found, &wanted->view, stdout, error);
}

static bool write_one(const char *path, const GPtrArray *signatures, const Wanted *wanted,
	LodeTerminalProgress *screen, GError **error)
{
	g_autoptr(LodeProfile) profile = lode_profile_store_read(path, &screen->progress, error);
	g_auto(LodeCapacity) capacity = {0};

	if (profile == NULL)
		return false;
	g_autoptr(LodeClassification)
		found = lode_classify(profile, signatures, &screen->progress, error);
	if (found == NULL) {
		g_prefix_error(error, "%s: ", path);
		return false;
	}
	lode_terminal_progress_hide(screen);
	if (given.has_capacity && !lode_capacity_find(profile, signatures, found, &wanted->capacity,
					  &capacity, error))
		return false;
	return lode_classification_view_write(profile, signatures, found,
		given.has_capacity ? &capacity : NULL, &wanted->view, stdout, error);
}

static int run(char **arguments, GError **error)
{
	Wanted wanted = {0};

	if (!parse_options(arguments, &wanted, error))
		return LODE_EXIT_USAGE;
	g_autoptr(GPtrArray) signatures = lode_signature_directory_read(given.signatures, error);
	if (signatures == NULL)
		return LODE_EXIT_FAILED;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	bool is_done = given.is_over_time
	                       ? write_over_time(
					 arguments[0], signatures, &wanted, &screen.progress, error)
	                       : write_one(arguments[0], signatures, &wanted, &screen, error);
	return is_done ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_classify = {
	.name = "classify",
	.arguments = "PROFILE.lode | FILE",
	.summary = "say which known workloads a profile is, and what is left over",
	.description =
		"Compares the sequences of instructions that the profile executes with signatures "
		"of known workloads: the distance to each, how much of the profile it explains, "
		"and the sequences that speak most for the nearest and against it. A profile that "
		"is farther from all of them than their own inputs vary is none of these, or a "
		"mixture: the shares of the executions that belong to each signature are fitted. "
		"What no signature explains is the rest, with the functions where it is.\n"
		"\n"
		"With --over-time the argument is the recording itself, perf.data of lode or perf, "
		"and each slice of its time is classified, so that phases show. With --capacity, "
		"signatures made with --units say how much work is done and how much more fits.\n"
		"\n"
		"Examples:\n"
		"  lode classify x.lode --signatures known\n"
		"  lode classify x.data --signatures known --over-time --slices 20\n"
		"  lode classify x.lode --signatures known --capacity --elapsed 60",
	.old_options = options,
	.old_run = run,
};
