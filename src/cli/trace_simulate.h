/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of lode trace simulate, by what they are for; a file for each group.
 */
#pragma once

#include "analyses/memory/event_groups.h"
#include "caches/branch_predictor.h"
#include "cli/output_file.h"
#include "cli/verb.h"
#include "ingest/import.h"
#include "views/cache_results.h"
#include "views/plot/plot_canvas.h"

#include <stdio.h>

/* Which caches: --cache, --classify, --quantum (trace_simulate_caches.c). */
extern const GOptionEntry lode_trace_cache_options[];
bool lode_trace_caches_are_wanted(void);
bool lode_trace_caches_are_classified(void);
/* Instructions after which threads take turns; 0: not given. Errors: _USAGE. */
bool lode_trace_caches_quantum(uint64_t *out_instructions, GError **error);

/*
 * GPtrArray of LodeHierarchy, at least one; the caller owns it. Without --cache it is this
 * machine's own, and where that is not known, a preset; then `out_note` says so, owned by the
 * caller. Errors: _USAGE, _IO, _LIMIT.
 */
GPtrArray *lode_trace_caches_read(char **out_note, GError **error);

/* Which curves: --curve, --line (trace_simulate_curves.c). GArray of LodeStackDistancesOptions, of
 * which there is at least one; the caller owns it. Errors: _USAGE, _LIMIT. */
extern const GOptionEntry lode_trace_curve_options[];
bool lode_trace_curves_are_wanted(void);
GArray *lode_trace_curves_read(GError **error);

/* Which pictures: --plot-curve, --plot-reuse, --plot-times (trace_simulate_plots.c). Errors:
 * _USAGE, before anything is replayed; _IO. */
extern const GOptionEntry lode_trace_plot_options[];
bool lode_trace_plots_need_curves(void);
bool lode_trace_plots_need_times(void);
bool lode_trace_plots_check(GError **error);
bool lode_trace_plots_write(const LodeCacheResults *results, GError **error);

/* By what the program is made of: --by, --sharing, --event, --top, --plot-objects
 * (trace_simulate_misses.c).
 */
typedef struct {
	LodeEventBy by;
	bool shares; /* lines that cores take from each other, not an event */
	bool predicts_branches;
	LodeBranchModel branches;
	bool classifies;
	uint64_t quantum;
	const LodeTraceRange *range; /* the caller's */
	const char *function;        /* likewise; NULL: all */
	uint32_t top;
	bool has_top;
	LodePlotFormat plot_format;
	const LodeHierarchy *hierarchy; /* the caller's, as those below; NULL: no caches */
	LodeViewFormat format;
	const char *output; /* as of lode_trace_results_write() */
	bool is_of_program;
	unsigned threads;
} LodeTraceMisses;

extern const GOptionEntry lode_trace_miss_options[];

/* Whether the options ask for them. */
bool lode_trace_misses_are_wanted(void);

/* Whether the curves are wanted by thread, and no misses of a hierarchy. */
bool lode_trace_misses_are_curves_by_thread(void);

/* Whether they are those of branches too. */
bool lode_trace_misses_are_of_branches(void);

/* The options' part of it. Errors: _USAGE. */
bool lode_trace_misses_read(LodeTraceMisses *self, GError **error);

/* How traces are imported for them: all but the paths. Borrows what was wanted. */
LodeImportOptions lode_trace_misses_import_options(const LodeTraceMisses *wanted);

/* Writes those of a profile that was imported so. Errors: _IO, _NOT_FOUND. */
bool lode_trace_misses_write(
	const LodeProfile *profile, const LodeTraceMisses *wanted, GError **error);

/* Imports a trace and writes them; says on standard error why they are not of all references.
 * Errors: likewise, those of lode_import(). */
bool lode_trace_misses_write_file(
	const char *path, const LodeTraceMisses *wanted, bool *out_is_whole, GError **error);

/* All of it, and --over-time (trace_simulate_work.c). */
extern const GOptionEntry lode_trace_time_options[];

typedef struct {
	GPtrArray *hierarchies;        /* LodeHierarchy; NULL: curves only */
	GArray *curves;                /* LodeStackDistancesOptions; NULL: none */
	LodeTraceReplayOptions replay; /* borrows both */
	LodeTraceRange range;
	LodeTraceMisses misses; /* when they are wanted */
} LodeTraceWork;

/* By the options; notes go to standard error. Errors: those of the groups. */
bool lode_trace_work_read(LodeTraceWork *self, unsigned threads, GError **error);
void lode_trace_work_clear(LodeTraceWork *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTraceWork, lode_trace_work_clear)

/* What comes out of it (trace_simulate_results.c). `output` NULL: standard output, or, of a program
 * whose output is there and is not a terminal, standard error. Errors: _IO. */
bool lode_trace_results_write(const LodeCacheResults *results, size_t n_results,
	LodeViewFormat format, const char *output, GError **error);

/* Where they go, once the file is open. */
FILE *lode_trace_results_stream(LodeOutputFile *file, bool is_of_program);

/* Says which caches would show sharing, where these do not. */
void lode_trace_results_tell_cores(const LodeTraceReplayOptions *replay, unsigned n_threads);

/* Of a program while it runs: --only, --no-follow (trace_simulate_program.c). */
extern const GOptionEntry lode_trace_program_options[];

/* Whether the arguments are "--" and a program. Errors: _USAGE, also of these options without one.
 */
bool lode_trace_program_check(char **arguments, bool *out_is_program, GError **error);

typedef struct {
	const char *const *argv; /* NULL-terminated */
	LodeViewFormat format;
	const char *output; /* as above */
} LodeTraceProgram;

/* Runs the program, and simulates what it and its processes do: each by itself, or, by what they
 * are made of, all together. The exit status is the program's. Errors: those of
 * lode_trace_recording_run(), _IO, _NOT_FOUND where nothing was simulated. */
int lode_trace_program_simulate(
	const LodeTraceProgram *program, const LodeTraceWork *work, GError **error);
