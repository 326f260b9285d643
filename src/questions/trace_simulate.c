/* SPDX-License-Identifier: MIT */
#include "questions/trace_simulate.h"

#include "analyses/memory/objects/line_sharing.h"
#include "analyses/memory/sample_filter.h"
#include "analyses/memory/simulated_events.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "caches/hierarchy/hierarchy_sweep.h"
#include "caches/stacks/stack_distances.h"
#include "ingest/traced/traced_recording.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "questions/parts/rows.h"
#include "questions/parts/simulated_caches.h"
#include "questions/questions.h"
#include "views/memory/memory_sharing.h"
#include "views/pictures/cache_plots.h"
#include "views/traces/event_table.h"

#include <string.h>

enum {
	MAX_THREADS = 1024,
	MAX_CURVES = 32,
	MAX_TIMES = 10000,
	MAX_TIME_COUNTS = 1 << 19,
	DEFAULT_LINE = 64,
};

/* Rows on a screen; JSON and CSV have all. */
enum { TOP_PLACES = 30, TOP_LINES = 10 };

typedef LodeSimulateOptions Options;

/* --- parameters --- */

#define TERMINAL .audience = LODE_PARAMETER_FOR_TERMINAL

static const LodeParameter rows[] = {
	LODE_FORMAT_ROW(Options, format),
	{"threads", LODE_COUNT(Options, threads), .most = MAX_THREADS, .value = "N", TERMINAL,
		.summary = "the number of threads (default: all processors)"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE", TERMINAL,
		.summary = "write to this file instead of standard output"},
	{NULL},
};

static const LodeParameter cache_rows[] = {
	{"cache", LODE_TEXTS(Options, caches), .value = "HIERARCHY",
		.summary = "caches to simulate: a preset, a file, or a description such as "
			   "d1=32K:8:64,l2=1M:16:64, in which a size may be a range such as "
			   "8K..1M; may be repeated (default: host, this machine's own)"},
	{"classify", LODE_FLAG(Options, is_classified),
		.summary = "classify misses: compulsory, capacity, conflict, true or false "
			   "sharing"},
	{"quantum", LODE_COUNT(Options, quantum), .least = 1, .most = UINT32_MAX, .value = "N",
		.summary = "let threads take turns of N instructions each, instead of those in "
			   "which they were recorded"},
	{NULL},
};

static const LodeParameter curve_rows[] = {
	{"curve", LODE_TEXTS(Options, curves), .value = "data|instructions|all",
		.summary = "misses of fully associative LRU caches of every size for data, "
			   "instructions or both, and the reuse distances; may be repeated"},
	{"line", LODE_TEXTS(Options, lines), .value = "BYTES",
		.summary = "line size for --curve, a power of two (default: 64); may be repeated"},
	{NULL},
};

static const LodeParameter time_rows[] = {
	{"over-time", LODE_COUNT(Options, n_times), .least = 1, .most = MAX_TIMES, .value = "N",
		.excludes = "every branches sharing plot-objects",
		.summary = "show misses over time too, of N stretches of equally many references; "
			   "of a program, whose length is not known, N to 2 N"},
	{NULL},
};

static const LodeParameter place_rows[] = {
	{"by", LODE_WORD(Options, by), .value = "instruction|function|line|object|thread",
		.given = offsetof(Options, has_by),
		.summary = "show the misses of one hierarchy by place in the program, or those of "
			   "data by data object or thread; with --curve, the curves by thread"},
	{"jit", LODE_FILES(Options, jit_files), .value = "FILE", TERMINAL,
		.needs = "by branches sharing plot-objects",
		.summary = "with --by, --branches or --sharing: code generated at run time: a "
			   "jitdump (jit-PID.dump) or a perf map (perf-PID.map); may be repeated"},
	{"sharing", LODE_FLAG(Options, has_sharing), .excludes = "by branches event plot-objects",
		.summary = "show the lines that cores take away from each other: misses due to "
			   "true and false sharing by offset, thread, object and code, and the "
			   "stores that they were due to"},
	{"branches", LODE_WORD(Options, branches), .value = "tage|callgrind",
		.read = lode_branch_model_from_text, .given = offsetof(Options, has_branches),
		.excludes = "plot-objects",
		.summary =
			"predict branches, as processors of today do or as callgrind does, and "
			"show those mispredicted, by function unless --by says otherwise; needs "
			"the images of the code, and simulates no caches unless --cache is given"},
	{"event", LODE_TEXT(Options, event), .value = "NAME", .needs = "by branches plot-objects",
		.summary = "the event that --by shows, such as l1d-miss (default: branch-miss with "
			   "--branches; else ll-miss, the misses of the last level; with "
			   "--classify, the misses of the first class that has any: "
			   "false-sharing-miss, true-sharing-miss, conflict-miss, capacity-miss, "
			   "compulsory-miss)"},
	{"top", LODE_COUNT(Options, top), .given = offsetof(Options, has_top), .value = "N",
		.needs = "by branches sharing plot-objects",
		.summary = "show at most N rows of --by, or lines of --sharing; 0: all (default: "
			   "30, or 10; all in JSON and CSV)"},
	{"plot-objects", LODE_OUTPUT(Options, plot_objects, OTHER), .value = "FILE", TERMINAL,
		.summary = "draw the misses by data object, as FILE.svg or FILE.png"},
	{NULL},
};

