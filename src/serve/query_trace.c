/* SPDX-License-Identifier: MIT */
/* Queries of address traces: what lode trace simulate shows. */
#include "analyses/memory/event_groups.h"
#include "analyses/memory/simulated_events.h"
#include "base/error.h"
#include "caches/hierarchy_sweep.h"
#include "caches/trace_replay.h"
#include "serve/query.h"
#include "views/cache_results.h"
#include "views/event_table.h"

#include <string.h>

enum { MAX_HIERARCHIES = 64, MAX_CURVES = 6, MAX_TIMES = 1000, DEFAULT_LINE = 64 };

static LodeServedTrace *find_trace(const LodeServeQuery *query, GError **error)
{
	const GPtrArray *traces = query->files->traces;
	uint64_t number = 0;

	if (!lode_serve_parameters_count(query->parameters, "trace", UINT32_MAX, &number, error))
		return NULL;
	if (number < traces->len)
		return g_ptr_array_index(traces, number);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no trace %" G_GUINT64_FORMAT ": %u are served", number, traces->len);
	return NULL;
}

/* This machine's own, or of one that does not tell them, another's. */
static bool add_default(GPtrArray *hierarchies, GError **error)
{
	LodeHierarchy *hierarchy = lode_hierarchy_parse_words("host", NULL);

	if (hierarchy == NULL)
		hierarchy = lode_hierarchy_parse_words("skylake-server", error);
	if (hierarchy != NULL)
		g_ptr_array_add(hierarchies, hierarchy);
	return hierarchy != NULL;
}

static bool add_sweep(GPtrArray *hierarchies, const char *text, GError **error)
{
	g_auto(GStrv) texts = lode_hierarchy_sweep_expand(text, error);

	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
		LodeHierarchy *hierarchy = lode_hierarchy_parse_words(texts[i], error);
		if (hierarchy == NULL)
			return false;
		g_ptr_array_add(hierarchies, hierarchy);
	}
	if (hierarchies->len <= MAX_HIERARCHIES)
		return texts != NULL;
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d hierarchies", MAX_HIERARCHIES);
	return false;
}

/* cache, which may come again, as of lode trace simulate, but that no file can be named. */
static GPtrArray *read_caches(
	const LodeServeParameters *parameters, bool has_default, GError **error)
{
	g_autofree const char **texts = lode_serve_parameters_texts(parameters, "cache");
	g_autoptr(GPtrArray)
		hierarchies = g_ptr_array_new_with_free_func((GDestroyNotify)lode_hierarchy_free);

	if (texts == NULL && has_default && !add_default(hierarchies, error))
		return NULL;
	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
		if (!add_sweep(hierarchies, texts[i], error)) {
			g_prefix_error(error, "cache: ");
			return NULL;
		}
	}
	return g_steal_pointer(&hierarchies);
}

/* curve=data, instructions or all, which may come again; line=64 */
static GArray *read_curves(const LodeServeParameters *parameters, GError **error)
{
	static const uint8_t known[] = {LODE_CACHE_DATA, LODE_CACHE_INSTRUCTIONS,
		LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS};
	g_autofree const char **words = lode_serve_parameters_texts(parameters, "curve");
	g_autoptr(GArray) curves = g_array_new(FALSE, FALSE, sizeof(LodeStackDistancesOptions));
	uint64_t line = DEFAULT_LINE;

	if (!lode_serve_parameters_count(
		    parameters, "line", LODE_STACK_DISTANCES_MAX_LINE, &line, error))
		return NULL;
	if (line < LODE_STACK_DISTANCES_MIN_LINE || (line & (line - 1)) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"line: %" G_GUINT64_FORMAT " is not a power of two from %d to 1G", line,
			LODE_STACK_DISTANCES_MIN_LINE);
		return NULL;
	}
	for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
		LodeStackDistancesOptions curve = {.line_bytes = (uint32_t)line};
		for (size_t j = 0; j < G_N_ELEMENTS(known); j++)
			if (strcmp(words[i], lode_miss_curve_holds_text(known[j])) == 0)
				curve.holds = known[j];
		if (curve.holds == 0 || curves->len == MAX_CURVES) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"curve: '%s' is not data, instructions or all", words[i]);
			return NULL;
		}
		g_array_append_val(curves, curve);
	}
	return g_steal_pointer(&curves);
}

