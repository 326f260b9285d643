/* SPDX-License-Identifier: MIT */
/* The accesses of threads to data: a table of views, each with its own options. */
#include "model/memory.h"
#include "analyses/memory/coverage.h"
#include "analyses/memory/objects/access_callers.h"
#include "analyses/memory/objects/allocation_use.h"
#include "analyses/memory/objects/line_sharing.h"
#include "analyses/memory/objects/pivot.h"
#include "analyses/memory/objects/type_layout.h"
#include "analyses/memory/sample_attributes.h"
#include "base/error.h"
#include "questions/parts/memory_samples.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"
#include "views/memory/memory_coverage.h"
#include "views/memory/memory_sharing.h"
#include "views/memory/memory_views.h"
#include "views/pictures/memory_plot.h"

#include <string.h>

enum { MAX_CALLERS = 256 };

/* Rows on a screen; JSON and CSV have all. */
enum { TOP_PIVOT = 20, TOP_ALLOCATIONS = 20, TOP_CALLERS = 5, TOP_LINES = 10 };

typedef struct {
	LodeSampleFilterOptions filter;
	LodePivotOptions pivot;
	LodeViewFormat format;
	const char *sort, *output, *granularity, *plot, *layout;
	int weight, plot_colour;
	uint32_t top, callers;
	bool has_top, has_callers, has_full_names;
	bool is_by_thread, is_together, has_first_touch, has_sharing, has_allocations, has_coverage;
} Options;

/* --- parameters --- */

static const LodeParameter rows[] = {
	LODE_FORMAT_ROW(Options, format),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	{"sort", LODE_TEXT(Options, sort), .value = "ORDER",
		.summary = "the order of rows: weight (the default), loads or stores, largest "
			   "first; address in histograms; samples, latency or key in groups"},
	{"top", LODE_COUNT(Options, top), .given = offsetof(Options, has_top), .value = "N",
		.summary = "show at most N rows of each table; 0: all (default: one screen; all in "
			   "JSON and CSV)"},
	{"weight", LODE_WORD(Options, weight), .value = "sampled|accesses|latency",
		.summary = "what rows are weighed by: as sampled (the default; of a timer, time), "
			   "or accesses, where executions were counted or traced, or by latency, "
			   "where the processor measured it"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "write to this file instead of standard output"},
	{NULL},
};

#define PLOTS " by-thread together plot plot-colour"

static const LodeParameter histogram_rows[] = {
	LODE_GRANULARITY_ROW(Options, granularity),
	{"by-thread", LODE_FLAG(Options, is_by_thread), .excludes = "together",
		.summary = "one histogram for each thread"},
	{"together", LODE_FLAG(Options, is_together),
		.summary = "one histogram for all threads together"},
	{"plot", LODE_OUTPUT(Options, plot, OTHER), .value = "FILE",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "also draw threads and time by addresses, as FILE.svg or FILE.png"},
	{"plot-colour", LODE_WORD(Options, plot_colour), .value = "access|thread", .needs = "plot",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "what the colours over time mean: loads and stores (the default), or "
			   "the thread with most weight"},
	{NULL},
};

static const LodeParameter first_touch_rows[] = {
	{"first-touch", LODE_FLAG(Options, has_first_touch),
		.excludes = "by sharing allocations callers layout coverage" PLOTS,
		.summary = "show which thread touched which pages first, and which threads use "
			   "them; also takes --granularity, --sort address and --top"},
	{NULL},
};

static const LodeParameter pivot_rows[] = {
	{"by", LODE_TEXT(Options, pivot.by[0]), .value = "EXPRESSION",
		.excludes = "sharing allocations callers layout coverage" PLOTS,
		.summary = "group the samples by an attribute (type, function, line, page...), a "
			   "--define, or any expression"},
	{"by2", LODE_TEXT(Options, pivot.by[1]), .value = "EXPRESSION", .needs = "by",
		.summary = "then group each group by this"},
	{"by3", LODE_TEXT(Options, pivot.by[2]), .value = "EXPRESSION", .needs = "by2",
		.summary = "a third level of groups"},
	{"by4", LODE_TEXT(Options, pivot.by[3]), .value = "EXPRESSION", .needs = "by3",
		.summary = "a fourth level of groups"},
	{NULL},
};

static const LodeParameter sharing_rows[] = {
	{"sharing", LODE_FLAG(Options, has_sharing),
		.excludes = "allocations callers layout coverage" PLOTS,
		.summary = "show cache lines that two or more threads use while one of them "
			   "stores: false and true sharing, by offset, thread, object and code; "
			   "also takes --granularity (16 to 256; default: line) and --top"},
	{NULL},
};

