/* SPDX-License-Identifier: MIT */
/* lode classify: the known workloads in a profile, and the rest that none of them explains. */
#include "analyses/signatures/capacity.h"
#include "analyses/signatures/classification.h"
#include "base/error.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "ingest/import.h"
#include "ingest/time_slices.h"
#include "model/profile.h"
#include "questions/parts/rows.h"
#include "sources/signature_file.h"
#include "store/profile_store.h"
#include "views/signatures/classification_view.h"

typedef struct {
	LodeClassificationViewOptions view;
	LodeCapacityOptions capacity;
	const char *signatures;
	unsigned n_slices;
	bool is_over_time, has_capacity, has_full_names;
} Options;

static const LodeParameter rows[] = {
	{"signatures", LODE_FILE(Options, signatures), .value = "DIR",
		.summary = "the directory with the signatures (*.sig)"},
	{"over-time", LODE_FLAG(Options, is_over_time), .excludes = "capacity",
		.summary = "of a recording (perf.data): shares in each slice of its time"},
	{"slices", LODE_COUNT(Options, n_slices), .least = 1, .most = 1000, .value = "N",
		.standard = "10", .needs = "over-time",
		.summary = "with --over-time: the number of slices (default: 10)"},
	{"capacity", LODE_FLAG(Options, has_capacity), .needs = "elapsed",
		.summary = "say what share of the machine each kind of work takes, and how much "
			   "more fits; needs --elapsed"},
	{"elapsed", LODE_NUMBER(Options, capacity.elapsed_seconds), .value = "SECONDS",
		.needs = "capacity",
		.summary = "with --capacity: the time in which the profile was recorded"},
	{"processors", LODE_NUMBER(Options, capacity.processors), .value = "N", .needs = "capacity",
		.summary = "with --capacity: the number of processors (default: this machine's)"},
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	{"format", LODE_WORD(Options, view.format), .value = "text|json|csv",
		.summary = "output format (default: text)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static void init(void *options)
{
	((Options *)options)->capacity.processors = g_get_num_processors();
}

static bool check(const Options *self, char **arguments, GError **error)
{
	if (!lode_parameter_take_one(arguments, self->is_over_time ? "recording" : "profile",
		    self->is_over_time ? "perf.data" : "x.lode", error))
		return false;
	if (self->signatures == NULL)
		return lode_parameter_refuse(
			error, "--signatures is missing: the directory with the signatures");
	if (self->has_capacity &&
		!(self->capacity.elapsed_seconds > 0 && self->capacity.processors > 0))
		return lode_parameter_refuse(error, "--elapsed and --processors must be above 0");
	return true;
}

static bool write_over_time(const char *path, const GPtrArray *signatures, const Options *given,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GArray) slices = lode_time_slices_of(path, given->n_slices, progress, error);
	g_autoptr(GPtrArray)
		found = g_ptr_array_new_with_free_func((GDestroyNotify)lode_classification_free);

	if (slices == NULL)
		return false;
	for (guint i = 0; i < slices->len; i++) {
		const LodeTimeSlice *slice = &g_array_index(slices, LodeTimeSlice, i);
		const LodeImportOptions import = {
			.paths = &path,
			.n_paths = 1,
			.begin_ns = slice->begin_ns,
			.end_ns = slice->end_ns,
		};
		g_ptr_array_add(found, NULL);
		if (slice->n_samples < LODE_CLASSIFIED_SAMPLES)
			continue;
		g_autoptr(LodeProfile) profile = lode_import(&import, progress, error);
		if (profile == NULL)
			return false;
		found->pdata[i] = lode_classify(profile, signatures, progress, error);
		if (found->pdata[i] == NULL)
			return false;
	}
	return lode_classification_slices_write(
		signatures, slices, found, &given->view, stdout, error);
}

static bool write_one(const char *path, const GPtrArray *signatures, const Options *given,
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
	if (given->has_capacity &&
		!lode_capacity_find(profile, signatures, found, &given->capacity, &capacity, error))
		return false;
	return lode_classification_view_write(profile, signatures, found,
		given->has_capacity ? &capacity : NULL, &given->view, stdout, error);
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;

	if (!check(given, arguments, error))
		return LODE_EXIT_USAGE;
	given->view.terminal = lode_terminal_of(stdout);
	given->view.terminal.has_full_names = given->has_full_names;
	given->view.profile_path = arguments[0];
	g_autoptr(GPtrArray) signatures = lode_signature_directory_read(given->signatures, error);
	if (signatures == NULL)
		return LODE_EXIT_FAILED;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	bool is_done = given->is_over_time
	                       ? write_over_time(
					 arguments[0], signatures, given, &screen.progress, error)
	                       : write_one(arguments[0], signatures, given, &screen, error);
	return is_done ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_classify = {
	.name = "classify",
	.arguments = "PROFILE.lode | FILE",
	.summary = "say which known workloads a profile is, and what is left over",
	.description =
		"Compares the sequences of instructions that the profile executes with signatures "
		"of known workloads: the distance to each, how much of the profile it explains, "
		"and the sequences that speak most for the nearest and against it. The answer is "
		"one of them; a mixture, also with unknown work, in shares with their errors; or "
		"none, where no mixture is as near as the workloads' own inputs are. "
		"The rest is explained by no signature; it is listed with its functions.\n"
		"\n"
		"With --over-time the argument is the recording itself, perf.data of lode or perf, "
		"and each slice of its time is classified, so that phases show. With --capacity, "
		"signatures made with --units say how much work is done and how much more fits.\n"
		"\n"
		"Examples:\n"
		"  lode classify x.lode --signatures known\n"
		"  lode classify x.data --signatures known --over-time --slices 20\n"
		"  lode classify x.lode --signatures known --capacity --elapsed 60",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.run = run,
};