static const LodeParameter plot_rows[] = {
	{"plot-curve", LODE_OUTPUT(Options, plot_curve, OTHER), .value = "FILE", TERMINAL,
		.summary = "draw miss ratio by cache size, as FILE.svg or FILE.png"},
	{"plot-reuse", LODE_OUTPUT(Options, plot_reuse, OTHER), .value = "FILE", TERMINAL,
		.summary = "draw the reuse-distance histogram"},
	{"plot-times", LODE_OUTPUT(Options, plot_times, OTHER), .value = "FILE", TERMINAL,
		.needs = "over-time",
		.summary = "draw misses over time, with --over-time: of the caches, or by cache "
			   "size"},
	{NULL},
};

static const LodeParameter program_rows[] = {
	{"no-follow", LODE_FLAG(Options, is_alone), TERMINAL, .excludes = "only",
		.summary = "simulate PROGRAM alone, not the programs and processes that it starts"},
	{"only", LODE_TEXTS(Options, only), .value = "GLOB", TERMINAL,
		.summary = "simulate only programs with such a name, such as 'cc1*' (with a slash: "
			   "such a path); others run, and what they start is followed"},
	{"allocations", LODE_FLAG(Options, has_allocations), TERMINAL,
		.needs = "by sharing plot-objects",
		.summary = "name blocks of the heap after where PROGRAM allocated them, in --by "
			   "object and --sharing"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Caches", cache_rows, 0},
	{"Part of the trace", lode_trace_selection_sample_rows, offsetof(Options, selection)},
	{"Miss-ratio curves", curve_rows, 0},
	{"Misses over time", time_rows, 0},
	{"Misses by place", place_rows, 0},
	{"Pictures of curves and times", plot_rows, 0},
	{"Programs", program_rows, 0},
	{NULL},
};

/* --- what is simulated --- */

static bool wants_curves(const Options *self)
{
	return self->curves != NULL || self->lines != NULL || self->plot_curve != NULL ||
	       self->plot_reuse != NULL;
}

/* With curves, --by thread applies to the curves. */
static bool has_curves_by_thread(const Options *self)
{
	return self->has_by && self->by == LODE_EVENT_BY_THREAD &&
	       (self->curves != NULL || self->lines != NULL) && !self->has_branches &&
	       self->plot_objects == NULL && !self->has_sharing;
}

/* An address of the page never names a file. */
static LodeHierarchy *read_caches(const LodeAsking *asking, const char *text, GError **error)
{
	return asking->is_page ? lode_hierarchy_parse_words(text, error)
	                       : lode_hierarchy_parse(text, error);
}

static bool add_sweep(
	GPtrArray *hierarchies, const LodeAsking *asking, const char *text, GError **error)
{
	g_auto(GStrv) texts = lode_hierarchy_sweep_expand(text, error);

	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
		LodeHierarchy *hierarchy = read_caches(asking, texts[i], error);
		if (hierarchy == NULL)
			return false;
		g_ptr_array_add(hierarchies, hierarchy);
	}
	if (hierarchies->len <= LODE_SWEEP_MAX_HIERARCHIES)
		return texts != NULL;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d hierarchies",
		LODE_SWEEP_MAX_HIERARCHIES);
	return false;
}

