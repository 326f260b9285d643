/* SPDX-License-Identifier: MIT */
/* What lode diff says of two of the profiles that are served. */
#include "base/error.h"
#include "serve/query.h"
#include "views/comparison.h"

#include <math.h>

/* by, normalise, weight, images, functions */
static bool read_comparison(
	const LodeServeParameters *parameters, LodeComparisonOptions *options, GError **error)
{
	*options = (LodeComparisonOptions){
		.weight = lode_serve_parameters_text(parameters, "weight"),
		.images = lode_serve_parameters_text(parameters, "images"),
		.functions = lode_serve_parameters_text(parameters, "functions"),
	};
	if (lode_comparison_options_read(lode_serve_parameters_text(parameters, "by"),
		    lode_serve_parameters_text(parameters, "normalise"), options, error))
		return true;
	g_prefix_error(error, "by: ");
	return false;
}

static LodeServedProfile *find_base(const LodeServeQuery *query, GError **error)
{
	const GPtrArray *profiles = query->files->profiles;
	uint64_t number = 0;

	if (!lode_serve_parameters_count(query->parameters, "base", UINT32_MAX, &number, error))
		return NULL;
	if (number < profiles->len)
		return g_ptr_array_index(profiles, number);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"base: no profile %" G_GUINT64_FORMAT ": %u are served", number, profiles->len);
	return NULL;
}

bool lode_serve_compare(const LodeServeQuery *query, GError **error)
{
	LodeComparisonOptions options;
	LodeComparisonViewOptions view = {.format = query->format, .fail_above = NAN};
	uint64_t limit = 0, number = 0;

	if (!read_comparison(query->parameters, &options, error) ||
		!lode_serve_parameters_count(
			query->parameters, "limit", UINT32_MAX, &limit, error) ||
		!lode_serve_parameters_count(
			query->parameters, "profile", UINT32_MAX, &number, error))
		return false;
	LodeServedProfile *served = find_base(query, error);
	if (served == NULL)
		return false;
	g_autoptr(LodeProfileSnapshot)
		base = lode_served_profile_take(served, query->progress, query->out_state, error);
	if (base == NULL)
		return false;
	const LodeProfile *const both[] = {lode_profile_snapshot_profile(base), query->profile};
	g_autoptr(LodeComparison)
		comparison = lode_comparison_new(both, &options, query->progress, error);
	if (comparison == NULL)
		return false;
	const LodeComparedFile file = {.profile = query->profile,
		.path = lode_served_profile_name(
			g_ptr_array_index(query->files->profiles, (guint)number)),
		.comparison = comparison};
	view.base_path = lode_served_profile_name(served);
	view.limit = (uint32_t)limit;
	return lode_comparison_write(both[0], &file, 1, &view, query->out, error);
}
