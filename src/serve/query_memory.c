/* SPDX-License-Identifier: MIT */
/* Queries of data addresses. */
#include "analyses/memory/address_histogram.h"
#include "analyses/memory/pivot.h"
#include "analyses/memory/sample_filter.h"
#include "base/error.h"
#include "serve/query.h"
#include "views/memory_heat.h"
#include "views/memory_layout.h"
#include "views/memory_pivot.h"
#include "views/memory_sharing.h"

/* The samples that pass the filters, as those of lode memory: where, event, thread, pc, address,
 * loads, stores, define. `groups` as LodeSampleFilterOptions has them. */
static GArray *choose_samples(
	const LodeServeQuery *query, const char *const *groups, GError **error)
{
	const LodeServeParameters *parameters = query->parameters;
	g_autofree const char **events = lode_serve_parameters_texts(parameters, "event");
	g_autofree const char **threads = lode_serve_parameters_texts(parameters, "thread");
	g_autofree const char **definitions = lode_serve_parameters_texts(parameters, "define");
	LodeSampleFilterOptions options = {
		.where = lode_serve_parameters_text(parameters, "where"),
		.events = events,
		.threads = threads,
		.pc = lode_serve_parameters_text(parameters, "pc"),
		.address = lode_serve_parameters_text(parameters, "address"),
		.loads_only = lode_serve_parameters_flag(parameters, "loads"),
		.stores_only = lode_serve_parameters_flag(parameters, "stores"),
		.definitions = definitions,
		.groups = groups,
	};

	if (query->profile->memory != NULL)
		return lode_sample_filter_apply(query->profile, &options, error);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no data addresses were recorded; 'lode memory record -- PROGRAM' records them");
	return NULL;
}

static bool fail_format(const LodeServeQuery *query, GError **error)
{
	if (query->format == LODE_VIEW_JSON)
		return false;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, "this is only there as JSON");
	return true;
}

static bool read_pivot(
	const LodeServeParameters *parameters, LodePivotOptions *options, GError **error)
{
	static const char *const levels[LODE_PIVOT_MAX_LEVELS] = {"by", "by2", "by3", "by4"};
	const char *sort = lode_serve_parameters_text(parameters, "sort");
	int order = sort != NULL ? lode_pivot_sort_from_text(sort) : LODE_PIVOT_SORT_WEIGHT;
	uint64_t top = 0;

	if (order < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"sort: '%s' is not weight, samples, loads, stores, latency or key", sort);
		return false;
	}
	if (!lode_serve_parameters_count(parameters, "top", UINT32_MAX, &top, error))
		return false;
	options->sort = (LodePivotSort)order;
	options->top = (uint32_t)top;
	for (int i = 0; i < LODE_PIVOT_MAX_LEVELS; i++) {
		const char *level = lode_serve_parameters_text(parameters, levels[i]);
		if (level != NULL)
			options->by[options->n_levels++] = level;
	}
	if (options->n_levels == 0)
		options->by[options->n_levels++] = "object";
	return true;
}

bool lode_serve_pivot(const LodeServeQuery *query, GError **error)
{
	g_autofree const char **definitions = lode_serve_parameters_texts(
		query->parameters, "define");
	LodePivotOptions options = {.definitions = definitions};

	if (!read_pivot(query->parameters, &options, error))
		return false;
	const char *groups[LODE_PIVOT_MAX_LEVELS + 1] = {NULL};
	for (unsigned i = 0; i < options.n_levels; i++)
		groups[i] = options.by[i];
	g_autoptr(GArray) chosen = choose_samples(query, groups, error);
	if (chosen == NULL)
		return false;
	const uint32_t *samples = (const uint32_t *)(void *)chosen->data;
	g_autoptr(LodePivot)
		pivot = lode_pivot_new(query->profile, samples, chosen->len, &options, error);
	if (pivot == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, query->profile, samples, chosen->len);
	LodeMemoryViewOptions view = {.format = query->format, .notes = &notes};
	return lode_memory_pivot_write(query->profile, pivot, &view, query->out, error);
}

bool lode_serve_heat(const LodeServeQuery *query, GError **error)
{
	const char *text = lode_serve_parameters_text(query->parameters, "granularity");
	uint64_t granularity = LODE_PAGE_BYTES;

	if (fail_format(query, error))
		return false;
	if (text != NULL && !lode_address_granularity_from_text(text, &granularity)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"granularity: '%s' is not page, line, word or a power of two up to 1024G",
			text);
		return false;
	}
	g_autoptr(GArray) chosen = choose_samples(query, NULL, error);
	if (chosen == NULL)
		return false;
	return lode_memory_heat_write(query->profile, (const uint32_t *)(void *)chosen->data,
		chosen->len, granularity, query->out, error);
}

bool lode_serve_layout(const LodeServeQuery *query, GError **error)
{
	const char *type = lode_serve_parameters_text(query->parameters, "type");

	if (type == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, "a type is needed");
		return false;
	}
	g_autoptr(GArray) chosen = choose_samples(query, NULL, error);
	if (chosen == NULL)
		return false;
	const uint32_t *samples = (const uint32_t *)(void *)chosen->data;
	g_autoptr(GPtrArray)
		layouts = lode_type_layout_find(query->profile, samples, chosen->len, type, error);
	if (layouts == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, query->profile, samples, chosen->len);
	LodeMemoryLayoutOptions view = {.format = query->format, .notes = &notes};
	return lode_memory_layout_write(query->profile, layouts, &view, query->out, error);
}

bool lode_serve_sharing(const LodeServeQuery *query, GError **error)
{
	static const char *const groups[] = {"event", NULL};
	uint64_t top = 0;

	if (!lode_serve_parameters_count(query->parameters, "top", UINT32_MAX, &top, error))
		return false;
	g_autoptr(GArray) found = choose_samples(query, groups, error);
	if (found == NULL)
		return false;
	g_autoptr(GArray) chosen = lode_line_sharing_choose(
		query->profile, (const uint32_t *)(void *)found->data, found->len);
	const uint32_t *samples = (const uint32_t *)(void *)chosen->data;
	g_autoptr(LodeLineSharing) sharing = lode_line_sharing_new(
		query->profile, samples, chosen->len, LODE_LINE_BYTES);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, query->profile, samples, chosen->len);
	LodeMemorySharingOptions view = {.format = query->format,
		.limit = (uint32_t)top,
		.are_misses_classified = sharing->is_of_misses,
		.notes = &notes};
	return lode_memory_sharing_write(query->profile, sharing, &view, query->out, error);
}
