/* SPDX-License-Identifier: MIT */
/*
 * One row per verb. A verb either records, imports, mines or writes (`run`), or answers a question
 * about existing files (`answer`). The command line and the page ask the same questions, with the
 * same parameters:
 *
 *   lode memory x.lode --by object    ┐  parameters   ┌───────────┐  answer
 *                                     ├──────────────▶│ questions │─────────▶ text, JSON, CSV
 *   GET /api/memory?by=object         ┘               └───────────┘
 *
 * Help, completions and the tests of the man pages come from the same rows.
 */
#pragma once

#include "base/parameter.h"
#include "questions/asking.h"

enum {
	LODE_EXIT_OK = 0,
	LODE_EXIT_FAILED = 1,
	LODE_EXIT_USAGE = 2,
	LODE_EXIT_CHECKED = 3,     /* lode diff --fail-above, lode report --fail-on: so it is */
	LODE_EXIT_BY_SIGNAL = 256, /* plus a signal's number: main() ends by that signal */
};

typedef struct {
	const char *name;        /* "memory"; in an address "trace-simulate" is "trace simulate" */
	const char *arguments;   /* "PROFILE.lode"; NULL: only the page asks it */
	const char *summary;     /* one line, lower case, no full stop */
	const char *description; /* paragraphs after the options; examples at the end */
	const LodeParameterGroup *groups; /* its options */
	size_t size;                      /* of the struct for their values */
	void (*init)(void *options);      /* sets the defaults; NULL: zeroes */
	/* Turns the words after the files, such as the name of a run, into parameters; NULL: no
	 * words are allowed. */
	bool (*take_words)(char **words, LodeParameterPairs *pairs, GError **error);
	/* Writes the answer to the stream of lode_asking_begin(). */
	bool (*answer)(LodeAsking *asking, void *options, GError **error);
	/*
	 * `options` is filled; `arguments` has the rest of the line, NULL-terminated. Returns the
	 * exit status; when it sets `error`, main() prints it and the status is that of the error
	 * (usage 2, else 1).
	 */
	int (*run)(void *options, char **arguments, GError **error);
	bool takes_many;  /* files; else exactly one */
	bool takes_trace; /* an address trace, not a profile */
	bool is_wrapper;  /* options end at the first argument; the rest is the command line of a
	                     program */
	bool may_wrap;    /* the words after "--" are the command line of a program; they stay in
	                     `arguments` */
	/* Whether a different process with the same command line prints its errors; may be NULL.
	 * The options are filled up to the error. */
	bool (*is_silent)(const void *options);
} LodeVerb;
