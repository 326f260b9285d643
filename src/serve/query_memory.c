/* SPDX-License-Identifier: MIT */
/* Queries of data addresses. */
#include "analyses/memory/address_histogram.h"
#include "analyses/memory/pivot.h"
#include "analyses/memory/placement_proposal.h"
#include "analyses/memory/sample_attributes.h"
#include "analyses/memory/sample_filter.h"
#include "base/error.h"
#include "serve/query.h"
#include "views/memory_heat.h"
#include "views/memory_layout.h"
#include "views/memory_pivot.h"
#include "views/memory_sharing.h"
#include "views/placement_summary.h"

#include <string.h>

/* All that decides which samples are chosen. */
static char *describe_filter(
	const LodeServeParameters *parameters, const char *what, const char *const *groups)
{
	static const char *const filters[] = {
		"where", "event", "thread", "pc", "address", "loads", "stores", "define", NULL};
	GString *text = g_string_new(what);

	g_string_append_c(text, '\n');
	for (guint i = 0; i < parameters->names->len; i++) {
		const char *name = g_ptr_array_index(parameters->names, i);
		if (g_strv_contains(filters, name))
			g_string_append_printf(text, "%s=%s\n", name,
				(const char *)g_ptr_array_index(parameters->values, i));
	}
	for (; groups != NULL && *groups != NULL; groups++)
		g_string_append_printf(text, "by %s\n", *groups);
	return g_string_free(text, FALSE);
}

/* The samples that pass the filters, as those of lode memory: where, event, thread, pc, address,
 * loads, stores, define. `groups` as LodeSampleFilterOptions has them. They are kept: a picture
 * that is moved about asks for its tiles with one filter. */
static GArray *choose_samples(
	const LodeServeQuery *query, const char *const *groups, GError **error)
{
	const LodeServeParameters *parameters = query->parameters;
	g_autofree char *asked = describe_filter(parameters, "samples", groups);
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
		.progress = query->progress,
	};

	if (query->profile->memory == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no data addresses were recorded; 'lode memory record -- PROGRAM' records "
			"them");
		return NULL;
	}
	GArray *chosen = lode_profile_snapshot_find(query->snapshot, &lode_kept_list, asked);
	if (chosen != NULL)
		return chosen;
	chosen = lode_sample_filter_apply(query->profile, &options, error);
	if (chosen != NULL)
		lode_profile_snapshot_keep(query->snapshot, &lode_kept_list, asked, chosen);
	return chosen;
}

static bool fail_stopped(GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
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
	LodePivotOptions options = {.definitions = definitions, .progress = query->progress};

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

/* "0x7f00" */
static bool read_address(const LodeServeParameters *parameters, const char *name,
	uint64_t *out_value, GError **error)
{
	const char *text = lode_serve_parameters_text(parameters, name);

	if (text != NULL && g_str_has_prefix(text, "0x") &&
		g_ascii_string_to_unsigned(text + 2, 16, 0, UINT64_MAX, out_value, NULL))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%s: '%s' is not an address such as 0x7f00", name, text != NULL ? text : "");
	return false;
}

/* first, last, rows; from, to: as `time` in expressions. */
static bool read_part(const LodeServeParameters *parameters, uint64_t first_ns,
	LodeMemoryGridPart *out_part, GError **error)
{
	uint64_t rows = 128, from = 0, to = G_MAXINT64;
	LodeMemoryGridPart part;

	if (!read_address(parameters, "first", &part.first, error) ||
		!read_address(parameters, "last", &part.last, error) ||
		!lode_serve_parameters_count(
			parameters, "rows", LODE_GRID_MAX_PART_ROWS, &rows, error) ||
		!lode_serve_parameters_count(parameters, "from", G_MAXINT64, &from, error) ||
		!lode_serve_parameters_count(parameters, "to", G_MAXINT64, &to, error))
		return false;
	if (rows == 0 || part.first > part.last || from > to) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a part has rows, and its ends are in order");
		return false;
	}
	part.n_rows = (uint32_t)rows;
	part.begin_ns = from <= UINT64_MAX - first_ns ? first_ns + from : UINT64_MAX;
	part.end_ns = to <= UINT64_MAX - first_ns ? first_ns + to : UINT64_MAX;
	*out_part = part;
	return true;
}

static void *ref_parts(void *parts)
{
	return lode_memory_grid_parts_ref(parts);
}

static void unref_parts(void *parts)
{
	lode_memory_grid_parts_unref(parts);
}

