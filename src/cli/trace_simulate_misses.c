/* SPDX-License-Identifier: MIT */
/* lode trace simulate --by: simulated misses by what the program is made of. */
#include "analyses/memory/sample_filter.h"
#include "analyses/memory/simulated_events.h"
#include "base/error.h"
#include "base/number_format.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_simulate.h"
#include "cli/whole_trace.h"
#include "ingest/traced/traced_recording.h"
#include "views/display_text.h"
#include "views/event_table.h"
#include "views/memory_sharing.h"
#include "views/plot/misses_by_object_plot.h"

#include <string.h>

enum { DEFAULT_TOP = 30, DEFAULT_LINES = 10 }; /* on a screen; JSON and CSV have all */

static struct {
	char *by, *branches, *event, *top, *plot, **jit_files;
	gboolean sharing;
} given;

const GOptionEntry lode_trace_miss_options[] = {
	{"by", 0, 0, G_OPTION_ARG_STRING, &given.by,
		"show the misses of one hierarchy by place in the program, or those of data by "
		"data object or thread; with --curve, the curves by thread",
		"instruction|function|line|object|thread"},
	{"jit", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.jit_files,
		"with --by, --branches or --sharing: code generated at run time: a jitdump "
		"(jit-PID.dump) or a perf map (perf-PID.map); may be repeated",
		"FILE"},
	{"sharing", 0, 0, G_OPTION_ARG_NONE, &given.sharing,
		"show the lines that cores take away from each other: misses due to true and "
		"false sharing by offset, thread, object and code, and the stores that they "
		"were due to",
		NULL},
	{"branches", 0, 0, G_OPTION_ARG_STRING, &given.branches,
		"predict branches, as processors of today do or as callgrind does, and show "
		"those mispredicted, by function unless --by says otherwise; needs the images "
		"of the code, and simulates no caches unless --cache is given",
		"tage|callgrind"},
	{"event", 0, 0, G_OPTION_ARG_STRING, &given.event,
		"the event that --by shows, such as l1d-miss (default: branch-miss with "
		"--branches; else ll-miss, the misses of the last level; with --classify, the "
		"misses of the first class that has any: "
		"false-sharing-miss, true-sharing-miss, conflict-miss, capacity-miss, "
		"compulsory-miss)",
		"NAME"},
	{"top", 0, 0, G_OPTION_ARG_STRING, &given.top,
		"show at most N rows of --by, or lines of --sharing; 0: all (default: 30, or 10; "
		"all in JSON and CSV)",
		"N"},
	{"plot-objects", 0, 0, G_OPTION_ARG_FILENAME, &given.plot,
		"draw the misses by data object, as FILE.svg or FILE.png", "FILE"},
	G_OPTION_ENTRY_NULL,
};

/* Of the curves it is said on the way; for misses there is no profile then. */
bool lode_trace_misses_are_curves_by_thread(void)
{
	return g_strcmp0(given.by, "thread") == 0 && lode_trace_curves_are_wanted() &&
	       given.branches == NULL && given.plot == NULL && !given.sharing;
}

bool lode_trace_misses_are_wanted(void)
{
	if (lode_trace_misses_are_curves_by_thread())
		return false;
	return given.by != NULL || given.branches != NULL || given.plot != NULL || given.sharing;
}

bool lode_trace_misses_are_of_branches(void)
{
	return given.branches != NULL;
}

static int chosen_by(void)
{
	if (given.by != NULL)
		return lode_event_by_from_text(given.by);
	return given.branches != NULL ? LODE_EVENT_BY_FUNCTION : LODE_EVENT_BY_OBJECT;
}