static bool add_caches(LodeSimulation *self, LodeAsking *asking, GError **error)
{
	const char *const *texts = self->options->caches;
	g_autofree char *note = NULL;

	self->hierarchies = g_ptr_array_new_with_free_func((GDestroyNotify)lode_hierarchy_free);
	if (texts == NULL) {
		LodeHierarchy *own = lode_simulated_caches_default("--cache", &note, error);
		if (own == NULL)
			return false;
		g_ptr_array_add(self->hierarchies, own);
	}
	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
		if (!add_sweep(self->hierarchies, asking, texts[i], error)) {
			g_prefix_error(error, "--cache: ");
			return false;
		}
	}
	if (note != NULL)
		lode_asking_note(asking, "%s", note);
	self->replay.hierarchies = (const LodeHierarchy *const *)self->hierarchies->pdata;
	self->replay.n_hierarchies = self->hierarchies->len;
	self->replay.classifies = self->options->is_classified;
	return true;
}

static bool read_holds(const char *text, uint8_t *out_holds, GError **error)
{
	static const uint8_t known[] = {LODE_CACHE_DATA, LODE_CACHE_INSTRUCTIONS,
		LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		if (strcmp(text, lode_miss_curve_holds_text(known[i])) != 0)
			continue;
		*out_holds = known[i];
		return true;
	}
	return lode_parameter_refuse(error, "--curve: '%s' is not data, instructions or all", text);
}

static bool read_line(const char *text, uint32_t *out_bytes, GError **error)
{
	uint64_t bytes = 0;

	if (!lode_size_from_text(text, &bytes) || bytes < LODE_STACK_DISTANCES_MIN_LINE ||
		bytes > LODE_STACK_DISTANCES_MAX_LINE || (bytes & (bytes - 1)) != 0)
		return lode_parameter_refuse(error,
			"--line: '%s' is not a power of two from %d to 1G", text,
			LODE_STACK_DISTANCES_MIN_LINE);
	*out_bytes = (uint32_t)bytes;
	return true;
}

static bool add_curves(LodeSimulation *self, const char *line, GError **error)
{
	static const char *const data[] = {"data", NULL};
	const char *const *words = self->options->curves != NULL ? self->options->curves : data;
	LodeStackDistancesOptions curve = {
		.line_bytes = DEFAULT_LINE, .by_thread = has_curves_by_thread(self->options)};

	if (line != NULL && !read_line(line, &curve.line_bytes, error))
		return false;
	for (; *words != NULL; words++) {
		if (!read_holds(*words, &curve.holds, error))
			return false;
		g_array_append_val(self->curves, curve);
	}
	if (self->curves->len <= MAX_CURVES)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d curves", MAX_CURVES);
	return false;
}

static bool add_all_curves(LodeSimulation *self, GError **error)
{
	const char *const *lines = self->options->lines;

	self->curves = g_array_new(FALSE, FALSE, sizeof(LodeStackDistancesOptions));
	if (lines == NULL && !add_curves(self, NULL, error))
		return false;
	for (size_t i = 0; lines != NULL && lines[i] != NULL; i++)
		if (!add_curves(self, lines[i], error))
			return false;
	self->replay.distances = (const LodeStackDistancesOptions *)(void *)self->curves->data;
	self->replay.n_distances = self->curves->len;
	return true;
}

/* A profile has the events of one hierarchy. */
static bool prepare_places(LodeSimulation *self, GError **error)
{
	const Options *options = self->options;
	const LodeHierarchy *hierarchy = self->replay.n_hierarchies > 0
	                                         ? self->replay.hierarchies[0]
	                                         : NULL;

	if (self->curves != NULL)
		return lode_parameter_refuse(error,
			"--branches, --sharing, --plot-objects and --by (except --by thread) "
			"cannot be used with --curve");
	if (self->replay.n_hierarchies != 1 && !(options->has_branches && hierarchy == NULL))
		return lode_parameter_refuse(error,
			"--by, --branches, --sharing and --plot-objects show one hierarchy: give "
			"one --cache without a range");
	if (options->has_sharing && hierarchy->n_cores == 1)
		return lode_parameter_refuse(
			error, "--sharing needs several cores, as in --cache host,cores=4");
	self->import = (LodeImportOptions){
		.replay.hierarchy = hierarchy,
		.threads = options->threads,
		.replay.classifies = self->replay.classifies || options->has_sharing,
		.replay.names_stores = options->has_sharing,
		.replay.predicts_branches = options->has_branches,
		.replay.branches = options->branches,
		.replay.quantum = options->quantum,
		.replay.range = &options->selection.range,
		.replay.function = options->selection.function,
		.jit_files = options->jit_files,
		.n_jit_files = options->jit_files != NULL
	                               ? g_strv_length((char **)options->jit_files)
	                               : 0,
	};
	return true;
}

