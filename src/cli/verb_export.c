/* SPDX-License-Identifier: MIT */
/* lode export: a profile in the formats of other tools. */
#include "base/error.h"
#include "base/output_file.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "sources/flow_file.h"
#include "store/profile_store.h"
#include "views/export/callgrind_export.h"
#include "views/export/stack_export.h"

#include <string.h>

static struct {
	char *output, *format, *weight, *event_rate;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format,
		"flow: a flow file (default); callgrind: for KCachegrind; pprof: for 'go tool "
		"pprof'; firefox: for profiler.firefox.com; folded: call stacks for flame graphs",
		"FORMAT"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the file to write (default: standard output)", "FILE"},
	{"weight", 0, 0, G_OPTION_ARG_STRING, &given.weight,
		"flow, firefox, folded: the event that becomes the weight; pprof: the one that is "
		"shown first (default: the profile's, see 'lode info')",
		"EVENT"},
	{"event-rate", 0, 0, G_OPTION_ARG_STRING, &given.event_rate,
		"flow: an instruction gets ev:EVENT from this many events per execution (default: "
		"0.01)",
		"RATE"},
	G_OPTION_ENTRY_NULL,
};

/* What is given with the formats' functions; `weight` LODE_NONE: none was asked for. */
typedef struct {
	const LodeProfile *profile;
	uint32_t weight;
	double event_rate;
	FILE *out;
} Export;

static bool write_flow(const Export *self, GError **error)
{
	uint32_t weight = self->weight != LODE_NONE ? self->weight : self->profile->weight_event;

	return lode_flow_file_write(self->profile, weight, self->event_rate, self->out, error);
}

static bool write_callgrind(const Export *self, GError **error)
{
	return lode_callgrind_write(self->profile, self->out, error);
}

typedef bool (*WriteStacks)(const LodeStackExport *stacks, FILE *out, GError **error);

static bool write_stacks(const Export *self, WriteStacks write, GError **error)
{
	g_auto(LodeStackExport) stacks = {0};

	if (!lode_stack_export_init(&stacks, self->profile, self->weight, error))
		return false;
	if (stacks.made != NULL)
		g_printerr("lode export: no call stacks were recorded: each instruction stands "
			   "alone; 'lode run -g' records them\n");
	return write(&stacks, self->out, error);
}

static bool write_pprof(const Export *self, GError **error)
{
	return write_stacks(self, lode_pprof_write, error);
}

static bool write_firefox(const Export *self, GError **error)
{
	return write_stacks(self, lode_firefox_profile_write, error);
}

static bool write_folded(const Export *self, GError **error)
{
	return write_stacks(self, lode_folded_stacks_write, error);
}

typedef struct {
	const char *name;
	bool (*write)(const Export *self, GError **error);
	bool has_weight, has_event_rate;
} Format;

static const Format formats[] = {
	{"flow", write_flow, true, true},
	{"callgrind", write_callgrind, false, false},
	{"pprof", write_pprof, true, false},
	{"firefox", write_firefox, true, false},
	{"folded", write_folded, true, false},
};

static bool find_format(const Format **out_format, GError **error)
{
	const char *name = given.format != NULL ? given.format : "flow";

	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
		if (strcmp(formats[i].name, name) != 0)
			continue;
		*out_format = &formats[i];
		if (given.weight != NULL && !formats[i].has_weight)
			return lode_option_refuse(
				error, "--weight: the format %s has all events", name);
		if (given.event_rate != NULL && !formats[i].has_event_rate)
			return lode_option_refuse(
				error, "--event-rate: the format %s has no attributes", name);
		return true;
	}
	return lode_option_refuse(
		error, "--format: '%s' is none of flow, callgrind, pprof, firefox, folded", name);
}

static bool find_weight(const LodeProfile *profile, uint32_t *out_event, GError **error)
{
	*out_event = LODE_NONE;
	if (given.weight == NULL)
		return true;
	*out_event = lode_profile_find_event(profile, given.weight);
	if (*out_event == LODE_NONE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no event '%s'; 'lode info' lists them", given.weight);
	return *out_event != LODE_NONE;
}

static int run(char **arguments, GError **error)
{
	Export self = {.event_rate = 0.01};
	const Format *format = NULL;

	if (!lode_options_take_one(arguments, "PROFILE.lode", error) ||
		!find_format(&format, error) ||
		!lode_option_number("--event-rate", given.event_rate, &self.event_rate, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_profile_store_read_with_stacks(
		arguments[0], &screen.progress, error);
	if (profile == NULL || !find_weight(profile, &self.weight, error))
		return LODE_EXIT_FAILED;
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given.output, error);
	if (output == NULL)
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	self.profile = profile;
	self.out = lode_output_file_stream(output);
	if (!format->write(&self, error) || !lode_output_file_commit(output, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_export = {
	.name = "export",
	.arguments = "PROFILE.lode",
	.summary = "write a profile in the formats of other tools",
	.description =
		"A flow file has the profile's flow graphs; 'lode import' reads it and makes the "
		"same graphs\nfrom it. Call stacks are there if they were recorded: 'lode run -g', "
		"'lode record -g',\n'perf record -g'. What KCachegrind shows of calls comes "
		"from the\nsamples then; else it is worked out from the number of calls, as "
		"gprof does.\n"
		"\n"
		"Examples:\n"
		"  lode export x.lode -o x.flow\n"
		"  lode export x.lode --weight l1d-miss | zstd >x.flow.zst\n"
		"  lode export x.lode --format callgrind -o callgrind.out.x\n"
		"  lode export x.lode --format pprof -o x.pb.gz\n"
		"  lode export x.lode --format folded | flamegraph.pl >x.svg",
	.old_options = options,
	.old_run = run,
};
