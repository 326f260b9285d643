/* SPDX-License-Identifier: MIT */
/* Queries of functions and of code. */
#include "base/error.h"
#include "serve/query.h"
#include "views/annotate.h"
#include "views/function_graph.h"
#include "views/function_list.h"
#include "views/profile_figures.h"

#include <string.h>

bool lode_serve_functions(const LodeServeQuery *query, GError **error)
{
	const LodeServeParameters *parameters = query->parameters;
	const char *sort = lode_serve_parameters_text(parameters, "sort");
	uint64_t offset = 0, limit = 0;
	int order = sort != NULL ? lode_function_order_from_text(sort) : LODE_FUNCTION_BY_WEIGHT;

	if (order < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"sort: '%s' is not weight, executions, calls, name or image", sort);
		return false;
	}
	if (!lode_serve_parameters_count(parameters, "offset", UINT32_MAX, &offset, error) ||
		!lode_serve_parameters_count(parameters, "limit", UINT32_MAX, &limit, error))
		return false;
	LodeFunctionListOptions options = {
		.format = query->format,
		.order = (LodeFunctionOrder)order,
		.is_reversed = lode_serve_parameters_flag(parameters, "reverse"),
		.text = lode_serve_parameters_text(parameters, "text"),
		.image = lode_serve_parameters_text(parameters, "image"),
		.offset = (uint32_t)offset,
		.limit = (uint32_t)limit,
	};
	return lode_function_list_write(
		query->profile, query->profile->weight_event, &options, query->out, error);
}

/* finding=3, sequence=231, function=17 (its number), or file=list.c&line=31: exactly one. */
static bool read_subject(
	const LodeServeParameters *parameters, LodeAnnotateOptions *options, GError **error)
{
	static const char *const names[] = {"sequence", "finding", "function", "line"};
	uint64_t value = 0;
	int subject = -1;

	for (int i = 0; i < (int)G_N_ELEMENTS(names); i++) {
		if (lode_serve_parameters_text(parameters, names[i]) == NULL)
			continue;
		if (subject >= 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s and %s exclude each other", names[subject], names[i]);
			return false;
		}
		subject = i;
	}
	if (subject < 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"one of finding, sequence, function or line is needed");
		return false;
	}
	if (!lode_serve_parameters_count(parameters, names[subject], UINT32_MAX - 1, &value, error))
		return false;
	options->subject = (LodeAnnotateSubject)subject;
	options->id = value;
	options->name = lode_serve_parameters_text(parameters, "file");
	if (subject == LODE_ANNOTATE_FUNCTION)
		options->function = (uint32_t)value;
	options->line = (uint32_t)value;
	if (subject != LODE_ANNOTATE_LINE || options->name != NULL)
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, "line needs a file");
	return false;
}

/* A function or a line can be shown before anything was mined. */
static const LodeMiningRun *find_run(const LodeServeQuery *query, LodeAnnotateOptions *options,
	LodeMiningRun **out_own, GError **error)
{
	LodeMiningParameters none;

	options->has_no_run = options->subject >= LODE_ANNOTATE_FUNCTION &&
	                      lode_profile_snapshot_runs(query->snapshot)->len == 0;
	if (!options->has_no_run)
		return lode_serve_query_mining(
			query, options->subject == LODE_ANNOTATE_SEQUENCE, error);
	lode_mining_parameters_init(&none);
	*out_own = lode_mining_run_new("none", &none);
	return *out_own;
}

bool lode_serve_annotate(const LodeServeQuery *query, GError **error)
{
	LodeAnnotateOptions options;
	uint64_t limit = 0, context;
	g_autoptr(LodeMiningRun) own = NULL;

	lode_annotate_options_init(&options);
	context = options.context;
	if (!read_subject(query->parameters, &options, error) ||
		!lode_serve_parameters_count(
			query->parameters, "limit", UINT32_MAX, &limit, error) ||
		!lode_serve_parameters_count(query->parameters, "context", 10000, &context, error))
		return false;
	options.format = query->format;
	options.limit = (uint32_t)limit;
	options.context = (uint32_t)context;
	options.is_page = true;
	options.source = query->files->source;
	const LodeMiningRun *run = find_run(query, &options, &own, error);
	if (run == NULL)
		return false;
	return lode_annotate_write(
		query->profile, run, &options, query->progress, query->out, error);
}

bool lode_serve_graph(const LodeServeQuery *query, GError **error)
{
	uint64_t function = UINT64_MAX;

	if (!lode_serve_parameters_count(
		    query->parameters, "function", UINT32_MAX - 1, &function, error))
		return false;
	return lode_function_graph_write(
		query->profile, query->profile->weight_event, function, query->out, error);
}
