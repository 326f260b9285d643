/* SPDX-License-Identifier: MIT */
/* Queries of what is in a profile, of its findings and of its sequences. */
#include "base/error.h"
#include "serve/query.h"
#include "views/info.h"
#include "views/report.h"

/* Those that samples of data addresses are of. */
static void put_events(LodeJsonStream *json, LodeProfileSnapshot *snapshot)
{
	const LodeProfile *profile = snapshot != NULL ? lode_profile_snapshot_profile(snapshot)
	                                              : NULL;

	lode_json_key(json, "events");
	lode_json_begin(json, '[');
	for (guint i = 0; profile != NULL && i < profile->events->len; i++)
		if (lode_profile_snapshot_has_addresses(snapshot, i))
			lode_json_string(json, lode_profile_event(profile, i)->name);
	lode_json_end(json, ']');
}

static void put_traces(LodeJsonStream *json, const GPtrArray *traces)
{
	lode_json_key(json, "traces");
	lode_json_begin(json, '[');
	for (guint i = 0; i < traces->len; i++) {
		lode_json_begin(json, '{');
		lode_json_member_number(json, "number", i);
		lode_json_member_string(
			json, "name", lode_served_trace_name(g_ptr_array_index(traces, i)));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* Names by which the page asks for the profiles, and what there is to ask of each. */
bool lode_serve_profiles(const LodeServeQuery *query, GError **error)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, query->out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "version", LODE_VERSION);
	lode_json_key(&json, "profiles");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < query->files->profiles->len; i++) {
		LodeServedProfile *served = g_ptr_array_index(query->files->profiles, i);
		LodeServedState state;
		g_autoptr(GError) fault = NULL;
		g_autoptr(LodeProfileSnapshot) snapshot = lode_served_profile_take(
			served, query->progress, &state, &fault);
		lode_json_line(&json);
		lode_json_begin(&json, '{');
		lode_json_member_number(&json, "number", i);
		lode_json_member_string(&json, "name", lode_served_profile_name(served));
		lode_json_member_string(&json, "fault", fault != NULL ? fault->message : NULL);
		lode_json_member_bool(&json, "has_memory",
			snapshot != NULL &&
				lode_profile_snapshot_profile(snapshot)->memory != NULL);
		put_events(&json, snapshot);
		lode_json_key(&json, "runs");
		lode_json_begin(&json, '[');
		GPtrArray *runs = snapshot != NULL ? lode_profile_snapshot_runs(snapshot) : NULL;
		for (guint j = 0; runs != NULL && j < runs->len; j++)
			lode_json_string(
				&json, ((LodeRunSummary *)g_ptr_array_index(runs, j))->name);
		lode_json_end(&json, ']');
		lode_json_end(&json, '}');
	}
	lode_json_end(&json, ']');
	put_traces(&json, query->files->traces);
	lode_json_key(&json, "live");
	if (query->files->live != NULL) {
		lode_json_begin(&json, '{');
		lode_json_member_string(
			&json, "program", lode_live_feed_program(query->files->live));
		lode_json_member_bool(&json, "is_over", lode_live_feed_is_over(query->files->live));
		lode_json_end(&json, '}');
	} else {
		lode_json_string(&json, NULL);
	}
	lode_json_end(&json, '}');
	return lode_view_flush(query->out, error);
}

bool lode_serve_info(const LodeServeQuery *query, GError **error)
{
	LodeInfoOptions options = {.format = query->format};

	return lode_info_write(query->profile, lode_profile_snapshot_runs(query->snapshot),
		&options, query->out, error);
}

bool lode_serve_findings(const LodeServeQuery *query, GError **error)
{
	const LodeMiningRun *run = lode_serve_query_mining(query, false, error);
	LodeReportOptions options;
	uint64_t places = 0;

	if (run == NULL)
		return false;
	if (run->findings == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"run '%s' has no findings, only sequences; 'lode mine' makes a run that "
			"has "
			"findings",
			run->name);
		return false;
	}
	lode_report_options_init(&options);
	if (!lode_serve_parameters_count(query->parameters, "places", UINT32_MAX, &places, error))
		return false;
	options.format = query->format;
	options.is_explained = true;
	options.is_page = true;
	options.places = (uint32_t)places;
	return lode_report_write(query->profile, run, &options, query->progress, query->out, error);
}