static const LodeParameter allocation_rows[] = {
	{"allocations", LODE_FLAG(Options, has_allocations), .excludes = "layout coverage" PLOTS,
		.summary = "show allocation sites with their bytes, the peak, what was live at the "
			   "end, and the weight of the samples there; --sort takes peak (the "
			   "default), most, bytes, blocks, end or weight"},
	{"callers", LODE_COUNT(Options, callers), .most = MAX_CALLERS, .value = "N",
		.given = offsetof(Options, has_callers), .excludes = "layout coverage" PLOTS,
		.summary = "show the calls that led to the accesses of each data object, N levels "
			   "of them (recorded with -g); with --allocations those that led to each "
			   "allocation site"},
	{NULL},
};

static const LodeParameter layout_rows[] = {
	{"layout", LODE_TEXT(Options, layout), .value = "TYPE", .excludes = "coverage" PLOTS,
		.summary = "show the members of a type in order, with offsets, holes, cache lines, "
			   "and the samples of each"},
	{NULL},
};

static const LodeParameter coverage_rows[] = {
	{"coverage", LODE_FLAG(Options, has_coverage), .excludes = "by-thread together plot",
		.summary = "show the share of samples with a data address, by rule or reason, and "
			   "by the layer that named the object"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Which samples", lode_memory_sample_rows, offsetof(Options, filter)},
	{"Histogram", histogram_rows, 0},
	{"First touch", first_touch_rows, 0},
	{"Data objects and other attributes", pivot_rows, 0},
	{"Sharing", sharing_rows, 0},
	{"Allocations and callers", allocation_rows, 0},
	{"Layout of a type", layout_rows, 0},
	{"Coverage", coverage_rows, 0},
	{NULL},
};

/* --- views --- */

typedef struct {
	LodeAsking *asking;
	const Options *options;
	LodeMemorySamples chosen;
	LodeMemoryNotes notes; /* of these samples */
} View;

static bool fail_sort(const View *self, const char *words, GError **error)
{
	return lode_parameter_refuse(error, "--sort: '%s' is not %s", self->options->sort, words);
}

static uint32_t top_of(const View *self, uint32_t screen)
{
	if (self->options->has_top)
		return self->options->top;
	return self->options->format == LODE_VIEW_TEXT ? screen : 0;
}

static FILE *begin(const View *self, GError **error)
{
	FILE *out = lode_asking_begin(self->asking, self->options->output, error);

	self->asking->terminal.has_full_names = self->options->has_full_names;
	return out;
}

static LodeMemoryViewOptions view_options(const View *self)
{
	return (LodeMemoryViewOptions){.format = self->options->format,
		.terminal = self->asking->terminal,
		.notes = &self->notes};
}

typedef struct {
	const View *view;
	LodeMemoryPlotOptions options;
} Plot;

static bool write_plot(const void *what, FILE *out, GError **error)
{
	const Plot *self = what;
	const LodeMemorySamples *chosen = &self->view->chosen;

	return lode_memory_plot_write(
		chosen->profile, chosen->samples, chosen->n, &self->options, out, error);
}

static bool write_histogram(View *self, GError **error)
{
	const Options *options = self->options;
	Plot plot = {.view = self, .options.colours_threads = options->plot_colour == 1};
	LodeMemoryHistogramOptions view;

	lode_memory_histogram_options_init(&view);
	view.format = options->format;
	view.limit = options->top;
	view.has_limit = options->has_top;
	view.scope = options->is_by_thread  ? LODE_HISTOGRAM_BY_THREAD
	             : options->is_together ? LODE_HISTOGRAM_TOGETHER
	                                    : view.scope;
	if (options->sort != NULL && !lode_histogram_sort_from_text(options->sort, &view.sort))
		return fail_sort(self, "weight, loads, stores or address", error);
	if (!lode_memory_granularity_read(options->granularity, &view.granularity, error))
		return false;
	plot.options.granularity = view.granularity;
	if (options->plot != NULL &&
		(!lode_plot_format_from_path(options->plot, &plot.options.format, error) ||
			!lode_asking_write_file(options->plot, write_plot, &plot, error)))
		return false;
	FILE *out = begin(self, error);
	view.terminal = self->asking->terminal;
	return out != NULL && lode_memory_histogram_write(self->chosen.profile,
				      self->chosen.samples, self->chosen.n, &view, out, error);
}

static bool write_first_touch(View *self, GError **error)
{
	const Options *options = self->options;
	LodeFirstTouchOptions view;

	lode_first_touch_options_init(&view);
	view.format = options->format;
	view.limit = options->top;
	view.has_limit = options->has_top;
	view.own = options->filter.own;
	view.is_by_address = g_strcmp0(options->sort, "address") == 0;
	if (options->sort != NULL && !view.is_by_address && strcmp(options->sort, "weight") != 0)
		return fail_sort(self, "weight or address", error);
	if (!lode_memory_granularity_read(options->granularity, &view.page_bytes, error))
		return false;
	FILE *out = begin(self, error);
	view.terminal = self->asking->terminal;
	return out != NULL && lode_first_touch_write(self->chosen.profile, self->chosen.samples,
				      self->chosen.n, &view, out, error);
}

static bool write_pivot(View *self, GError **error)
{
	const Options *options = self->options;
	LodePivotOptions pivot = options->pivot;
	int sort = options->sort != NULL ? lode_pivot_sort_from_text(options->sort)
	                                 : LODE_PIVOT_SORT_WEIGHT;

	if (sort < 0)
		return fail_sort(self, "weight, samples, loads, stores, latency or key", error);
	pivot.sort = (LodePivotSort)sort;
	pivot.top = top_of(self, TOP_PIVOT);
	pivot.definitions = options->filter.definitions;
	pivot.own = options->filter.own;
	pivot.progress = self->asking->progress;
	while (pivot.n_levels < LODE_PIVOT_MAX_LEVELS && pivot.by[pivot.n_levels] != NULL)
		pivot.n_levels++;
	g_autoptr(LodePivot) found = lode_pivot_new(
		self->chosen.profile, self->chosen.samples, self->chosen.n, &pivot, error);
	FILE *out = found != NULL ? begin(self, error) : NULL;
	const LodeMemoryViewOptions view = view_options(self);
	return out != NULL &&
	       lode_memory_pivot_write(self->chosen.profile, found, &view, out, error);
}

static bool write_sharing(View *self, GError **error)
{
	const Options *options = self->options;
	LodeLineSharingOptions sharing = {.line_bytes = LODE_SAMPLE_LINE_BYTES,
		.own = options->filter.own,
		.progress = self->asking->progress};

	if (options->sort != NULL && strcmp(options->sort, "weight") != 0)
		return fail_sort(self, "weight", error);
	if (!lode_memory_granularity_read(options->granularity, &sharing.line_bytes, error))
		return false;
	if (sharing.line_bytes < LODE_SHARING_MIN_LINE ||
		sharing.line_bytes > LODE_SHARING_MAX_LINE)
		return lode_parameter_refuse(error,
			"--granularity: a cache line of --sharing has %d to %d bytes",
			LODE_SHARING_MIN_LINE, LODE_SHARING_MAX_LINE);
	g_autoptr(GArray) sharing_samples = lode_line_sharing_choose(
		self->chosen.profile, self->chosen.samples, self->chosen.n);
	const uint32_t *samples = (const uint32_t *)(const void *)sharing_samples->data;
	g_autoptr(LodeLineSharing) found = lode_line_sharing_new(
		self->chosen.profile, samples, sharing_samples->len, &sharing);
	if (found == NULL)
		return lode_asking_fail_stopped(error);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, self->chosen.profile, samples, sharing_samples->len);
	FILE *out = begin(self, error);
	const LodeMemorySharingOptions view = {.format = options->format,
		.terminal = self->asking->terminal,
		.limit = top_of(self, TOP_LINES),
		.are_misses_classified = found->is_of_misses,
		.notes = &notes};
	return out != NULL &&
	       lode_memory_sharing_write(self->chosen.profile, found, &view, out, error);
}

