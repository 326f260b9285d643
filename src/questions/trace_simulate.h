/* SPDX-License-Identifier: MIT */
/*
 * Simulates caches and predictors on the references of a trace. The question is about a file; the
 * command line uses the same options for a running program:
 *
 *   options ─▶ simulation ─┬─▶ replay, of caches and curves ─▶ results ─┐
 *                          └─▶ import, of misses by place   ─▶ profile ─┴─▶ table, pictures
 */
#pragma once

#include "analyses/memory/objects/event_groups.h"
#include "caches/trace_replay.h"
#include "questions/parts/trace_selection.h"
#include "questions/verb.h"
#include "views/traces/cache_results.h"

typedef struct LodeSimulateOptions {
	LodeViewFormat format;
	uint32_t threads; /* 0: all processors */
	const char *output;
	const char *const *caches;
	bool is_classified;
	uint64_t quantum;
	LodeTraceSelection selection;
	const char *const *curves, *const *lines;
	uint32_t n_times;
	LodeEventBy by;
	LodeBranchModel branches;
	bool has_by, has_branches, has_sharing, has_top;
	const char *const *jit_files;
	const char *event, *plot_objects;
	uint32_t top;
	const char *plot_curve, *plot_reuse, *plot_times;
	/* Options for a program only. */
	bool is_alone, has_allocations;
	const char *const *only;
} LodeSimulateOptions;

typedef struct {
	const LodeSimulateOptions *options;
	GPtrArray *hierarchies;        /* LodeHierarchy; NULL: curves only */
	GArray *curves;                /* LodeStackDistancesOptions; NULL: none */
	LodeTraceReplayOptions replay; /* borrows hierarchies and curves */
	LodeImportOptions import;      /* for misses by place, without paths; borrows likewise */
	bool has_places;               /* shows misses by place, not caches and curves as a whole */
} LodeSimulation;

/* Sets up the simulation from the options, which must outlive it. Errors: _USAGE, _IO, _LIMIT. */
bool lode_simulation_init(
	LodeSimulation *self, LodeSimulateOptions *options, LodeAsking *asking, GError **error);
void lode_simulation_clear(LodeSimulation *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSimulation, lode_simulation_clear)

/* Writes pictures, and the results to `out`. Errors: _IO. */
bool lode_simulation_write_results(const LodeSimulation *self, const LodeCacheResults *results,
	size_t n_results, const LodeTerminal *terminal, FILE *out, GError **error);

/* Notes which caches would show sharing, if these cannot. */
void lode_simulation_note_cores(const LodeSimulation *self, unsigned n_threads, LodeAsking *asking);

/* Writes misses by place from a profile that was imported with `import`. Errors: _IO, _NOT_FOUND,
 * _UNSUPPORTED. */
bool lode_simulation_write_places(const LodeSimulation *self, const LodeProfile *profile,
	LodeAsking *asking, FILE *out, GError **error);
