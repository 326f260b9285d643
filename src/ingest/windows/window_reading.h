/* SPDX-License-Identifier: MIT */
/*
 * The logs of windows of recordings, summed up by instruction.
 *
 *   recording's logs ─▶ windows ─▶ times, in which samples say nothing
 *                          └─▶ steps ─▶ facts of each instruction, edges between two
 *                                 └─▶ further visitors
 *
 * Instructions are those of the walk (window_steps.h), by number: the profile's are known at the
 * join. Private to ingest/.
 */
#pragma once

#include "base/arrays/id_cache.h"
#include "ingest/windows/window_facts.h"
#include "ingest/windows/window_steps.h"
#include "ingest/windows/window_times.h"
#include "ingest/windows/window_visitors.h"
#include "process/threads.h"
#include "sources/recording.h"

/* Two instructions that were executed one after the other. */
typedef struct {
	uint32_t source, target;       /* numbers of codes */
	uint32_t steps, windows, hits; /* as in LodeRecordedStep */
	uint32_t last_window;          /* private */
} LodeReadEdge;

typedef struct {
	uint32_t pid;
	const char *name;  /* of the program; the threads'; NULL: unknown */
	uint32_t obstacle; /* LodeWindowObstacle, or a newer one */
	uint64_t n_windows, n_steps;
} LodeReadProcess;

/* Others read it; only this module writes it, except where noted. */
typedef struct LodeWindowReading {
	LodeWindowSteps *steps;
	GArray *facts; /* LodeObservedInstruction, by the number of its code; for other visitors
	                  to fill in, too */
	GArray *edges; /* LodeReadEdge */
	LodeWindowPeriods *periods;      /* for the caller to freeze and to add samples to */
	GArray *processes;               /* LodeReadProcess, one for each log of windows */
	uint32_t n_logs;                 /* that were read, of windows and of breakpoints */
	uint32_t cache_sets, cache_ways; /* of the first level, as its facts have it */
	uint64_t user_ns, system_ns;     /* that windows took */
	double running;                  /* share of the log's windows in which threads ran */
	/* For the caller to count: samples that are left out, and their weight. */
	uint64_t n_dropped;
	double dropped_weight;
	/* Private. */
	LodePlaces *places;
	GArray *visitors;                           /* LodeWindowVisitor */
	LodeWindowOutcomes *outcomes;               /* one of them */
	LodeWindowCalls *calls;                     /* likewise */
	LodeIdCache numbers;                        /* two codes → their edge */
	const struct LodeWindowLogOptions *options; /* of the log at hand */
	uint32_t pid;                               /* likewise */
	LodeReadProcess *process;                   /* likewise; NULL: it was probed from outside */
	uint64_t n_edges_left;
} LodeWindowReading;

/* Borrows the places. */
LodeWindowReading *lode_window_reading_new(LodePlaces *places);
void lode_window_reading_free(LodeWindowReading *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowReading, lode_window_reading_free)

/* Lets a visitor see all steps of the logs that are added from now on. */
void lode_window_reading_add_visitor(LodeWindowReading *self, const LodeWindowVisitor *visitor);

/* The recording that logs are of. */
typedef struct LodeWindowLogOptions {
	LodeRecording *recording;   /* where is counted what cannot be resolved */
	const LodeThreads *threads; /* of all recordings */
	LodeWindowTimes *times;     /* to which the windows' are added, also the unwanted ones' */
	/* Whether what a process did then is wanted; NULL: all is. */
	bool (*is_wanted)(const void *data, uint32_t pid, uint64_t time_ns);
	const void *data;
} LodeWindowLogOptions;

/* Adds a log of the recording that the places have selected. One that is damaged, or of no process
 * of the recording, is counted, and read as far as it is whole. Errors: _CANCELLED. */
bool lode_window_reading_add(LodeWindowReading *self, GBytes *log,
	const LodeWindowLogOptions *options, const LodeProgress *progress, GError **error);

/* Likewise all logs of a recording. */
bool lode_window_reading_add_all(LodeWindowReading *self, LodePerfData *data,
	const LodeWindowLogOptions *options, const LodeProgress *progress, GError **error);

/* Judges the branches. Adds the steps between instructions to the recording, and what could not be
 * resolved; takes the time that windows took off the program's. */
void lode_window_reading_finish(const LodeWindowReading *self, LodeRecording *recording);
