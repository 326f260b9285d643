/* SPDX-License-Identifier: MIT */
/*
 * One row per verb, from recording to viewing. main() finds the row, parses the options by its
 * table, and calls run. Help, completions and the test of the man pages come from the same rows.
 */
#pragma once

#include "base/parameter.h"

#include <glib.h>
#include <stdbool.h>

enum {
	LODE_EXIT_OK = 0,
	LODE_EXIT_FAILED = 1,
	LODE_EXIT_USAGE = 2,
	LODE_EXIT_SLOWER = 3,      /* lode diff --fail-above */
	LODE_EXIT_BY_SIGNAL = 256, /* plus a signal's number: main() ends by that signal */
};

/* Options under a heading of their own. */
typedef struct {
	const char *title;           /* "Mining"; NULL ends the list */
	const GOptionEntry *options; /* NULL-terminated */
} LodeOptionGroup;

typedef struct {
	const char *name;        /* "mine" */
	const char *arguments;   /* "PROFILE.lode" */
	const char *summary;     /* one line, lower case, no full stop */
	const char *description; /* paragraphs after the options; examples at the end */
	const GOptionEntry *old_options;
	int (*old_run)(char **arguments, GError **error);
	const LodeOptionGroup *old_groups;
	const LodeParameterGroup *groups; /* its options */
	size_t size;                      /* of the struct that they fill */
	void (*init)(void *options);      /* what holds unless given; NULL: zeroes */
	/*
	 * `options` is filled; `arguments` has the rest of the line, NULL-terminated. Returns the
	 * exit status; when it sets `error`, main() prints it and the status is that of the error
	 * (usage 2, else 1).
	 */
	int (*run)(void *options, char **arguments, GError **error);
	bool is_wrapper; /* options end at the first argument: what follows is another program's */
	/* What follows a "--" is another program's; then `arguments` of run() has it, "--" first.
	 */
	bool may_wrap;
	/* Whether another process, with the same command line, says what is wrong with it; may be
	 * NULL. */
	bool (*is_silent)(void);
} LodeVerb;

extern const LodeVerb lode_verb_run;
extern const LodeVerb lode_verb_record;
extern const LodeVerb lode_verb_memory_record;
extern const LodeVerb lode_verb_trace_record;
extern const LodeVerb lode_verb_trace_pack;
extern const LodeVerb lode_verb_trace_unpack;
extern const LodeVerb lode_verb_trace_cut;
extern const LodeVerb lode_verb_trace_info;
extern const LodeVerb lode_verb_trace_simulate;
extern const LodeVerb lode_verb_import;
extern const LodeVerb lode_verb_export;
extern const LodeVerb lode_verb_merge;
extern const LodeVerb lode_verb_mine;
extern const LodeVerb lode_verb_report;
extern const LodeVerb lode_verb_annotate;
extern const LodeVerb lode_verb_diff;
extern const LodeVerb lode_verb_memory;
extern const LodeVerb lode_verb_place;
extern const LodeVerb lode_verb_place_apply;
extern const LodeVerb lode_verb_place_export;
extern const LodeVerb lode_verb_signature;
extern const LodeVerb lode_verb_classify;
extern const LodeVerb lode_verb_serve;
extern const LodeVerb lode_verb_info;