bool lode_trace_misses_read(LodeTraceMisses *self, GError **error)
{
	int by = chosen_by();
	int branches = given.branches != NULL ? lode_branch_model_from_text(given.branches) : 0;
	uint64_t top = given.sharing ? DEFAULT_LINES : DEFAULT_TOP;

	if (by < 0)
		return lode_option_refuse(error,
			"--by: '%s' is not instruction, function, line, object or thread",
			given.by);
	if (branches < 0)
		return lode_option_refuse(
			error, "--branches: '%s' is not tage or callgrind", given.branches);
	if (given.branches != NULL && (given.sharing || given.plot != NULL))
		return lode_option_refuse(error, "--branches and %s exclude each other",
			given.sharing ? "--sharing" : "--plot-objects");
	if (given.sharing && (given.by != NULL || given.event != NULL || given.plot != NULL))
		return lode_option_refuse(error, "--sharing and %s exclude each other",
			given.by != NULL      ? "--by"
			: given.event != NULL ? "--event"
					      : "--plot-objects");
	if (!lode_trace_misses_are_wanted() &&
		(given.event != NULL || given.top != NULL || given.jit_files != NULL))
		return lode_option_refuse(error, "%s is for --by, which is missing",
			given.event != NULL ? "--event"
			: given.top != NULL ? "--top"
					    : "--jit");
	if (!lode_option_count("--top", given.top, UINT32_MAX, &top, error) ||
		(given.plot != NULL &&
			!lode_plot_format_from_path(given.plot, &self->plot_format, error)))
		return false;
	self->by = (LodeEventBy)by;
	self->predicts_branches = given.branches != NULL;
	self->branches = (LodeBranchModel)branches;
	self->shares = given.sharing;
	self->top = (uint32_t)top;
	self->has_top = given.top != NULL;
	return true;
}

LodeImportOptions lode_trace_misses_import_options(const LodeTraceMisses *wanted)
{
	return (LodeImportOptions){
		.hierarchy = wanted->hierarchy,
		.threads = wanted->threads,
		.classifies = wanted->classifies,
		.names_stores = wanted->shares,
		.predicts_branches = wanted->predicts_branches,
		.branches = wanted->branches,
		.quantum = wanted->quantum,
		.range = wanted->range,
		.function = wanted->function,
		.jit_files = (const char *const *)given.jit_files,
		.n_jit_files = given.jit_files != NULL ? g_strv_length(given.jit_files) : 0,
	};
}

static LodeProfile *import(const char *path, const LodeTraceMisses *wanted, GError **error)
{
	LodeImportOptions import_options = lode_trace_misses_import_options(wanted);
	g_auto(LodeTerminalProgress) screen;

	import_options.paths = &path;
	import_options.n_paths = 1;
	lode_terminal_progress_init(&screen);
	return lode_import(&import_options, &screen.progress, error);
}

static bool is_usable(const LodeProfile *profile, uint32_t event)
{
	LodeEventBy by = given.plot != NULL ? LODE_EVENT_BY_OBJECT : (LodeEventBy)chosen_by();

	return event != LODE_NONE && lode_event_groups_are_known(profile, event, by);
}

static char *usable_names(const LodeProfile *profile)
{
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < profile->events->len; i++)
		if (is_usable(profile, i))
			g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
				lode_profile_event(profile, i)->name);
	if (names->len == 0)
		g_string_append(names, "none");
	return g_string_free(names, FALSE);
}

static bool find_event(const LodeProfile *profile, const LodeTraceMisses *wanted,
	uint32_t *out_event, GError **error)
{
	const char *const one[] = {given.event, NULL};
	static const char *const of_branches[] = {"branch-miss", NULL};
	const char *const *names = given.event != NULL         ? one
	                           : wanted->predicts_branches ? of_branches
	                                                       : lode_simulated_events();

	for (const char *const *name = lode_simulated_events_classes();
		wanted->classifies && names != one && names != of_branches && *name != NULL;
		name++) {
		*out_event = lode_profile_find_event(profile, *name);
		if (is_usable(profile, *out_event) &&
			lode_profile_event(profile, *out_event)->total > 0)
			return true;
	}

	for (size_t i = 0; names[i] != NULL; i++) {
		*out_event = lode_profile_find_event(profile, names[i]);
		if (is_usable(profile, *out_event))
			return true;
	}
	g_autofree char *usable = usable_names(profile);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"--event: '%s' cannot be shown by %s; there are: %s", names[0],
		lode_event_by_to_text((LodeEventBy)chosen_by()), usable);
	return false;
}

