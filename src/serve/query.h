/* SPDX-License-Identifier: MIT */
/*
 * The queries of the page: the questions of verbs, about the served files. An address has the
 * parameters of the verb's command line, and the numbers of the files:
 *
 *   /api/report?profile=1&limit=100   ──▶   lode report x.lode --limit 100
 *
 * Private to serve/.
 */
#pragma once

#include "base/parameter.h"
#include "serve/served_files.h"
#include "serve/served_profile.h"

/* Whether the question exists; `name`: the part of the address after "/api/". */
bool lode_page_query_exists(const char *name);

/* Whether it is about a mining run, named by the parameter "run". */
bool lode_page_query_has_run(const char *name);

/*
 * Writes the answer to `out` as JSON, or as CSV if `format` is csv. *out_state: the state of the
 * profile's file afterwards. Errors: _USAGE (a parameter), and those of the question.
 */
bool lode_page_query_run(const char *name, const LodeParameterPairs *given,
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out,
	LodeServedState *out_state, GError **error);

/* The profile by the number in `given`, or the first. Errors: _USAGE, _NOT_FOUND. */
LodeServedProfile *lode_page_query_profile(
	const LodeParameterPairs *given, const GPtrArray *profiles, GError **error);

/* Writes the list of served files: their names, and the queries possible for each. */
bool lode_profile_list_write(
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out, GError **error);

/* Writes which questions there are, with their parameters. */
bool lode_question_list_write(FILE *out, GError **error);
