/* SPDX-License-Identifier: MIT */
/* lode trace simulate --by: simulated misses by what the program is made of. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/trace_simulation.h"
#include "ingest/import.h"
#include "views/event_table.h"
#include "views/plot/misses_by_object_plot.h"

enum { DEFAULT_TOP = 30 }; /* on a screen; JSON and CSV have all */

static struct {
	char *by, *event, *top, *plot;
} given;

const GOptionEntry lode_trace_miss_options[] = {
	{"by", 0, 0, G_OPTION_ARG_STRING, &given.by,
		"show the misses of one hierarchy by place in the program, or by data object",
		"instruction|function|line|object"},
	{"event", 0, 0, G_OPTION_ARG_STRING, &given.event,
		"which misses --by is of, such as l1d-miss (default: ll-miss, of the last level)",
		"NAME"},
	{"top", 0, 0, G_OPTION_ARG_STRING, &given.top,
		"show at most N rows of --by; 0: all (default: 30; all in JSON and CSV)", "N"},
	{"plot-objects", 0, 0, G_OPTION_ARG_FILENAME, &given.plot,
		"draw the misses by data object, as FILE.svg or FILE.png", "FILE"},
	G_OPTION_ENTRY_NULL,
};

/* Those that cost most first. */
static const char *const likely_events[] = {
	"ll-miss", "l1d-miss", "l1i-miss", "stlb-miss", "dtlb-miss", "itlb-miss"};

bool lode_trace_misses_are_wanted(void)
{
	return given.by != NULL || given.plot != NULL;
}

bool lode_trace_misses_read(LodeTraceMisses *self, GError **error)
{
	int by = given.by != NULL ? lode_event_by_from_text(given.by) : LODE_EVENT_BY_OBJECT;
	uint64_t top = DEFAULT_TOP;

	if (by < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--by: '%s' is not instruction, function, line or object", given.by);
		return false;
	}
	if (!lode_trace_misses_are_wanted() && (given.event != NULL || given.top != NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s is for --by, which is missing",
			given.event != NULL ? "--event" : "--top");
		return false;
	}
	if (!lode_option_count("--top", given.top, UINT32_MAX, &top, error) ||
		(given.plot != NULL &&
			!lode_plot_format_from_path(given.plot, &self->plot_format, error)))
		return false;
	self->by = (LodeEventBy)by;
	self->top = (uint32_t)top;
	self->has_top = given.top != NULL;
	return true;
}

static LodeProfile *import(const char *path, const LodeTraceMisses *wanted, GError **error)
{
	const LodeImportOptions import_options = {
		.paths = &path,
		.n_paths = 1,
		.hierarchy = wanted->hierarchy,
		.threads = wanted->threads,
	};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	return lode_import(&import_options, &screen.progress, error);
}

static char *event_names(const LodeProfile *profile)
{
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < profile->events->len; i++)
		g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
			LODE_AT(profile->events, LodeEvent, i).name);
	return g_string_free(names, FALSE);
}

static bool find_event(const LodeProfile *profile, uint32_t *out_event, GError **error)
{
	uint32_t event = LODE_NONE;

	if (given.event != NULL)
		event = lode_profile_find_event(profile, given.event);
	for (size_t i = 0; given.event == NULL && i < G_N_ELEMENTS(likely_events); i++) {
		uint32_t likely = lode_profile_find_event(profile, likely_events[i]);
		bool has_any = likely != LODE_NONE &&
		               LODE_AT(profile->events, LodeEvent, likely).total > 0;
		if (has_any || event == LODE_NONE)
			event = likely;
		if (has_any)
			break;
	}
	*out_event = event;
	if (event != LODE_NONE)
		return true;
	g_autofree char *names = event_names(profile);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "--event: no '%s' here; there are %s",
		given.event != NULL ? given.event : likely_events[0], names);
	return false;
}

static LodeEventGroups *group(
	const LodeProfile *profile, LodeEventBy by, uint32_t event, GError **error)
{
	if (by != LODE_EVENT_BY_OBJECT || profile->memory != NULL)
		return lode_event_groups_new(profile, event, by);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"the trace has no data addresses of which an object could be told");
	return NULL;
}

/* The file appears under its name when it is whole. */
static bool write_plot(
	const LodeProfile *profile, uint32_t event, LodePlotFormat format, GError **error)
{
	g_autoptr(LodeEventGroups) groups = group(profile, LODE_EVENT_BY_OBJECT, event, error);
	g_autoptr(LodeOutputFile) file = groups != NULL ? lode_output_file_open(given.plot, error)
	                                                : NULL;

	if (file == NULL)
		return false;
	if (!lode_misses_by_object_plot_write(
		    profile, groups, format, lode_output_file_stream(file), error)) {
		g_prefix_error(error, "%s: ", given.plot);
		return false;
	}
	return lode_output_file_commit(file, error);
}

bool lode_trace_misses_write(const char *path, const LodeTraceMisses *wanted, GError **error)
{
	LodeEventTableOptions view = {.format = wanted->format, .top = wanted->top};
	uint32_t event;

	g_autoptr(LodeProfile) profile = import(path, wanted, error);
	if (profile == NULL || !find_event(profile, &event, error) ||
		(given.plot != NULL && !write_plot(profile, event, wanted->plot_format, error)))
		return false;
	g_autoptr(LodeEventGroups) groups = group(profile, wanted->by, event, error);
	g_autoptr(LodeOutputFile)
		file = groups != NULL ? lode_output_file_open(wanted->output, error) : NULL;
	if (file == NULL)
		return false;
	FILE *out = lode_output_file_stream(file);
	view.terminal = lode_terminal_of(out);
	if (!wanted->has_top && wanted->format != LODE_VIEW_TEXT)
		view.top = 0;
	return lode_event_table_write(profile, groups, &view, out, error) &&
	       lode_output_file_commit(file, error);
}