/* A picture that is moved about asks for many parts of the same samples. */
static LodeMemoryGridParts *find_parts(const LodeServeQuery *query, GError **error)
{
	static const LodeKeptKind kind = {ref_parts, unref_parts};
	g_autofree char *asked = describe_filter(query->parameters, "parts", NULL);
	LodeMemoryGridParts *parts = lode_profile_snapshot_find(query->snapshot, &kind, asked);

	if (parts != NULL)
		return parts;
	g_autoptr(GArray) chosen = choose_samples(query, NULL, error);
	if (chosen == NULL)
		return NULL;
	parts = lode_memory_grid_parts_new(query->profile, (const uint32_t *)(void *)chosen->data,
		chosen->len, query->progress);
	if (parts != NULL)
		lode_profile_snapshot_keep(query->snapshot, &kind, asked, parts);
	else
		fail_stopped(error);
	return parts;
}

static bool serve_part(const LodeServeQuery *query, GError **error)
{
	LodeMemoryGridPart part;
	g_autoptr(LodeMemoryGridParts) parts = find_parts(query, error);

	if (parts == NULL)
		return false;
	uint64_t first_ns = lode_memory_grid_parts_first_time(parts);
	return read_part(query->parameters, first_ns, &part, error) &&
	       lode_memory_heat_write_part(
		       query->profile, parts, &part, query->progress, query->out, error);
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
	if (lode_serve_parameters_text(query->parameters, "first") != NULL)
		return serve_part(query, error);
	g_autoptr(GArray) chosen = choose_samples(query, NULL, error);
	if (chosen == NULL)
		return false;
	return lode_memory_heat_write(query->profile, (const uint32_t *)(void *)chosen->data,
		chosen->len, granularity, query->progress, query->out, error);
}

bool lode_serve_layout(const LodeServeQuery *query, GError **error)
{
	const LodeTypeLayoutOptions options = {
		.type = lode_serve_parameters_text(query->parameters, "type"),
		.progress = query->progress,
	};

	if (options.type == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, "a type is needed");
		return false;
	}
	g_autoptr(GArray) chosen = choose_samples(query, NULL, error);
	if (chosen == NULL)
		return false;
	const uint32_t *samples = (const uint32_t *)(void *)chosen->data;
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(
		query->profile, samples, chosen->len, &options, error);
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
		query->profile, samples, chosen->len, LODE_LINE_BYTES, query->progress);
	if (sharing == NULL)
		return fail_stopped(error);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, query->profile, samples, chosen->len);
	LodeMemorySharingOptions view = {.format = query->format,
		.limit = (uint32_t)top,
		.are_misses_classified = sharing->is_of_misses,
		.notes = &notes};
	return lode_memory_sharing_write(query->profile, sharing, &view, query->out, error);
}

/* A machine in words, as "numa:4 core:8 pu:1". lode place takes a file too, which an address of the
 * page never names. */
static bool is_machine(const char *text)
{
	return g_regex_match_simple(
		"^[a-z0-9]{1,16}:[0-9]{1,4}( [a-z0-9]{1,16}:[0-9]{1,4}){0,7}$", text, 0, 0);
}

static bool read_placement(const LodeServeParameters *parameters,
	LodePlacementProposalOptions *options, GError **error)
{
	const char *policy = lode_serve_parameters_text(parameters, "policy");
	int found = policy != NULL ? lode_placement_policy_from_text(policy)
	                           : LODE_PLACEMENT_MAJORITY;
	uint64_t threads = 0, pid = 0;

	if (!lode_serve_parameters_count(parameters, "threads_per_memory",
		    LODE_PLACEMENT_MAX_THREADS, &threads, error) ||
		!lode_serve_parameters_count(parameters, "pid", G_MAXINT32, &pid, error))
		return false;
	if (found < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"policy: '%s' is not majority, first-touch, round-robin or interleave",
			policy);
		return false;
	}
	*options = (LodePlacementProposalOptions){
		.event = lode_serve_parameters_text(parameters, "event"),
		.pid = (uint32_t)pid,
		.policy = (LodePlacementPolicy)found,
		.threads_per_memory = (uint32_t)threads,
	};
	return true;
}

bool lode_serve_placement(const LodeServeQuery *query, GError **error)
{
	const char *machine = lode_serve_parameters_text(query->parameters, "topology");
	LodePlacementProposalOptions options;
	LodePlacementSummaryOptions view = {.format = query->format};

	if (!read_placement(query->parameters, &options, error))
		return false;
	if (query->profile->memory == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no data addresses were recorded; 'lode memory record -- PROGRAM' records "
			"them");
		return false;
	}
	if (machine != NULL && !is_machine(machine)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"topology: '%s' is not a machine such as \"numa:4 core:8 pu:1\"", machine);
		return false;
	}
	g_autoptr(LodeTopology) topology = lode_topology_read(machine, error);
	if (topology == NULL)
		return false;
	/* As lode place does: one memory is planned for as many as the threads need. */
	bool is_even = machine == NULL && topology->nodes->len == 1 &&
	               options.threads_per_memory > 0;
	options.topology = is_even ? NULL : topology;
	options.progress = query->progress;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(query->profile, &options, error);
	return proposal != NULL &&
	       lode_placement_summary_write(query->profile, proposal, &view, query->out, error);
}