/* The file appears under its name when it is whole. */
static bool write_plot(
	const LodeProfile *profile, uint32_t event, LodePlotFormat format, GError **error)
{
	g_autoptr(LodeEventGroups)
		groups = lode_event_groups_new(profile, event, LODE_EVENT_BY_OBJECT);
	g_autoptr(LodeOutputFile) file = lode_output_file_open(given.plot, error);

	if (file == NULL)
		return false;
	if (!lode_misses_by_object_plot_write(
		    profile, groups, format, lode_output_file_stream(file), error)) {
		g_prefix_error(error, "%s: ", given.plot);
		return false;
	}
	return lode_output_file_commit(file, error);
}

/* Branches are those of the images alone. */
static void tell_unknown_code(const LodeProfile *profile)
{
	char number[LODE_NUMBER_SIZE];

	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_TRACED_NO_CODE) == 0)
			lode_display_line(stderr,
				"lode trace simulate: note: %s instructions were executed in code "
				"of which no image is known; their branches are not predicted",
				lode_number_format_count(row->samples, number));
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

static bool write_groups(
	const LodeProfile *profile, const LodeTraceMisses *wanted, FILE *out, GError **error)
{
	LodeEventTableOptions view = {
		.format = wanted->format, .terminal = lode_terminal_of(out), .top = wanted->top};
	uint32_t event;

	if (!find_event(profile, wanted, &event, error) ||
		(given.plot != NULL && !write_plot(profile, event, wanted->plot_format, error)))
		return false;
	g_autoptr(LodeEventGroups) groups = lode_event_groups_new(profile, event, wanted->by);
	if (wanted->predicts_branches && wanted->format == LODE_VIEW_TEXT) {
		write_rate(profile, "conditional", "Bc", "Bcm", out);
		write_rate(profile, "indirect", "Bi", "Bim", out);
		fputc('\n', out);
	}
	if (wanted->predicts_branches)
		tell_unknown_code(profile);
	return lode_event_table_write(profile, groups, &view, out, error);
}

static bool write_sharing(
	const LodeProfile *profile, const LodeTraceMisses *wanted, FILE *out, GError **error)
{
	static const char *const events[] = {LODE_FALSE_SHARING_MISS, LODE_TRUE_SHARING_MISS, NULL};
	const LodeSampleFilterOptions both = {.events = events};
	const LodeCache *first = &g_array_index(wanted->hierarchy->caches, LodeCache, 0);
	LodeMemorySharingOptions view = {.format = wanted->format,
		.terminal = lode_terminal_of(out),
		.limit = wanted->top,
		.are_misses_classified = true};

	for (guint i = 1; i < wanted->hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(wanted->hierarchy->caches, LodeCache, i);
		if (cache->level == 1 && !cache->is_tlb && (cache->holds & LODE_CACHE_DATA) != 0)
			first = cache;
	}
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
	const uint32_t *samples = (const uint32_t *)chosen->data;
	g_autoptr(LodeLineSharing) sharing = lode_line_sharing_new(
		profile, samples, chosen->len, first->line_bytes, NULL);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, profile, samples, chosen->len);
	view.notes = &notes;
	return lode_memory_sharing_write(profile, sharing, &view, out, error);
}

bool lode_trace_misses_write(
	const LodeProfile *profile, const LodeTraceMisses *wanted, GError **error)
{
	LodeTraceMisses view = *wanted;

	if (!view.has_top && view.format != LODE_VIEW_TEXT)
		view.top = 0;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(wanted->output, error);
	if (file == NULL)
		return false;
	FILE *out = lode_trace_results_stream(file, wanted->is_of_program);
	return (view.shares ? write_sharing(profile, &view, out, error)
			    : write_groups(profile, &view, out, error)) &&
	       lode_output_file_commit(file, error);
}

bool lode_trace_misses_write_file(
	const char *path, const LodeTraceMisses *wanted, bool *out_is_whole, GError **error)
{
	g_autoptr(LodeProfile) profile = import(path, wanted, error);

	if (profile == NULL || !lode_trace_misses_write(profile, wanted, error))
		return false;
	*out_is_whole = lode_whole_trace_check(
		"trace simulate", path, profile, "these are of what is whole");
	return true;
}
