/* SPDX-License-Identifier: MIT */
/*
 * One row per view of lode memory: what it is asked for by, and what it shows of the samples that
 * were chosen. A new view is a file memory_view_<name>.c and a row in verb_memory.c.
 */
#pragma once

#include "cli/verb.h"
#include "model/profile.h"
#include "views/format.h"

#include <stdio.h>

typedef struct {
	const LodeProfile *profile; /* with memory */
	const uint32_t *samples;    /* numbers of the samples that passed the filters, ascending */
	size_t n_samples;
	const char *const *definitions; /* --define; NULL-terminated, or NULL */
	const char *sort, *top; /* as given to --sort and --top, which every view reads its own
	                           way; NULL */
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeMemoryViewInput;

typedef struct {
	const char *title;           /* of its options in --help: "Data objects" */
	const GOptionEntry *options; /* NULL-terminated; targets are statics of the view's file */
	bool (*is_wanted)(void);     /* whether one of its options was given */
	bool (*write)(const LodeMemoryViewInput *input, FILE *out, GError **error);
} LodeMemoryView;

extern const LodeMemoryView lode_memory_view_histogram; /* when no other is wanted */
extern const LodeMemoryView lode_memory_view_pivot;
extern const LodeMemoryView lode_memory_view_layout;
extern const LodeMemoryView lode_memory_view_coverage;
