/* SPDX-License-Identifier: MIT */
/*
 * One row per view of lode memory: what it is asked for by, and what it shows of the samples that
 * were chosen. A new view is a file memory_view_<name>.c and a row in memory_view.c.
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
	const char *sort; /* --sort, of which each view has its own words; NULL: not given */
	uint32_t top;     /* --top, 0: all; has_top false: the view's own default */
	bool has_top;
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeMemoryViewInput;

typedef struct {
	const char *option;      /* that asks for it: "--by" */
	bool (*is_wanted)(void); /* whether it was given */
	bool (*write)(const LodeMemoryViewInput *input, FILE *out, GError **error);
	/* Expressions that it groups the samples by, NULL-terminated; the slot NULL: by none that
	 * could be the event. */
	const char *const *(*groups)(void);
} LodeMemoryView;

extern const LodeMemoryView lode_memory_view_histogram; /* when no other is wanted */
extern const LodeMemoryView lode_memory_view_first_touch;
extern const LodeMemoryView lode_memory_view_pivot;
extern const LodeMemoryView lode_memory_view_layout;
extern const LodeMemoryView lode_memory_view_coverage;
extern const LodeMemoryView lode_memory_view_allocations;
extern const LodeMemoryView lode_memory_view_sharing;

/* The one that is asked for. Errors: _USAGE (two are). */
bool lode_memory_view_choose(const LodeMemoryView **out_view, GError **error);

/* Their options, NULL-terminated, for groups of a verb. */
extern const GOptionEntry lode_memory_histogram_options[];
extern const GOptionEntry lode_memory_first_touch_options[];
extern const GOptionEntry lode_memory_pivot_options[];
extern const GOptionEntry lode_memory_layout_options[];
extern const GOptionEntry lode_memory_coverage_options[];
extern const GOptionEntry lode_memory_allocations_options[];
extern const GOptionEntry lode_memory_sharing_options[];
