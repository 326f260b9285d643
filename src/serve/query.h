/* SPDX-License-Identifier: MIT */
/*
 * What the page can ask for. A query reads its parameters, calls the analysis or view that a verb
 * would call, and the answer is what that view writes as JSON or CSV:
 *
 *   /api/sequences?sort=weight&limit=100  ──▶  lode report --sort weight --limit 100 --format json
 *
 * Private to serve/.
 */
#pragma once

#include "serve/parameters.h"
#include "serve/served_files.h"
#include "views/format.h"

typedef struct {
	const LodeServeParameters *parameters;
	const LodeServedFiles *files;
	LodeProfileSnapshot *snapshot; /* of the profile asked for; NULL where none is needed */
	const LodeProfile *profile;
	LodeViewFormat format; /* LODE_VIEW_JSON or LODE_VIEW_CSV */
	const LodeProgress *progress;
	FILE *out;
	LodeServedState *out_state; /* of the last profile that was looked at */
} LodeServeQuery;

typedef struct {
	const char *name; /* after "/api/" */
	bool (*answer)(const LodeServeQuery *query, GError **error);
	bool is_of_all; /* needs no profile */
} LodeServeQueryKind;

/* NULL: there is no query of this name. */
const LodeServeQueryKind *lode_serve_query_find(const char *name);

/*
 * Answers a query into `out`, after which the profile that it names by its number (`profile`, the
 * first unless given) is looked at: *out_state. Errors: _USAGE (a parameter), and those of the
 * view.
 */
bool lode_serve_query_run(const LodeServeQueryKind *kind, const LodeServeParameters *parameters,
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out,
	LodeServedState *out_state, GError **error);

/* Finds the profile that is asked for. Errors: _USAGE, _NOT_FOUND. */
LodeServedProfile *lode_serve_query_profile(
	const LodeServeParameters *parameters, const GPtrArray *profiles, GError **error);

/* The run that is asked for by `run`, the last one unless given. */
const LodeMiningRun *lode_serve_query_mining(
	const LodeServeQuery *self, bool has_sequences, GError **error);

/* The queries, by area. */
bool lode_serve_profiles(const LodeServeQuery *query, GError **error);
bool lode_serve_info(const LodeServeQuery *query, GError **error);
bool lode_serve_findings(const LodeServeQuery *query, GError **error);
bool lode_serve_sequences(const LodeServeQuery *query, GError **error);
bool lode_serve_functions(const LodeServeQuery *query, GError **error);
bool lode_serve_annotate(const LodeServeQuery *query, GError **error);
bool lode_serve_graph(const LodeServeQuery *query, GError **error);
bool lode_serve_pivot(const LodeServeQuery *query, GError **error);
bool lode_serve_heat(const LodeServeQuery *query, GError **error);
bool lode_serve_layout(const LodeServeQuery *query, GError **error);
bool lode_serve_sharing(const LodeServeQuery *query, GError **error);
bool lode_serve_placement(const LodeServeQuery *query, GError **error);
bool lode_serve_compare(const LodeServeQuery *query, GError **error);
bool lode_serve_trace(const LodeServeQuery *query, GError **error);
bool lode_serve_misses(const LodeServeQuery *query, GError **error);
