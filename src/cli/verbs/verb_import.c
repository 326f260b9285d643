/* SPDX-License-Identifier: MIT */
/* lode import: makes a profile of existing recordings. */
#include "base/error.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "ingest/import.h"
#include "ingest/traced/traced_recording.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "questions/parts/simulated_caches.h"
#include "questions/parts/trace_selection.h"
#include "sources/recording.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"
#include "views/profile/import_summary.h"

#include <stdio.h>
#include <string.h>

typedef struct {
	LodeImportOptions import;
	LodeTraceSelection part;
	const char *output, *simulate;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, output, PROFILE), .value = "FILE",
		.summary = "the profile to write; an existing one is renamed to FILE.old"},
	{"symfs", LODE_FILES(Options, import.roots), .value = "DIR",
		.summary = "a folder with the files of the machine or container that was "
			   "recorded, at their paths; may be repeated"},
	{"map", LODE_FILES(Options, import.maps), .value = "FILE",
		.summary = "addresses of the images in memory: /proc/PID/maps, or the log of "
			   "valgrind -v -v -v; may be repeated"},
	{"jit", LODE_FILES(Options, import.jit_files), .value = "FILE",
		.summary = "code generated at run time: a jitdump (jit-PID.dump) or a perf map "
			   "(perf-PID.map); may be repeated"},
	{"attributes", LODE_FILES(Options, import.attribute_files), .value = "FILE",
		.summary = "a CSV file with your own attributes; may be repeated"},
	{"simulate", LODE_TEXT(Options, simulate), .value = "CACHES",
		.summary = "replay the address trace through these caches: a description such as "
			   "d1=32K:8:64,l2=1M:16:64, or a preset such as host"},
	{"classify", LODE_FLAG(Options, import.replay.classifies), .needs = "simulate",
		.summary = "with --simulate: classify the data misses of the first level, as "
			   "events such as false-sharing-miss"},
	{"branches", LODE_WORD(Options, import.replay.branches), .value = "tage|callgrind",
		.read = lode_branch_model_from_text,
		.given = offsetof(Options, import.replay.predicts_branches),
		.summary = "predict the branches of the address trace, as processors of today do "
			   "or as callgrind does: the event branch-miss"},
	{"only", LODE_TEXTS(Options, import.only), .value = "GLOB",
		.summary = "only samples of programs with such a name, such as 'cc1*' (with a "
			   "slash: such a path); may be repeated"},
	{"no-follow", LODE_FLAG(Options, import.is_alone),
		.summary = "only samples of the program itself, not of those that it started"},
	{"native", LODE_FLAG(Options, import.is_native),
		.summary = "of interpreters their own functions, not those of the scripts that "
			   "they run"},
	{"next-access", LODE_FLAG(Options, import.charges_next_access),
		.summary = "charge timer samples to the next access, in place of the one that was "
			   "waited for"},
	{"skip-frame", LODE_TEXTS(Options, import.skipped_frames), .value = "GLOB",
		.summary = "name no allocation after a function or library of this name, but "
			   "after its caller: a wrapper around an allocator; * and ? stand for any "
			   "text and character; may be repeated"},
	{"debuginfod", LODE_FLAG(Options, import.allow_debuginfod),
		.summary = "fetch missing binaries and debug information from the servers in "
			   "DEBUGINFOD_URLS"},
	{"program", LODE_TEXT(Options, import.program), .value = "TEXT",
		.summary = "the command line to store in the profile (default: as recorded)"},
	{"threads", LODE_COUNT(Options, import.threads), .most = G_MAXINT, .value = "N",
		.summary = "the number of threads (default: all processors)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part of an address trace", lode_trace_selection_warm_rows, offsetof(Options, part)},
	{NULL},
};

static size_t length(const char *const *list)
{
	return list != NULL ? g_strv_length((char **)list) : 0;
}

static bool check_arguments(const Options *given, char **arguments, GError **error)
{
	if (arguments[0] == NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"the name of a recording is missing, such as perf.data");
	else if (given->output == NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"-o is missing: the profile to write, such as -o x.lode");
	return arguments[0] != NULL && given->output != NULL &&
	       lode_profile_store_can_keep_old(given->output, error);
}