/* Bounds the memory: each stretch has counts of each cache. */
static bool check_times(const LodeSimulation *self, GError **error)
{
	uint64_t n_caches = 0;

	for (size_t i = 0; i < self->replay.n_hierarchies; i++)
		n_caches += self->replay.hierarchies[i]->caches->len;
	if (self->replay.n_times > 0 && self->has_places)
		return lode_parameter_refuse(
			error, "--over-time cannot be used with --by, --branches or --sharing");
	return self->replay.n_times * n_caches <= MAX_TIME_COUNTS ||
	       lode_parameter_refuse(error, "--over-time: too many stretches for so many caches");
}

typedef struct {
	const char *path;
	bool (*write)(
		const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);
	const LodeCacheResults *results;
	LodePlotFormat format;
} Picture;

/* Lists the requested pictures; gives their number. Errors: _USAGE. */
static int list_pictures(const Options *options, Picture *pictures, GError **error)
{
	const Picture all[] = {
		{options->plot_curve, lode_miss_ratio_plot_write},
		{options->plot_reuse, lode_reuse_plot_write},
		{options->plot_times, lode_times_plot_write},
	};
	int n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		if (all[i].path == NULL)
			continue;
		pictures[n] = all[i];
		if (!lode_plot_format_from_path(all[i].path, &pictures[n++].format, error))
			return -1;
	}
	return n;
}

static bool check_options(const Options *options, GError **error)
{
	LodePlotFormat format;
	Picture pictures[3];

	return list_pictures(options, pictures, error) >= 0 &&
	       (options->plot_objects == NULL ||
		       lode_plot_format_from_path(options->plot_objects, &format, error));
}

/* Simulates curves and branches only on request; caches on request, or if nothing else is
 * requested. */
bool lode_simulation_init(
	LodeSimulation *self, LodeSimulateOptions *options, LodeAsking *asking, GError **error)
{
	bool is_plain = !wants_curves(options) && !options->has_branches;

	*self = (LodeSimulation){.options = options,
		.replay = {.threads = options->threads,
			.quantum = options->quantum,
			.n_times = options->n_times},
		.has_places = (options->has_by || options->has_branches || options->has_sharing ||
				      options->plot_objects != NULL) &&
	                      !has_curves_by_thread(options)};
	if (options->has_branches && !options->has_by)
		options->by = LODE_EVENT_BY_FUNCTION;
	else if (!options->has_by)
		options->by = LODE_EVENT_BY_OBJECT;
	if (!lode_trace_selection_check(&options->selection, error) ||
		!check_options(options, error))
		return false;
	if (wants_curves(options) && !add_all_curves(self, error))
		return false;
	if ((is_plain || options->caches != NULL || options->is_classified) &&
		!add_caches(self, asking, error))
		return false;
	if (!check_times(self, error) || (self->has_places && !prepare_places(self, error)))
		return false;
	return options->format != LODE_VIEW_CSV || self->hierarchies == NULL ||
	       self->curves == NULL ||
	       lode_parameter_refuse(
		       error, "--format csv has one table: that of --cache or that of --curve");
}

void lode_simulation_clear(LodeSimulation *self)
{
	g_clear_pointer(&self->hierarchies, g_ptr_array_unref);
	g_clear_pointer(&self->curves, g_array_unref);
}

/* --- caches and curves --- */

static bool write_picture(const void *what, FILE *out, GError **error)
{
	const Picture *self = what;

	return self->write(self->results, self->format, out, error);
}

