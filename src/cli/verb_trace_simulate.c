/* SPDX-License-Identifier: MIT */
/* lode trace simulate: replays a packed trace through caches. */
#include "base/number_format.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "cli/trace_simulate.h"
#include "views/display_text.h"

enum { MAX_THREADS = 1024 };

static struct {
	char *format, *output, *threads;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads (default: all processors)", "N"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"write to this file instead of standard output", "FILE"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Caches", lode_trace_cache_options},
	{"Part of the trace", lode_trace_sample_options},
	{"Miss-ratio curves", lode_trace_curve_options},
	{"Misses over time", lode_trace_time_options},
	{"Misses by place", lode_trace_miss_options},
	{"Pictures of curves and times", lode_trace_plot_options},
	{"Programs", lode_trace_program_options},
	{NULL, NULL},
};

static bool read_options(LodeTraceWork *work, LodeViewFormat *format, GError **error)
{
	uint64_t threads = 0;

	if (!lode_option_format(given.format, format, error))
		return false;
	if (!lode_option_count("--threads", given.threads, MAX_THREADS, &threads, error) ||
		!lode_trace_work_read(work, (unsigned)threads, error))
		return false;
	if (*format != LODE_VIEW_CSV || work->hierarchies == NULL ||
		!lode_trace_curves_are_wanted())
		return true;
	return lode_option_refuse(
		error, "--format csv has one table: that of --cache or that of --curve");
}

static LodeTraceReplay *replay(LodeTraceReader *reader, const LodeTraceWork *work, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	return lode_trace_replay_run(reader, &work->replay, &screen.progress, error);
}

static void tell_damage(const char *path, const LodeTraceReplay *replayed)
{
	bool is_named = g_str_has_prefix(replayed->damage, path);
	char number[LODE_NUMBER_SIZE];

	lode_display_line(stderr,
		"lode trace simulate: warning: %s%s%s; what is whole was replayed: %s references",
		is_named ? "" : path, is_named ? "" : ": ", replayed->damage,
		lode_number_format_count((double)replayed->n_references, number));
}

static int simulate(
	const char *path, const LodeTraceWork *work, LodeViewFormat format, GError **error)
{
	const LodeTraceReaderOptions reader_options = {
		.threads = work->replay.threads, .range = &work->range};
	g_autoptr(LodeTraceReader) reader = lode_trace_range_open(path, &reader_options, error);
	g_autoptr(LodeTraceReplay) replayed = reader != NULL ? replay(reader, work, error) : NULL;

	if (replayed == NULL)
		return LODE_EXIT_FAILED;
	lode_trace_results_tell_cores(&work->replay, lode_trace_reader_n_threads(reader));
	const LodeCacheResults results = {
		.path = path,
		.command = lode_trace_reader_description(reader)->command,
		.replay = replayed,
		.hierarchies = work->replay.hierarchies,
		.n_hierarchies = work->replay.n_hierarchies,
		.is_classified = work->replay.classifies,
	};
	if (!lode_trace_results_write(&results, 1, format, given.output, error))
		return LODE_EXIT_FAILED;
	if (replayed->damage == NULL)
		return LODE_EXIT_OK;
	tell_damage(path, replayed);
	return LODE_EXIT_FAILED;
}

static int run(char **arguments, GError **error)
{
	g_auto(LodeTraceWork) work = {0};
	LodeViewFormat format = LODE_VIEW_TEXT;
	bool is_whole = false, is_program;

	if (!lode_trace_program_check(arguments, &is_program, error) ||
		(!is_program && !lode_options_take_one(arguments, "TRACE.rps", error)) ||
		!read_options(&work, &format, error))
		return LODE_EXIT_USAGE;
	work.misses.format = format;
	work.misses.output = given.output;
	work.misses.is_of_program = is_program;
	if (is_program) {
		const LodeTraceProgram program = {
			(const char *const *)arguments + 1, format, given.output};
		return lode_trace_program_simulate(&program, &work, error);
	}
	if (!lode_trace_misses_are_wanted())
		return simulate(arguments[0], &work, format, error);
	if (!lode_trace_misses_write_file(arguments[0], &work.misses, &is_whole, error))
		return LODE_EXIT_FAILED;
	return is_whole ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_simulate = {
	.name = "trace simulate",
	.arguments = "TRACE.rps | -- PROGRAM [ARGUMENT…]",
	.summary = "replay an address trace, or a program, through caches",
	.description =
		"Replays all references of the trace through the caches, in one pass for all "
		"hierarchies. The counts are exact for caches that work as described; the "
		"caches of a real processor do so only approximately. docs/traces.md has the "
		"grammar of descriptions and the definition of the counts.\n"
		"\n"
		"The presets are host, cachegrind, skylake-server, zen3, cortex-a72 and "
		"apple-m1; parts may follow, as in host,cores=4. Threads are assigned to this "
		"number of cores in turn; without cores= there is one core and no sharing.\n"
		"\n"
		"Of a PROGRAM after '--' references are simulated while it runs, as 'trace "
		"record' would trace it, and nothing of them is kept; results are those of its "
		"trace. Each process, and each program that one executes, is simulated by "
		"itself, beginning with empty caches; --by, --branches and --sharing show what "
		"all of them add up to. The program has the standard input, "
		"output and error of lode, and lode exits with its status; results go to "
		"standard output if that is a terminal, else to standard error. Ctrl-C ends "
		"the program, and what it did until then is shown.\n"
		"\n"
		"--curve gives the misses of fully associative LRU caches of all sizes at "
		"once, from the stack distances of the trace; no other caches are simulated "
		"unless --cache or --classify is given too.\n"
		"\n"
		"--by shows where the misses are: it makes a profile of the trace as 'lode "
		"import' does, and shows one of its simulated events.\n"
		"\n"
		"--branches predicts the branches of the trace: conditional ones by TAGE and "
		"indirect ones by ITTAGE, or both as callgrind does. Returns are taken to be "
		"predicted.\n"
		"\n"
		"Of a damaged file the undamaged beginning is replayed, and the exit status is "
		"1.\n"
		"\n"
		"Examples:\n"
		"  lode trace simulate x.rps                        this machine's caches\n"
		"  lode trace simulate x.rps --cache i1=32K:8:64,d1=32K:8:64,l2=1M:16:64\n"
		"  lode trace simulate x.rps --cache d1=8K..1M:8:64 --classify\n"
		"  lode trace simulate x.rps --cache host,cores=4 --classify\n"
		"  lode trace simulate x.rps --cache host,cores=4 --sharing\n"
		"  lode trace simulate x.rps --curve data --curve instructions\n"
		"  lode trace simulate x.rps --curve data --by thread --plot-curve x.svg\n"
		"  lode trace simulate x.rps --cache host --plot-curve x.svg\n"
		"  lode trace simulate x.rps --over-time 20\n"
		"  lode trace simulate x.rps --over-time 200 --plot-times x.svg -o x.txt\n"
		"  lode trace simulate x.rps --by line --event l1d-miss\n"
		"  lode trace simulate x.rps --branches tage --by line\n"
		"  lode trace simulate -- ./program argument\n"
		"  lode trace simulate --by function -- ./program argument\n"
		"  lode trace simulate --only cc1 -o x.txt -- make",
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
	.may_wrap = true,
};
