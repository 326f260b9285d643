/* SPDX-License-Identifier: MIT */
/*
 * One row per verb. A verb either does something (records, imports, mines: `run`), or asks a
 * question about files that are there (`answer`). A question is asked on the command line and by
 * the page, with the same parameters and in the same words:
 *
 *   lode memory x.lode --by object --top 5   ┐  parameters   ┌───────────┐  answer
 *                                            ├──────────────▶│ questions │─────────▶ text, JSON,
 * CSV GET /api/memory?by=object&top=5          ┘               └───────────┘
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
	LODE_EXIT_SLOWER = 3,      /* lode diff --fail-above */
	LODE_EXIT_BY_SIGNAL = 256, /* plus a signal's number: main() ends by that signal */
};

typedef struct {
	const char *name;        /* "memory"; in an address "trace-simulate" is "trace simulate" */
	const char *arguments;   /* "PROFILE.lode"; NULL: the page alone asks it */
	const char *summary;     /* one line, lower case, no full stop */
	const char *description; /* paragraphs after the options; examples at the end */
	const LodeParameterGroup *groups; /* its options */
	size_t size;                      /* of the struct that they fill */
	void (*init)(void *options);      /* sets what holds unless given; NULL: zeroes */
	/* Takes the words after the files, such as the name of a run, as parameters; NULL: there
	 * are none. */
	bool (*take_words)(char **words, LodeParameterPairs *pairs, GError **error);
	/* Writes the answer to what lode_asking_begin() gives. */
	bool (*answer)(LodeAsking *asking, void *options, GError **error);
	/*
	 * `options` is filled; `arguments` has the rest of the line, NULL-terminated. Returns the
	 * exit status; when it sets `error`, main() prints it and the status is that of the error
	 * (usage 2, else 1). Of a question: what the command line alone can do.
	 */
	int (*run)(void *options, char **arguments, GError **error);
	bool takes_many;  /* files; else exactly one */
	bool takes_trace; /* an address trace, not a profile */
	bool is_wrapper;  /* options end at the first argument: what follows is another program's */
	bool may_wrap;    /* what follows a "--" is another program's, and stays in `arguments` */
	/* Whether another process, with the same command line, says what is wrong with it; may be
	 * NULL. The options are filled as far as that went. */
	bool (*is_silent)(const void *options);
} LodeVerb;
