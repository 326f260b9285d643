/* SPDX-License-Identifier: MIT */
#include "serve/query.h"

#include "base/error.h"

#include <string.h>

static const LodeServeQueryKind kinds[] = {
	{"profiles", lode_serve_profiles, true},
	{"info", lode_serve_info, false},
	{"findings", lode_serve_findings, false},
	{"sequences", lode_serve_sequences, false},
	{"functions", lode_serve_functions, false},
	{"annotate", lode_serve_annotate, false},
	{"graph", lode_serve_graph, false},
	{"pivot", lode_serve_pivot, false},
	{"heat", lode_serve_heat, false},
	{"layout", lode_serve_layout, false},
	{"sharing", lode_serve_sharing, false},
	{"placement", lode_serve_placement, false},
	{"compare", lode_serve_compare, false},
	{"trace", lode_serve_trace, true},
	{"misses", lode_serve_misses, true},
};

const LodeServeQueryKind *lode_serve_query_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

LodeServedProfile *lode_serve_query_profile(
	const LodeServeParameters *parameters, const GPtrArray *profiles, GError **error)
{
	uint64_t number = 0;

	if (!lode_serve_parameters_count(parameters, "profile", UINT32_MAX, &number, error))
		return NULL;
	if (number < profiles->len)
		return g_ptr_array_index(profiles, number);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no profile %" G_GUINT64_FORMAT ": %u are served", number, profiles->len);
	return NULL;
}

const LodeMiningRun *lode_serve_query_mining(
	const LodeServeQuery *self, bool has_sequences, GError **error)
{
	const char *name = lode_serve_parameters_text(self->parameters, "run");

	return lode_profile_snapshot_run(
		self->snapshot, name, has_sequences, self->progress, error);
}

static bool read_format(
	const LodeServeParameters *parameters, LodeViewFormat *out_format, GError **error)
{
	const char *text = lode_serve_parameters_text(parameters, "format");
	LodeViewFormat format = LODE_VIEW_JSON;

	if (text != NULL &&
		(!lode_view_format_from_text(text, &format) || format == LODE_VIEW_TEXT)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "format: '%s' is not json or csv",
			text);
		return false;
	}
	*out_format = format;
	return true;
}

bool lode_serve_query_run(const LodeServeQueryKind *kind, const LodeServeParameters *parameters,
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out,
	LodeServedState *out_state, GError **error)
{
	LodeServeQuery query = {.parameters = parameters,
		.files = files,
		.progress = progress,
		.out = out,
		.out_state = out_state};

	*out_state = LODE_SERVED_CURRENT;
	if (!read_format(parameters, &query.format, error))
		return false;
	if (kind->is_of_all)
		return kind->answer(&query, error);
	LodeServedProfile *served = lode_serve_query_profile(parameters, files->profiles, error);
	if (served == NULL)
		return false;
	g_autoptr(LodeProfileSnapshot)
		snapshot = lode_served_profile_take(served, progress, out_state, error);
	if (snapshot == NULL)
		return false;
	query.snapshot = snapshot;
	query.profile = lode_profile_snapshot_profile(snapshot);
	return kind->answer(&query, error);
}