bool lode_serve_trace(const LodeServeQuery *query, GError **error)
{
	LodeServedTrace *trace = find_trace(query, error);
	uint64_t n_times = 0;

	if (trace == NULL || !lode_serve_parameters_count(
				     query->parameters, "over_time", MAX_TIMES, &n_times, error))
		return false;
	g_autoptr(GArray) curves = read_curves(query->parameters, error);
	if (curves == NULL)
		return false;
	g_autoptr(GPtrArray) hierarchies = read_caches(query->parameters, curves->len == 0, error);
	if (hierarchies == NULL)
		return false;
	const LodeTraceReplayOptions replay = {
		.hierarchies = (const LodeHierarchy *const *)hierarchies->pdata,
		.n_hierarchies = hierarchies->len,
		.distances = (const LodeStackDistancesOptions *)(void *)curves->data,
		.n_distances = curves->len,
		.classifies = hierarchies->len > 0 &&
	                      lode_serve_parameters_flag(query->parameters, "classify"),
		.n_times = (unsigned)n_times,
	};
	g_autoptr(LodeTraceReader)
		reader = lode_trace_reader_open(lode_served_trace_path(trace), NULL, error);
	if (reader == NULL)
		return false;
	g_autoptr(LodeTraceReplay)
		replayed = lode_trace_replay_run(reader, &replay, query->progress, error);
	if (replayed == NULL)
		return false;
	const LodeCacheResults results = {
		.path = lode_served_trace_name(trace),
		.command = lode_trace_reader_description(reader)->command,
		.replay = replayed,
		.hierarchies = replay.hierarchies,
		.n_hierarchies = replay.n_hierarchies,
		.is_classified = replay.classifies,
	};
	const LodeCacheResultsOptions view = {.format = query->format};
	return lode_cache_results_write(&results, 1, &view, query->out, error);
}

static bool can_show(const LodeProfile *profile, uint32_t event, LodeEventBy by)
{
	return event != LODE_NONE && lode_profile_event(profile, event)->total > 0 &&
	       lode_event_groups_are_known(profile, event, by);
}

/* The event that is asked for, or the first that has something. */
static uint32_t find_event(
	const LodeServeQuery *query, const LodeProfile *profile, LodeEventBy by, GError **error)
{
	const char *name = lode_serve_parameters_text(query->parameters, "event");
	const char *const one[] = {name, NULL};
	const char *const *names = name != NULL ? one : lode_simulated_events();
	g_autoptr(GString) known = g_string_new(NULL);

	for (size_t i = 0; names[i] != NULL; i++) {
		uint32_t event = lode_profile_find_event(profile, names[i]);
		if (can_show(profile, event, by))
			return event;
	}
	for (uint32_t i = 0; i < profile->events->len; i++)
		if (can_show(profile, i, by))
			g_string_append_printf(known, "%s%s", known->len > 0 ? ", " : "",
				lode_profile_event(profile, i)->name);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"event: '%s' has nothing to show by %s; there are: %s", names[0],
		lode_event_by_to_text(by), known->len > 0 ? known->str : "none");
	return LODE_NONE;
}

static bool write_misses(
	const LodeServeQuery *query, const LodeProfile *profile, LodeEventBy by, GError **error)
{
	LodeEventTableOptions view = {.format = query->format};
	uint32_t event;
	uint64_t top = 0;

	if (lode_event_by_is_of_data(by) && profile->memory == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the trace has no accesses to data");
		return false;
	}
	event = find_event(query, profile, by, error);
	if (event == LODE_NONE ||
		!lode_serve_parameters_count(query->parameters, "top", UINT32_MAX, &top, error))
		return false;
	view.top = (uint32_t)top;
	g_autoptr(LodeEventGroups) groups = lode_event_groups_new(profile, event, by);
	return lode_event_table_write(profile, groups, &view, query->out, error);
}

bool lode_serve_misses(const LodeServeQuery *query, GError **error)
{
	const char *text = lode_serve_parameters_text(query->parameters, "by");
	int by = text != NULL ? lode_event_by_from_text(text) : LODE_EVENT_BY_OBJECT;
	LodeServedTrace *trace = find_trace(query, error);

	if (trace == NULL)
		return false;
	if (by < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"by: '%s' is not instruction, function, line, object or thread", text);
		return false;
	}
	g_autoptr(GPtrArray) hierarchies = read_caches(query->parameters, true, error);
	if (hierarchies == NULL)
		return false;
	if (hierarchies->len != 1) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"cache: misses by place are those of one hierarchy");
		return false;
	}
	const LodeProfile *profile = lode_served_trace_take_profile(
		trace, g_ptr_array_index(hierarchies, 0), query->progress, error);
	if (profile == NULL)
		return false;
	bool is_written = write_misses(query, profile, (LodeEventBy)by, error);
	lode_served_trace_give_back(trace);
	return is_written;
}