/* "size" is one bound or two: min_size, max_size. */
static bool read_filters(
	const LodeServeParameters *parameters, LodeReportOptions *options, GError **error)
{
	const struct {
		const char *name;
		double *out_share;
	} shares[] = {
		{"min_weight", &options->weight.min},
		{"max_weight", &options->weight.max},
		{"min_frequency", &options->frequency.min},
		{"max_frequency", &options->frequency.max},
		{"min_maximal", &options->maximal.min},
		{"max_maximal", &options->maximal.max},
		{"min_differential", &options->differential.min},
		{"max_differential", &options->differential.max},
	};
	uint64_t min_size = 0, max_size = 0, min_functions = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(shares); i++)
		if (!lode_serve_parameters_share(
			    parameters, shares[i].name, shares[i].out_share, error))
			return false;
	if (!lode_serve_parameters_count(parameters, "min_size", UINT32_MAX, &min_size, error) ||
		!lode_serve_parameters_count(
			parameters, "max_size", UINT32_MAX, &max_size, error) ||
		!lode_serve_parameters_count(
			parameters, "min_functions", UINT32_MAX, &min_functions, error))
		return false;
	options->min_size = (uint32_t)min_size;
	options->max_size = (uint32_t)max_size;
	options->min_functions = (uint32_t)min_functions;
	return true;
}

static bool read_page(
	const LodeServeParameters *parameters, LodeReportOptions *options, GError **error)
{
	uint64_t offset = 0, limit = 0;

	if (!lode_serve_parameters_count(parameters, "offset", UINT32_MAX, &offset, error) ||
		!lode_serve_parameters_count(parameters, "limit", UINT32_MAX, &limit, error) ||
		!lode_serve_parameters_count(
			parameters, "baseline", UINT32_MAX, &options->baseline, error))
		return false;
	options->is_page = true;
	options->offset = (uint32_t)offset;
	options->limit = (uint32_t)limit;
	return true;
}

/* All that decides which sequences are listed, and in which order. */
static char *describe_list(const LodeServeParameters *parameters)
{
	static const char *const of_page[] = {
		"profile", "offset", "limit", "format", "baseline", NULL};
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < parameters->names->len; i++) {
		const char *name = g_ptr_array_index(parameters->names, i);
		if (!g_strv_contains(of_page, name))
			g_string_append_printf(text, "%s=%s\n", name,
				(const char *)g_ptr_array_index(parameters->values, i));
	}
	return g_string_free(text, FALSE);
}

/* The caller unrefs it. */
static GArray *find_list(const LodeServeQuery *query, const LodeMiningRun *run,
	LodeReportOptions *options, GError **error)
{
	g_autofree char *asked = describe_list(query->parameters);
	GArray *list = lode_profile_snapshot_find(query->snapshot, &lode_kept_list, asked);

	if (list != NULL)
		return list;
	if (!options->show_all && !run->parameters.is_instruction_mode) {
		options->is_closed = lode_profile_snapshot_closed(
			query->snapshot, run, query->progress, error);
		if (options->is_closed == NULL)
			return NULL;
	}
	list = lode_report_choose(run, options, query->progress, error);
	if (list != NULL)
		lode_profile_snapshot_keep(query->snapshot, &lode_kept_list, asked, list);
	return list;
}

bool lode_serve_sequences(const LodeServeQuery *query, GError **error)
{
	const LodeServeParameters *parameters = query->parameters;
	g_autofree const char **with = lode_serve_parameters_texts(parameters, "with");
	g_autofree const char **without = lode_serve_parameters_texts(parameters, "without");
	const char *sort = lode_serve_parameters_text(parameters, "sort");
	LodeReportOptions options;

	lode_report_options_init(&options);
	if (!read_filters(parameters, &options, error) || !read_page(parameters, &options, error))
		return false;
	const LodeMiningRun *run = lode_serve_query_mining(query, true, error);
	if (run == NULL)
		return false;
	options.format = query->format;
	options.show_all = lode_serve_parameters_flag(parameters, "all");
	options.is_reversed = lode_serve_parameters_flag(parameters, "reverse");
	options.with = with;
	options.without = without;
	options.text = lode_serve_parameters_text(parameters, "text");
	/* An order is what makes a report a list of sequences. */
	if (sort == NULL)
		sort = run->parameters.is_instruction_mode ? "count" : "excess";
	options.sort = sort;
	g_autoptr(GArray) list = find_list(query, run, &options, error);
	if (list == NULL)
		return false;
	options.sequences = list;
	return lode_report_write(query->profile, run, &options, query->progress, query->out, error);
}