static bool write_callers(View *self, GError **error)
{
	const LodeAccessCallersOptions options = {.n_callers = self->options->callers,
		.top = top_of(self, TOP_ALLOCATIONS),
		.top_calls = self->options->format == LODE_VIEW_TEXT ? TOP_CALLERS : 0};

	if (self->options->sort != NULL && strcmp(self->options->sort, "weight") != 0)
		return fail_sort(self, "weight", error);
	g_autoptr(LodeAccessCallers) found = lode_access_callers_new(
		self->chosen.profile, self->chosen.samples, self->chosen.n, &options, error);
	FILE *out = found != NULL ? begin(self, error) : NULL;
	const LodeMemoryViewOptions view = view_options(self);
	return out != NULL &&
	       lode_memory_callers_write(self->chosen.profile, found, &view, out, error);
}

/* In a recording without call chains, --callers alone is about its allocations. */
static bool write_allocations(View *self, GError **error)
{
	const Options *options = self->options;
	const LodeMemory *memory = lode_memory_of(self->chosen.profile);
	int sort = options->sort != NULL ? lode_allocation_sort_from_text(options->sort)
	                                 : LODE_ALLOCATION_SORT_PEAK;
	bool is_screen = options->format == LODE_VIEW_TEXT;

	if (!options->has_allocations &&
		(memory->access_paths->len > 0 || !memory->has_allocations))
		return write_callers(self, error);
	if (sort < 0)
		return fail_sort(self, "peak, most, bytes, blocks, end or weight", error);
	const LodeAllocationUseOptions use = {.n_callers = options->callers,
		.sort = (LodeAllocationSort)sort,
		.top = top_of(self, TOP_ALLOCATIONS),
		.top_callers = is_screen ? TOP_CALLERS : 0};
	g_autoptr(LodeAllocationUse) found = lode_allocation_use_new(
		self->chosen.profile, self->chosen.samples, self->chosen.n, &use, error);
	FILE *out = found != NULL ? begin(self, error) : NULL;
	const LodeMemoryViewOptions view = view_options(self);
	return out != NULL &&
	       lode_memory_allocations_write(self->chosen.profile, found, &view, out, error);
}

