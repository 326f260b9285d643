/* SPDX-License-Identifier: MIT */
/* lode memory: which thread accessed which data. Each view is a file memory_view_<name>.c. */
#include "analyses/memory/access_weights.h"
#include "base/error.h"
#include "base/number_format.h"
#include "cli/memory_filter_options.h"
#include "cli/memory_view.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "store/profile_store.h"
#include "views/display_text.h"

#include <string.h>

static struct {
	char *format, *output, *sort, *top, *weight;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{"sort", 0, 0, G_OPTION_ARG_STRING, &given.sort,
		"the order of rows: weight (the default), loads or stores, largest first; address "
		"in histograms; samples, latency or key in groups",
		"ORDER"},
	{"top", 0, 0, G_OPTION_ARG_STRING, &given.top,
		"show at most N rows of each table; 0: all (default: one screen; all in JSON "
		"and CSV)",
		"N"},
	{"weight", 0, 0, G_OPTION_ARG_STRING, &given.weight,
		"what rows are weighed by: as sampled (the default; of a timer, time), or "
		"accesses, where executions were counted or traced, or by latency, where the "
		"processor measured it",
		"sampled|accesses|latency"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"write to this file instead of standard output", "FILE"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Which samples", lode_memory_filter_options},
	{"Histogram", lode_memory_histogram_options},
	{"First touch", lode_memory_first_touch_options},
	{"Data objects and other attributes", lode_memory_pivot_options},
	{"Sharing", lode_memory_sharing_options},
	{"Allocations and callers", lode_memory_allocations_options},
	{"Layout of a type", lode_memory_layout_options},
	{"Coverage", lode_memory_coverage_options},
	{NULL, NULL},
};

static LodeProfile *read_profile(const char *path, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory(path, &screen.progress, error);
	if (profile == NULL || profile->memory != NULL)
		return g_steal_pointer(&profile);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"%s: no data addresses were recorded; 'lode memory record -- PROGRAM' records them",
		path);
	return NULL;
}

static bool read_options(LodeMemoryViewInput *input, GError **error)
{
	uint64_t top = 0;

	if (!lode_option_format(given.format, &input->format, error))
		return false;
	if (!lode_option_count("--top", given.top, UINT32_MAX, &top, error))
		return false;
	input->top = (uint32_t)top;
	input->has_top = given.top != NULL;
	input->sort = given.sort;
	if (given.weight == NULL || strcmp(given.weight, "sampled") == 0 ||
		strcmp(given.weight, "accesses") == 0 || strcmp(given.weight, "latency") == 0)
		return true;
	return lode_option_refuse(
		error, "--weight: '%s' is not sampled, accesses or latency", given.weight);
}

/* Accesses in place of time, if they are asked for. */
static bool weigh(LodeProfile *profile, GError **error)
{
	LodeAccessWeights weights;
	char share[LODE_NUMBER_SIZE];

	if (g_strcmp0(given.weight, "latency") == 0) {
		bool is_weighed = lode_latency_weights_apply(profile, error);
		if (!is_weighed)
			g_prefix_error(error, "--weight latency: ");
		return is_weighed;
	}
	if (given.weight == NULL || strcmp(given.weight, "accesses") != 0)
		return true;
	if (!lode_access_weights_apply(profile, &weights, error)) {
		g_prefix_error(error, "--weight accesses: ");
		return false;
	}
	if (weights.unsampled > 0)
		lode_display_line(stderr,
			"lode memory: note: %s of the accesses are by instructions without a "
			"sample; they are in no row",
			lode_number_format_share(weights.unsampled / weights.accesses, share));
	return true;
}

static bool write_view(const LodeMemoryView *view, LodeMemoryViewInput *input, GError **error)
{
	LodeSampleFilterOptions filter;

	lode_memory_filter_options_read(&filter);
	filter.groups = view->groups != NULL ? view->groups() : NULL;
	input->definitions = filter.definitions;
	g_autoptr(GArray) samples = lode_sample_filter_apply(input->profile, &filter, error);
	g_autoptr(LodeOutputFile)
		file = samples != NULL ? lode_output_file_open(given.output, error) : NULL;
	if (file == NULL)
		return false;
	FILE *out = lode_output_file_stream(file);
	input->samples = (const uint32_t *)samples->data;
	input->n_samples = samples->len;
	input->terminal = lode_terminal_of(out);
	return view->write(input, out, error) && lode_output_file_commit(file, error);
}

static int run(char **arguments, GError **error)
{
	LodeMemoryViewInput input = {.format = LODE_VIEW_TEXT};
	const LodeMemoryView *view;

	if (!lode_options_take_one(arguments, "PROFILE.lode", error) ||
		!lode_memory_view_choose(&view, error) || !read_options(&input, error))
		return LODE_EXIT_USAGE;
	g_autoptr(LodeProfile) profile = read_profile(arguments[0], error);
	input.profile = profile;
	if (profile == NULL || !weigh(profile, error) || !write_view(view, &input, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_memory = {
	.name = "memory",
	.arguments = "PROFILE.lode",
	.summary = "show which threads access which addresses and data objects",
	.description =
		"Without options for a view: a histogram of accesses by address, for all "
		"threads together and for each thread.\n"
		"\n"
		"A sample is charged to the load or store that it belongs to. The address is "
		"computed from the registers and checked against the process's mappings; "
		"samples without an address are counted by reason below each view. Timer "
		"samples measure time: an access that waits long is sampled more often than "
		"one that does not, however often each is executed.\n"
		"\n"
		"Examples:\n"
		"  lode memory record -o x.lode -- ./program        record a program first\n"
		"  lode memory x.lode                               histogram by pages\n"
		"  lode memory x.lode --granularity line --thread 3 --plot x.svg\n"
		"  lode memory x.lode --by object\n"
		"  lode memory x.lode --by type --where 'function =~ \"^parse\"' --by2 line\n"
		"  lode memory x.lode --by object --weight accesses     where executions were "
		"counted\n"
		"  lode memory x.lode --callers 3                   recorded with -g\n"
		"  lode memory x.lode --layout 'struct node'\n"
		"  lode memory x.lode --sharing                     false sharing of cache lines\n"
		"  lode memory x.lode --first-touch",
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
};