bool lode_simulation_write_results(const LodeSimulation *self, const LodeCacheResults *results,
	size_t n_results, const LodeTerminal *terminal, FILE *out, GError **error)
{
	const LodeCacheResultsOptions view = {
		.format = self->options->format, .terminal = *terminal};
	Picture pictures[3];
	int n = list_pictures(self->options, pictures, error);

	for (int i = 0; i < n; i++) {
		pictures[i].results = results;
		if (!lode_asking_write_file(pictures[i].path, write_picture, &pictures[i], error))
			return false;
	}
	return n >= 0 && lode_cache_results_write(results, n_results, &view, out, error);
}

/* Threads on one core cannot take lines away from each other. */
void lode_simulation_note_cores(const LodeSimulation *self, unsigned n_threads, LodeAsking *asking)
{
	unsigned n = MIN(n_threads, LODE_HIERARCHY_MAX_CORES);
	bool has_one_core = false;

	for (size_t i = 0; i < self->replay.n_hierarchies; i++)
		has_one_core |= self->replay.hierarchies[i]->n_cores == 1;
	if (self->replay.classifies && has_one_core && n_threads >= 2)
		lode_asking_note(asking,
			"note: the trace has %u threads and these caches one core: add cores=%u to "
			"see sharing, as in --cache host,cores=%u",
			n_threads, n, n);
}

/* The exit status reports the damage, too. */
static void note_damage(LodeAsking *asking, const char *damage, const char *consequence)
{
	bool is_named = g_str_has_prefix(damage, asking->paths[0]);

	asking->status = LODE_EXIT_FAILED;
	lode_asking_note(asking, "warning: %s%s%s; %s", is_named ? "" : asking->names[0],
		is_named ? "" : ": ", damage, consequence);
}

static bool answer_replayed(LodeAsking *asking, const LodeSimulation *simulation, GError **error)
{
	const LodeTraceReaderOptions reading = {.threads = simulation->options->threads,
		.range = &simulation->options->selection.range};
	g_autoptr(LodeTraceReader) reader = lode_trace_selection_open(
		&simulation->options->selection, asking->paths[0], &reading, error);
	g_autoptr(LodeTraceReplay)
		replayed = reader != NULL ? lode_trace_replay_run(reader, &simulation->replay,
						    asking->progress, error)
	                                  : NULL;

	if (replayed == NULL)
		return false;
	const LodeCacheResults results = {
		.path = asking->names[0],
		.command = lode_trace_reader_description(reader)->command,
		.replay = replayed,
		.hierarchies = simulation->replay.hierarchies,
		.n_hierarchies = simulation->replay.n_hierarchies,
		.is_classified = simulation->replay.classifies,
	};
	FILE *out = lode_asking_begin(asking, simulation->options->output, error);
	if (out == NULL)
		return false;
	lode_simulation_note_cores(simulation, lode_trace_reader_n_threads(reader), asking);
	if (!lode_simulation_write_results(
		    simulation, &results, 1, &asking->terminal, out, error) ||
		!lode_asking_end(asking, error))
		return false;
	if (replayed->damage == NULL)
		return true;
	g_autofree char *consequence = g_strdup_printf("what is whole was replayed: %s references",
		LODE_COUNT_TEXT(replayed->n_references));
	note_damage(asking, replayed->damage, consequence);
	return true;
}

/* --- misses by place --- */

static bool is_usable(const LodeSimulation *self, const LodeProfile *profile, uint32_t event)
{
	const Options *options = self->options;
	LodeEventBy by = options->plot_objects != NULL ? LODE_EVENT_BY_OBJECT : options->by;

	return event != LODE_NONE && lode_event_groups_are_known(profile, event, by);
}

static bool has_some(const LodeSimulation *self, const LodeProfile *profile, uint32_t event)
{
	return is_usable(self, profile, event) && lode_profile_event(profile, event)->total > 0;
}

static bool fail_event(
	const LodeSimulation *self, const LodeProfile *profile, const char *name, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < profile->code.events->len; i++)
		if (is_usable(self, profile, i))
			g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
				lode_profile_event(profile, i)->name);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"--event: '%s' cannot be shown by %s; there are: %s", name,
		lode_event_by_to_text(self->options->by), names->len > 0 ? names->str : "none");
	return false;
}

/* Gives the requested event; for classified misses the first class with misses; otherwise the first
 * event of the profile. */
