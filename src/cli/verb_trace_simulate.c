/* SPDX-License-Identifier: MIT */
/* lode trace simulate: replays a packed trace through caches. */
#include "base/error.h"
#include "base/number_format.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/trace_simulation.h"

enum { MAX_THREADS = 1024 };

static struct {
	char *format, *output, *threads;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "how it is written (default: text)",
		"text|json|csv"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"workers (default: as many as there are processors)", "N"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"write to this file instead of standard output", "FILE"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Caches", lode_trace_cache_options},
	{"Miss-ratio curves", lode_trace_curve_options},
	{"Pictures", lode_trace_plot_options},
	{NULL, NULL},
};

typedef struct {
	LodeViewFormat format;
	GPtrArray *hierarchies; /* LodeHierarchy */
	GArray *curves;         /* LodeStackDistancesOptions */
	uint64_t threads;
} Wanted;

static void clear_wanted(Wanted *self)
{
	g_clear_pointer(&self->hierarchies, g_ptr_array_unref);
	g_clear_pointer(&self->curves, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wanted, clear_wanted)

/* Curves only when they are asked for; caches too, or when nothing is. */
static bool read_work(Wanted *self, GError **error)
{
	bool wants_curves = lode_trace_curves_are_wanted() || lode_trace_plots_need_curves();
	g_autofree char *note = NULL;

	if (wants_curves && (self->curves = lode_trace_curves_read(error)) == NULL)
		return false;
	if (wants_curves && !lode_trace_caches_are_wanted())
		return true;
	self->hierarchies = lode_trace_caches_read(&note, error);
	if (note != NULL)
		fprintf(stderr, "lode trace simulate: %s\n", note);
	return self->hierarchies != NULL;
}

static bool read_options(Wanted *self, GError **error)
{
	if (given.format != NULL && !lode_view_format_from_text(given.format, &self->format)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--format: '%s' is not text, json or csv", given.format);
		return false;
	}
	if (!lode_option_count("--threads", given.threads, MAX_THREADS, &self->threads, error) ||
		!lode_trace_plots_check(error) || !read_work(self, error))
		return false;
	if (self->format == LODE_VIEW_CSV && self->hierarchies != NULL &&
		lode_trace_curves_are_wanted()) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--format csv has one table: that of --cache or that of --curve");
		return false;
	}
	return true;
}

static LodeTraceReplay *replay(LodeTraceReader *reader, const Wanted *wanted, GError **error)
{
	const LodeTraceReplayOptions replay_options = {
		.hierarchies = wanted->hierarchies != NULL
	                               ? (const LodeHierarchy *const *)wanted->hierarchies->pdata
	                               : NULL,
		.n_hierarchies = wanted->hierarchies != NULL ? wanted->hierarchies->len : 0,
		.distances =
			wanted->curves != NULL
				? (const LodeStackDistancesOptions *)(void *)wanted->curves->data
				: NULL,
		.n_distances = wanted->curves != NULL ? wanted->curves->len : 0,
		.classifies = lode_trace_caches_are_classified(),
		.threads = (unsigned)wanted->threads,
	};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	return lode_trace_replay_run(reader, &replay_options, &screen.progress, error);
}

static bool write_results(const LodeCacheResults *results, LodeViewFormat format, GError **error)
{
	LodeCacheResultsOptions view = {.format = format};

	if (!lode_trace_plots_write(results, error))
		return false;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(given.output, error);
	if (file == NULL)
		return false;
	FILE *out = lode_output_file_stream(file);
	view.terminal = lode_terminal_of(out);
	return lode_cache_results_write(results, &view, out, error) &&
	       lode_output_file_commit(file, error);
}

static void tell_damage(const char *path, const LodeTraceReplay *replayed)
{
	bool is_named = g_str_has_prefix(replayed->damage, path);
	char number[LODE_NUMBER_SIZE];

	fprintf(stderr,
		"lode trace simulate: warning: %s%s%s; what is whole was replayed: %s references\n",
		is_named ? "" : path, is_named ? "" : ": ", replayed->damage,
		lode_number_format_count((double)replayed->n_references, number));
}

static int simulate(const char *path, const Wanted *wanted, GError **error)
{
	const LodeTraceReaderOptions reader_options = {.threads = (unsigned)wanted->threads};
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &reader_options, error);
	g_autoptr(LodeTraceReplay) replayed = reader != NULL ? replay(reader, wanted, error) : NULL;

	if (replayed == NULL)
		return LODE_EXIT_FAILED;
	const LodeCacheResults results = {
		.path = path,
		.command = lode_trace_reader_description(reader)->command,
		.replay = replayed,
		.hierarchies = wanted->hierarchies != NULL
	                               ? (const LodeHierarchy *const *)wanted->hierarchies->pdata
	                               : NULL,
		.n_hierarchies = wanted->hierarchies != NULL ? wanted->hierarchies->len : 0,
		.is_classified = lode_trace_caches_are_classified(),
	};
	if (!write_results(&results, wanted->format, error))
		return LODE_EXIT_FAILED;
	if (replayed->damage == NULL)
		return LODE_EXIT_OK;
	tell_damage(path, replayed);
	return LODE_EXIT_FAILED;
}

static int run(char **arguments, GError **error)
{
	g_auto(Wanted) wanted = {.format = LODE_VIEW_TEXT};

	if (!lode_options_take_one(arguments, "TRACE.rps", error) || !read_options(&wanted, error))
		return LODE_EXIT_USAGE;
	return simulate(arguments[0], &wanted, error);
}

const LodeVerb lode_verb_trace_simulate = {
	.name = "trace simulate",
	.arguments = "TRACE.rps",
	.summary = "replay an address trace through caches",
	.description =
		"Every reference of the trace goes through the caches, in one pass for all "
		"hierarchies; the counts are exact for caches that work as described, which those "
		"of a processor only do roughly. docs/traces.md tells the grammar of descriptions "
		"and what counts as what.\n"
		"\n"
		"--curve gives the misses of all sizes of fully associative LRU caches at once, "
		"from the stack distances of the trace; it replays through no other caches unless "
		"--cache or --classify is given too.\n"
		"\n"
		"A damaged file is replayed as far as it is whole; the exit status is then 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace simulate x.rps                        this machine's caches\n"
		"  lode trace simulate x.rps --cache i1=32K:8:64,d1=32K:8:64,l2=1M:16:64\n"
		"  lode trace simulate x.rps --cache d1=8K..1M:8:64 --classify\n"
		"  lode trace simulate x.rps --curve data --curve instructions\n"
		"  lode trace simulate x.rps --cache host --plot-curve x.svg",
	.options = options,
	.run = run,
	.groups = groups,
};
