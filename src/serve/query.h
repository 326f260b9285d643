/* SPDX-License-Identifier: MIT */
/*
 * What the page can ask for: the questions of verbs, about the files that are served. An address
 * has the parameters of the verb's command line, and which files are meant, by their numbers:
 *
 *   /api/report?profile=1&sort=weight&limit=100   ──▶   lode report x.lode --sort weight --limit
 * 100
 *
 * Private to serve/.
 */
#pragma once

#include "base/parameter.h"
#include "serve/served_files.h"

/* Whether there is such a question; `name` is what follows "/api/". */
bool lode_page_query_exists(const char *name);

/* Whether it is about a mining run, which "run" names. */
bool lode_page_query_has_run(const char *name);

/*
 * Answers one into `out` as JSON, or as CSV where `format` says so, after which the profile that it
 * is about is looked at: *out_state. Errors: _USAGE (a parameter), and those of the question.
 */
bool lode_page_query_run(const char *name, const LodeParameterPairs *given,
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out,
	LodeServedState *out_state, GError **error);

/* The profile that is asked for, the first unless `given` has a number. Errors: _USAGE, _NOT_FOUND.
 */
LodeServedProfile *lode_page_query_profile(
	const LodeParameterPairs *given, const GPtrArray *profiles, GError **error);

/* Writes by which names the page asks for what is served, and what there is to ask of each. */
bool lode_profile_list_write(
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out, GError **error);

/* Writes which questions there are, with their parameters. */
bool lode_question_list_write(FILE *out, GError **error);