static bool find_event(
	const LodeSimulation *self, const LodeProfile *profile, uint32_t *out_event, GError **error)
{
	const char *const one[] = {self->options->event, NULL};
	static const char *const of_branches[] = {"branch-miss", NULL};
	const char *const *names = self->options->event != NULL ? one
	                           : self->import.replay.predicts_branches
	                                   ? of_branches
	                                   : lode_simulated_events();
	const char *const *classes = names != one && names != of_branches &&
	                                             self->import.replay.classifies
	                                     ? lode_simulated_events_classes()
	                                     : one + 1;

	for (; *classes != NULL; classes++) {
		*out_event = lode_profile_find_event(profile, *classes);
		if (has_some(self, profile, *out_event))
			return true;
	}
	for (size_t i = 0; names[i] != NULL; i++) {
		*out_event = lode_profile_find_event(profile, names[i]);
		if (is_usable(self, profile, *out_event))
			return true;
	}
	return fail_event(self, profile, names[0], error);
}

typedef struct {
	const LodeProfile *profile;
	uint32_t event;
	LodePlotFormat format;
} ObjectPlot;

static bool write_object_plot(const void *what, FILE *out, GError **error)
{
	const ObjectPlot *self = what;
	g_autoptr(LodeEventGroups)
		groups_of = lode_event_groups_new(self->profile, self->event, LODE_EVENT_BY_OBJECT);

	return lode_misses_by_object_plot_write(self->profile, groups_of, self->format, out, error);
}

/* Branches are known only in code of the images. */
static void note_unknown_code(const LodeProfile *profile, LodeAsking *asking)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_TRACED_NO_CODE) == 0)
			lode_asking_note(asking,
				"note: %s instructions were executed in code "
				"of which no image is known; their branches are not predicted",
				LODE_COUNT_TEXT(row->samples));
	}
}

static void write_rate(const LodeProfile *profile, const char *kind, const char *executed,
	const char *wrong, FILE *out)
{
	uint32_t all = lode_profile_find_event(profile, executed);
	uint32_t missed = lode_profile_find_event(profile, wrong);
	double n = all != LODE_NONE ? lode_profile_event(profile, all)->total : 0;
	double n_wrong = missed != LODE_NONE ? lode_profile_event(profile, missed)->total : 0;
	char numbers[2][LODE_NUMBER_SIZE];

	fprintf(out, "%s branches %s, mispredicted %s (%.2f %%)\n", kind,
		lode_number_format_count(n, numbers[0]),
		lode_number_format_count(n_wrong, numbers[1]), n > 0 ? 100 * n_wrong / n : 0);
}

static bool write_groups(const LodeSimulation *self, const LodeProfile *profile, LodeAsking *asking,
	FILE *out, GError **error)
{
	const Options *options = self->options;
	ObjectPlot plot = {.profile = profile};
	const LodeEventTableOptions view = {.format = options->format,
		.terminal = asking->terminal,
		.top = options->has_top                    ? options->top
	               : options->format == LODE_VIEW_TEXT ? TOP_PLACES
	                                                   : 0};

	if (lode_event_by_is_of_data(options->by) && profile->memory == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the trace has no accesses to data");
		return false;
	}
	if (!find_event(self, profile, &plot.event, error))
		return false;
	if (options->plot_objects != NULL &&
		(!lode_plot_format_from_path(options->plot_objects, &plot.format, error) ||
			!lode_asking_write_file(
				options->plot_objects, write_object_plot, &plot, error)))
		return false;
	g_autoptr(LodeEventGroups) found = lode_event_groups_new(profile, plot.event, options->by);
	if (options->has_branches && options->format == LODE_VIEW_TEXT) {
		write_rate(profile, "conditional", "Bc", "Bcm", out);
		write_rate(profile, "indirect", "Bi", "Bim", out);
		fputc('\n', out);
	}
	if (options->has_branches)
		note_unknown_code(profile, asking);
	return lode_event_table_write(profile, found, &view, out, error);
}

/* The data cache nearest to the processor. */
static const LodeCache *first_data_cache(const LodeHierarchy *hierarchy)
{
	const LodeCache *first = &g_array_index(hierarchy->caches, LodeCache, 0);

	for (guint i = 1; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (cache->level == 1 && !cache->is_tlb && (cache->holds & LODE_CACHE_DATA) != 0)
			first = cache;
	}
	return first;
}

