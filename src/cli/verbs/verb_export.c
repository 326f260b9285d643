/* SPDX-License-Identifier: MIT */
/* lode export: a profile in the formats of other tools. */
#include "base/error.h"
#include "base/files/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "questions/parts/part_rows.h"
#include "sources/flow_file/flow_file.h"
#include "store/profile_store.h"
#include "views/export/callgrind_export.h"
#include "views/export/compiler_profile.h"
#include "views/export/stack_export.h"

#include <string.h>
#include <unistd.h>

typedef struct {
	LodePartChoice part;
	const char *output, *weight;
	const char *const *binaries;
	unsigned format; /* its place in `formats` */
	double event_rate;
	bool has_event_rate;
} Options;

static const LodeParameter rows[] = {
	{"format", LODE_WORD(Options, format),
		.value = "flow|callgrind|pprof|firefox|folded|autofdo|autofdo-gcc|bolt",
		.summary = "flow: a flow file (default); callgrind: for KCachegrind; pprof: for "
			   "'go tool pprof'; firefox: for profiler.firefox.com; folded: call "
			   "stacks for flame graphs; autofdo: for clang -fprofile-sample-use; "
			   "autofdo-gcc: for gcc -fauto-profile; bolt: for perf2bolt -pa"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.summary = "the file to write (default: standard output)"},
	{"weight", LODE_TEXT(Options, weight), .value = "EVENT",
		.summary = "flow, firefox, folded: the event that becomes the weight; pprof: the "
			   "one that is shown first (default: the profile's, see 'lode info')"},
	{"event-rate", LODE_NUMBER(Options, event_rate), .given = offsetof(Options, has_event_rate),
		.value = "RATE", .standard = "0.01",
		.summary = "flow: an instruction gets ev:EVENT from this many events per "
			   "execution (default: 0.01)"},
	{"binary", LODE_TEXTS(Options, binaries), .value = "NAME",
		.summary = "autofdo, autofdo-gcc, bolt: the program or library, by its path or "
			   "file name (default: the program); autofdo, autofdo-gcc: may be "
			   "repeated"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

/* Arguments of the formats' functions; `weight` LODE_NONE: none was given. */
typedef struct {
	const LodeProfile *profile;
	uint32_t weight;
	double event_rate;
	const char *const *binaries; /* NULL: none was named */
	FILE *out;
} Export;

static bool write_flow(const Export *self, GError **error)
{
	uint32_t weight = self->weight != LODE_NONE ? self->weight
	                                            : self->profile->code.weight_event;

	return lode_flow_file_write(self->profile, weight, self->event_rate, self->out, error);
}

static bool write_callgrind(const Export *self, GError **error)
{
	return lode_callgrind_write(self->profile, self->out, error);
}

typedef bool (*WriteStacks)(const LodeStackExport *stacks, FILE *out, GError **error);

typedef bool (*InitStacks)(
	LodeStackExport *stacks, const LodeProfile *profile, uint32_t weight, GError **error);

static bool write_stacks(const Export *self, InitStacks init, WriteStacks write, GError **error)
{
	g_auto(LodeStackExport) stacks = {0};

	if (!init(&stacks, self->profile, self->weight, error))
		return false;
	if (stacks.made != NULL || !stacks.stacks->has_chains)
		g_printerr("lode export: no call stacks were recorded: each %s; 'lode run -g' "
			   "records them\n",
			stacks.made != NULL       ? "instruction stands alone"
			: stacks.stacks->has_tops ? "sample has its nearest callers only"
						  : "sample stands alone");
	return write(&stacks, self->out, error);
}

static bool write_pprof(const Export *self, GError **error)
{
	return write_stacks(self, lode_stack_export_init, lode_pprof_write, error);
}

static bool write_firefox(const Export *self, GError **error)
{
	return write_stacks(
		self, lode_stack_export_init_samples, lode_firefox_profile_write, error);
}

static bool write_folded(const Export *self, GError **error)
{
	return write_stacks(self, lode_stack_export_init, lode_folded_stacks_write, error);
}

typedef bool (*WriteCompilerProfile)(
	const LodeCompilerProfile *compiled, FILE *out, GError **error);

static bool write_compiler_profile(
	const Export *self, LodeCompiler compiler, WriteCompilerProfile write, GError **error)
{
	g_autoptr(LodeCompilerProfile) compiled = lode_compiler_profile_new(
		self->profile, compiler, self->binaries, error);

	return compiled != NULL && write(compiled, self->out, error);
}

static bool write_autofdo(const Export *self, GError **error)
{
	return write_compiler_profile(self, LODE_COMPILER_LLVM, lode_sample_profile_write, error);
}

static bool write_autofdo_gcc(const Export *self, GError **error)
{
	return write_compiler_profile(self, LODE_COMPILER_GCC, lode_auto_profile_write, error);
}

static bool write_bolt(const Export *self, GError **error)
{
	const char *binary = self->binaries != NULL ? self->binaries[0] : NULL;

	return lode_bolt_profile_write(self->profile, binary, self->out, error);
}

typedef struct {
	const char *name;
	bool (*write)(const Export *self, GError **error);
	bool has_weight, has_event_rate, is_binary;
	guint n_binaries; /* that can be chosen; 0: it has all */
} Format;

static const Format formats[] = {
	{"flow", write_flow, .has_weight = true, .has_event_rate = true},
	{"callgrind", write_callgrind},
	{"pprof", write_pprof, .has_weight = true, .is_binary = true},
	{"firefox", write_firefox, .has_weight = true},
	{"folded", write_folded, .has_weight = true},
	{"autofdo", write_autofdo, .n_binaries = G_MAXUINT},
	{"autofdo-gcc", write_autofdo_gcc, .n_binaries = G_MAXUINT, .is_binary = true},
	{"bolt", write_bolt, .n_binaries = 1},
};

static const Format *find_format(const Options *given, GError **error)
{
	const Format *found = &formats[given->format];

	if (given->weight != NULL && !found->has_weight)
		lode_parameter_refuse(error, "--weight: the format %s has %s", found->name,
			found->n_binaries > 0 ? "executions" : "all events");
	else if (given->binaries != NULL && found->n_binaries == 0)
		lode_parameter_refuse(
			error, "--binary: the format %s has all binaries", found->name);
	else if (given->binaries != NULL &&
		 g_strv_length((char **)given->binaries) > found->n_binaries)
		lode_parameter_refuse(error, "--binary: the format %s has one", found->name);
	else if (given->has_event_rate && !found->has_event_rate)
		lode_parameter_refuse(
			error, "--event-rate: the format %s has no attributes", found->name);
	else if (found->is_binary && isatty(STDOUT_FILENO) == 1 &&
		 (given->output == NULL || strcmp(given->output, "-") == 0))
		lode_parameter_refuse(
			error, "%s is not for a terminal: name a file by -o", found->name);
	else
		return found;
	return NULL;
}

static bool find_weight(
	const LodeProfile *profile, const char *name, uint32_t *out_event, GError **error)
{
	*out_event = LODE_NONE;
	if (name == NULL)
		return true;
	*out_event = lode_profile_find_weight(profile, name);
	if (*out_event == LODE_NONE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no event '%s'; 'lode info' lists them", name);
	return *out_event != LODE_NONE;
}

static bool take_part(LodeProfile *profile, const Options *given, const char *path,
	const LodeProgress *progress, GError **error)
{
	if (lode_part_choice_is_whole(&given->part) ||
		lode_part_choice_apply(profile, &given->part, progress, error))
		return true;
	g_prefix_error(error, "%s: ", path);
	return false;
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;
	Export self = {.event_rate = given->event_rate};

	if (!lode_parameter_take_one(arguments, "profile", "x.lode", error))
		return LODE_EXIT_USAGE;
	const Format *format = find_format(given, error);
	if (format == NULL)
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_profile_store_read_with_stacks(
		arguments[0], &screen.progress, error);
	if (profile == NULL || !take_part(profile, given, arguments[0], &screen.progress, error) ||
		!find_weight(profile, given->weight, &self.weight, error))
		return LODE_EXIT_FAILED;
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given->output, error);
	if (output == NULL)
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	self.profile = profile;
	self.binaries = given->binaries;
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
		"'lode record -g',\n'perf record -g'. The calls in KCachegrind come "
		"from the\nsamples then; else they are worked out from the number of calls, as "
		"gprof does.\n"
		"autofdo, autofdo-gcc and bolt are for building the program again: they need its "
		"file as it\nran, with debug information (-g; clang: also "
		"-fdebug-info-for-profiling).\n"
		"\n"
		"Examples:\n"
		"  lode export x.lode -o x.flow\n"
		"  lode export x.lode --weight l1d-miss | zstd >x.flow.zst\n"
		"  lode export x.lode --format callgrind -o callgrind.out.x\n"
		"  lode export x.lode --format pprof -o x.pb.gz\n"
		"  lode export x.lode --format folded | flamegraph.pl >x.svg\n"
		"  lode export x.lode --format autofdo -o x.prof",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