static bool write_layout(View *self, GError **error)
{
	const LodeTypeLayoutOptions layout = {
		.type = self->options->layout, .progress = self->asking->progress};
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(
		self->chosen.profile, self->chosen.samples, self->chosen.n, &layout, error);

	if (layouts == NULL) {
		g_prefix_error(error, "--layout: ");
		return false;
	}
	FILE *out = begin(self, error);
	const LodeMemoryViewOptions view = view_options(self);
	return out != NULL &&
	       lode_memory_layout_write(self->chosen.profile, layouts, &view, out, error);
}

static bool write_coverage(View *self, GError **error)
{
	g_autoptr(GArray) coverage = lode_memory_coverage_new(
		self->chosen.profile, self->chosen.samples, self->chosen.n);
	FILE *out = begin(self, error);
	const LodeMemoryViewOptions view = view_options(self);

	return out != NULL &&
	       lode_memory_coverage_write(self->chosen.profile, coverage, &view, out, error);
}

static bool write_view(View *self, GError **error)
{
	const Options *options = self->options;

	return options->has_first_touch                           ? write_first_touch(self, error)
	       : options->pivot.by[0] != NULL                     ? write_pivot(self, error)
	       : options->has_sharing                             ? write_sharing(self, error)
	       : options->has_allocations || options->has_callers ? write_allocations(self, error)
	       : options->layout != NULL                          ? write_layout(self, error)
	       : options->has_coverage                            ? write_coverage(self, error)
	                                                          : write_histogram(self, error);
}

static bool answer(LodeAsking *asking, void *given, GError **error)
{
	static const char *const weights[] = {NULL, "accesses", "latency"};
	static const char *const by_event[] = {"event", NULL};
	Options *options = given;
	View self = {.asking = asking, .options = options};
	const char *levels[LODE_PIVOT_MAX_LEVELS + 1] = {NULL};

	/* The views of sharing and coverage select their events themselves. */
	memcpy(levels, options->pivot.by, sizeof(options->pivot.by));
	options->filter.groups = levels[0] != NULL                               ? levels
	                         : options->has_sharing || options->has_coverage ? by_event
	                                                                         : NULL;
	if (!lode_memory_samples_choose(
		    &self.chosen, asking, &options->filter, weights[options->weight], error)) {
		lode_memory_samples_clear(&self.chosen);
		return false;
	}
	lode_memory_notes_init(
		&self.notes, self.chosen.profile, self.chosen.samples, self.chosen.n);
	bool is_written = write_view(&self, error) && lode_asking_end(asking, error);
	lode_memory_notes_clear(&self.notes);
	lode_memory_samples_clear(&self.chosen);
	return is_written;
}

const LodeVerb lode_question_memory = {
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
		"  lode memory x.lode --by object --event window-accesses    recorded with "
		"--windows\n"
		"  lode memory x.lode --layout 'struct node'\n"
		"  lode memory x.lode --sharing                     false sharing of cache lines\n"
		"  lode memory x.lode --first-touch",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