static bool write_sharing(const LodeSimulation *self, const LodeProfile *profile,
	LodeAsking *asking, FILE *out, GError **error)
{
	static const char *const events[] = {LODE_FALSE_SHARING_MISS, LODE_TRUE_SHARING_MISS, NULL};
	const LodeSampleFilterOptions both = {.events = events, .progress = asking->progress};
	const LodeCache *first = first_data_cache(self->import.replay.hierarchy);
	const Options *options = self->options;
	LodeMemorySharingOptions view = {.format = options->format,
		.terminal = asking->terminal,
		.limit = options->has_top                    ? options->top
	                 : options->format == LODE_VIEW_TEXT ? TOP_LINES
	                                                     : 0,
		.are_misses_classified = true};

	if (first->line_bytes < LODE_SHARING_MIN_LINE ||
		first->line_bytes > LODE_SHARING_MAX_LINE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"--sharing: lines of %u bytes; it shows lines of %d to %d",
			(unsigned)first->line_bytes, LODE_SHARING_MIN_LINE, LODE_SHARING_MAX_LINE);
		return false;
	}
	g_autoptr(GArray) chosen = lode_sample_filter_apply(profile, &both, error);
	if (chosen == NULL)
		return false;
	const uint32_t *samples = (const uint32_t *)(const void *)chosen->data;
	const LodeLineSharingOptions lines = {
		.line_bytes = first->line_bytes, .progress = asking->progress};
	g_autoptr(LodeLineSharing)
		sharing = lode_line_sharing_new(profile, samples, chosen->len, &lines);
	if (sharing == NULL)
		return lode_asking_fail_stopped(error);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, profile, samples, chosen->len);
	view.notes = &notes;
	return lode_memory_sharing_write(profile, sharing, &view, out, error);
}

bool lode_simulation_write_places(const LodeSimulation *self, const LodeProfile *profile,
	LodeAsking *asking, FILE *out, GError **error)
{
	return self->options->has_sharing ? write_sharing(self, profile, asking, out, error)
	                                  : write_groups(self, profile, asking, out, error);
}

static bool answer_places(LodeAsking *asking, LodeSimulation *simulation, GError **error)
{
	const LodeProfile *profile = asking->asker->trace(asking, &simulation->import, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, simulation->options->output, error)
	                            : NULL;

	if (out == NULL || !lode_simulation_write_places(simulation, profile, asking, out, error) ||
		!lode_asking_end(asking, error))
		return false;
	const char *damage = lode_traced_damage(profile);
	if (damage != NULL)
		note_damage(asking, damage, "these are of what is whole");
	return true;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const Options *self = options;
	g_auto(LodeSimulation) simulation = {0};

	if (self->only != NULL || self->is_alone)
		return lode_parameter_refuse(error,
			"--only and --no-follow are for a program, after '--'; each process of a "
			"trace has a file of its own");
	if (self->has_allocations)
		return lode_parameter_refuse(error,
			"--allocations is for a program, after '--'; a trace has what 'lode trace "
			"record --allocations' recorded");
	return lode_simulation_init(&simulation, options, asking, error) &&
	       (simulation.has_places ? answer_places(asking, &simulation, error)
				      : answer_replayed(asking, &simulation, error));
}

const LodeVerb lode_question_trace_simulate = {
	.name = "trace simulate",
	.arguments = "TRACE.rps | -- PROGRAM [ARGUMENT…]",
	.summary = "replay an address trace, or a program, through caches",
	.description =
		"Replays all references of the trace through the caches, in one pass for all "
		"hierarchies. The counts are exact for caches that work as described; the "
		"caches of a real processor do so only approximately. docs/reference/caches.md has "
		"the "
		"grammar of descriptions and the definition of the counts.\n"
		"\n"
		"The presets are host, cachegrind, skylake-server, zen3, cortex-a72 and "
		"apple-m1; parts may follow, as in host,cores=4. Threads are assigned to this "
		"number of cores in turn; without cores= there is one core and no sharing.\n"
		"\n"
		"The references of a PROGRAM after '--' are simulated while it runs, as 'trace "
		"record' would trace it, and are not kept; results are those of its "
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
		"If a file is damaged, the undamaged beginning is replayed, and the exit status "
		"is 1.\n"
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
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
	.takes_trace = true,
	.may_wrap = true,
};
