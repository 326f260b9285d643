/* SPDX-License-Identifier: MIT */
/* lode import: recordings that are there already become a profile. */
#include "base/error.h"
#include "base/output_file.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "cli/whole_trace.h"
#include "ingest/import.h"
#include "model/profile.h"
#include "questions/simulated_caches.h"
#include "store/profile_store.h"
#include "views/import_summary.h"

#include <stdio.h>

static struct {
	char *output, *program, *threads, *simulate, *branches;
	char **roots, **maps, **jit_files, **attributes, **skipped_frames, **only;
	gboolean is_alone;
	gboolean allow_debuginfod, classifies, charges_next_access;
} given;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the profile to write; an existing one is replaced", "FILE"},
	{"symfs", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.roots,
		"a folder with the files of the machine or container that was recorded, at their "
		"paths; may be repeated",
		"DIR"},
	{"map", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.maps,
		"addresses of the images in memory: /proc/PID/maps, or the log of valgrind -v "
		"-v -v; may be repeated",
		"FILE"},
	{"jit", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.jit_files,
		"code generated at run time: a jitdump (jit-PID.dump) or a perf map "
		"(perf-PID.map); may be repeated",
		"FILE"},
	{"attributes", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.attributes,
		"a CSV file with your own attributes; may be repeated", "FILE"},
	{"simulate", 0, 0, G_OPTION_ARG_STRING, &given.simulate,
		"replay the address trace through these caches: a description such as "
		"d1=32K:8:64,l2=1M:16:64, or a preset such as host",
		"CACHES"},
	{"classify", 0, 0, G_OPTION_ARG_NONE, &given.classifies,
		"with --simulate: classify the data misses of the first level, as events such as "
		"false-sharing-miss",
		NULL},
	{"branches", 0, 0, G_OPTION_ARG_STRING, &given.branches,
		"predict the branches of the address trace, as processors of today do or as "
		"callgrind does: the event branch-miss",
		"tage|callgrind"},
	{"only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.only,
		"only samples of programs with such a name, such as 'cc1*' (with a slash: such a "
		"path); may be repeated",
		"GLOB"},
	{"no-follow", 0, 0, G_OPTION_ARG_NONE, &given.is_alone,
		"only samples of the program itself, not of those that it started", NULL},
	{"next-access", 0, 0, G_OPTION_ARG_NONE, &given.charges_next_access,
		"charge timer samples to the next access, in place of the one that was waited for",
		NULL},
	{"skip-frame", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.skipped_frames,
		"name no allocation after a function or library of this name, but after its "
		"caller: a wrapper around an allocator; * and ? stand for any text and "
		"character; may be repeated",
		"GLOB"},
	{"debuginfod", 0, 0, G_OPTION_ARG_NONE, &given.allow_debuginfod,
		"fetch missing binaries and debug information from the servers in DEBUGINFOD_URLS",
		NULL},
	{"program", 0, 0, G_OPTION_ARG_STRING, &given.program,
		"the command line to store in the profile (default: as recorded)", "TEXT"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads (default: all processors)", "N"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Part of an address trace", lode_trace_warm_range_options},
	{NULL, NULL},
};

static bool check_arguments(char **arguments, GError **error)
{
	if (arguments[0] == NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"FILE is missing: a recording to import");
	else if (given.output == NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"-o is missing: the profile to write, such as -o x.lode");
	if (arguments[0] == NULL || given.output == NULL)
		return false;
	for (size_t i = 0; arguments[i] != NULL; i++)
		if (!lode_output_file_spares(given.output, arguments[i], error))
			return false;
	return true;
}

static int run(char **arguments, GError **error)
{
	int branches = given.branches != NULL ? lode_branch_model_from_text(given.branches) : 0;
	uint64_t threads = 0;

	if (branches < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--branches: '%s' is not tage or callgrind", given.branches);
		return LODE_EXIT_USAGE;
	}
	if (given.classifies && given.simulate == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--classify needs --simulate: the caches whose misses it classifies");
		return LODE_EXIT_USAGE;
	}
	if (!check_arguments(arguments, error) ||
		!lode_option_count("--threads", given.threads, G_MAXINT, &threads, error))
		return LODE_EXIT_USAGE;
	LodeTraceRange range;
	if (!lode_trace_range_read(&range, error))
		return LODE_EXIT_USAGE;
	g_autoptr(LodeHierarchy) hierarchy = given.simulate != NULL
	                                             ? lode_simulated_caches_read(
							       "--simulate", given.simulate, error)
	                                             : NULL;
	if (given.simulate != NULL && hierarchy == NULL)
		return LODE_EXIT_FAILED;
	const LodeImportOptions import = {
		.paths = (const char *const *)arguments,
		.n_paths = g_strv_length(arguments),
		.roots = (const char *const *)given.roots,
		.n_roots = given.roots != NULL ? g_strv_length(given.roots) : 0,
		.checks_jit_files = true,
		.maps = (const char *const *)given.maps,
		.n_maps = given.maps != NULL ? g_strv_length(given.maps) : 0,
		.jit_files = (const char *const *)given.jit_files,
		.n_jit_files = given.jit_files != NULL ? g_strv_length(given.jit_files) : 0,
		.attribute_files = (const char *const *)given.attributes,
		.n_attribute_files = given.attributes != NULL ? g_strv_length(given.attributes) : 0,
		.hierarchy = hierarchy,
		.classifies = given.classifies,
		.names_stores = given.classifies,
		.predicts_branches = given.branches != NULL,
		.branches = (LodeBranchModel)branches,
		.range = lode_trace_range_is_given() ? &range : NULL,
		.function = lode_trace_range_function(),
		.program = given.program,
		.only = (const char *const *)given.only,
		.is_alone = given.is_alone,
		.skipped_frames = (const char *const *)given.skipped_frames,
		.allow_debuginfod = given.allow_debuginfod,
		.charges_next_access = given.charges_next_access,
		.threads = (unsigned)threads,
	};
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_import(&import, &screen.progress, error);
	if (profile == NULL ||
		!lode_profile_store_write(given.output, profile, &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	lode_import_summary_write(profile, given.output, stdout);
	return lode_whole_trace_check("import", arguments[0], profile, "what is whole was imported")
	               ? LODE_EXIT_OK
	               : LODE_EXIT_FAILED;
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
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
};