static void warn_of_cut(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_CUT_SHORT) == 0 ||
			strcmp(row->reason, LODE_CUT_DESCRIPTION) == 0)
			lode_display_line(stderr,
				"lode import: warning: %s: the recording is cut short or damaged; "
				"what is whole was imported",
				row->example);
	}
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;
	LodeImportOptions *import = &given->import;

	if (!check_arguments(given, arguments, error) ||
		!lode_trace_selection_check(&given->part, error))
		return LODE_EXIT_USAGE;
	g_autoptr(LodeHierarchy) hierarchy = given->simulate != NULL
	                                             ? lode_simulated_caches_read(
							       "--simulate", given->simulate, error)
	                                             : NULL;
	if (given->simulate != NULL && hierarchy == NULL)
		return LODE_EXIT_FAILED;
	import->paths = (const char *const *)arguments;
	import->n_paths = length(import->paths);
	import->n_roots = length(import->roots);
	import->n_maps = length(import->maps);
	import->n_jit_files = length(import->jit_files);
	import->n_attribute_files = length(import->attribute_files);
	import->checks_jit_files = true;
	import->replay.hierarchy = hierarchy;
	import->replay.names_stores = import->replay.classifies;
	import->replay.range = given->part.is_part ? &given->part.range : NULL;
	import->replay.function = given->part.function;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_import(import, &screen.progress, error);
	if (profile == NULL ||
		!lode_profile_store_write(given->output, profile, &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	lode_import_summary_write(profile, given->output, stdout);
	warn_of_cut(profile);
	const char *damage = lode_traced_damage(profile);
	if (damage == NULL)
		return LODE_EXIT_OK;
	bool is_named = g_str_has_prefix(damage, arguments[0]);
	lode_display_line(stderr, "lode import: warning: %s%s%s; what is whole was imported",
		is_named ? "" : arguments[0], is_named ? "" : ": ", damage);
	return LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_import = {
	.name = "import",
	.arguments = "FILE…",
	.summary = "make a profile of recordings",
	.description =
		"The files are perf.data files, recorded by perf or by 'lode record'; "
		"counts files, kept by 'lode run --keep-recording'; callgrind's output files (see "
		"'man lode-import' for its options); one address trace, made by "
		"'lode trace record' or 'lode trace pack'; or one flow file. There may be several "
		"perf.data files and counts files or callgrind's, of one or more programs and "
		"processes.\n"
		"\n"
		"From perf.data alone, execution counts are inferred from the samples, or "
		"taken from branch stacks. From perf.data and counts or callgrind's files of the "
		"same program, time comes from the samples and execution counts from the others. "
		"From an address trace, all executions, jumps and data accesses are exact; "
		"--simulate adds the misses of caches, given by a preset (host, cachegrind, "
		"skylake-server, zen3, cortex-a72, apple-m1), optionally followed by parts, as "
		"in host,cores=4 for threads on four cores, or by a description.\n"
		"\n"
		"Binaries are taken if they are those that were recorded: by build-id, else by "
		"device, inode and time. They are looked for among the FILEs, which may be "
		"binaries, folders that hold some, and archives of 'perf archive'; below "
		"--symfs; in the recording, where 'lode record' keeps what lies at no path; at "
		"their own paths; in ~/.debug and /usr/lib/debug. 'lode info' lists those that "
		"were not found. Jitdumps that a recorded process had mapped, and perf maps in "
		"/tmp, are found automatically.\n"
		"\n"
		"Examples:\n"
		"  lode import perf.data -o x.lode\n"
		"  lode import perf.data --symfs /mnt/rootfs -o x.lode\n"
		"  lode import perf.data perf.data.tar.bz2 ./build -o x.lode\n"
		"  lode import perf.data callgrind.out.* -o x.lode\n"
		"  lode import callgrind.out.17 --map valgrind.17.log -o x.lode\n"
		"  lode import x.rps --simulate host -o x.lode\n"
		"  lode import graphs.flow -o graphs.lode",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
