/* SPDX-License-Identifier: MIT */
/*
 * Writes perf.data:
 *
 *   header │ ids of each event │ attributes │ records … │ table of features │ features
 *   └─ says how far the records go; kept up to date, as perf reads none where it says 0
 *
 * The file is written under its final name from the start: a recording cannot be repeated, so that
 * after a crash its records must be there and found. An earlier file is kept as NAME.old, as perf
 * does.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#pragma once

#include "machine/cpu_meter.h"
#include "machine/machine_figures.h"
#include "record/events/sample_cost.h"
#include "record/perf/perf_ring.h"
#include "record/perf/perf_tally.h"
#include "record/programs/kept_files.h"
#include "record/windows/window_logs.h"

typedef struct LodePerfWriter LodePerfWriter;

/*
 * Makes the file under a temporary name beside its place. Errors: _IO; refuses to replace a file
 * that is not regular.
 */
LodePerfWriter *lode_perf_writer_open(const char *path, GError **error);

/* Removes the file if it was never published. */
void lode_perf_writer_close(LodePerfWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfWriter, lode_perf_writer_close)

/* Writes header and attributes (LodePerfChoice with their ids), gives the file its name. */
bool lode_perf_writer_publish(LodePerfWriter *self, const GPtrArray *choices, GError **error);

/* Appends records. */
bool lode_perf_writer_add(LodePerfWriter *self, const void *records, size_t size, GError **error);

/* Appends all that can be read of a ring. */
bool lode_perf_writer_add_ring(LodePerfWriter *self, const LodePerfRing *ring, GError **error);

/* Makes the header count the appended records. */
bool lode_perf_writer_seal(LodePerfWriter *self, GError **error);

/*
 * Ends the file with features: GBytes by number, NULL where there is none; and with the sections of
 * the files that were executed and of windows, unless these are NULL. A full disk leaves the
 * records readable.
 */
bool lode_perf_writer_finish(LodePerfWriter *self, const GPtrArray *features, LodeKeptFiles *files,
	LodeWindowLogs *windows, GError **error);

uint64_t lode_perf_writer_size(const LodePerfWriter *self);

/*
 * The feature sections of perf.data: the machine, the recorded events, the build-ids of mapped
 * files. Each is bytes; their numbers are perf's.
 *
 * One more is lode's own, and ignored by perf, which reads no feature after the last that it
 * knows: texts like "user-ns=1200000", then "--" and the words of the program that was recorded.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */

typedef struct {
	const GPtrArray *choices;   /* LodePerfChoice */
	const LodePerfTally *tally; /* times, and files to identify */
	const char *const *command; /* lode's, NULL-terminated; may be NULL */
	const char *const *program; /* the recorded program, likewise */
	const char *sampling;       /* as in LodePerfSampling; may be NULL */
	bool is_by_ptrace;
	const LodeCpuTime *cpu_time; /* of the program; NULL: not known */
	uint64_t n_page_faults;      /* of the program; 0: not counted */
	uint64_t n_processors;       /* that it may use; 0: not known */
	LodeSampleCost sample_cost;
	LodeMemoryRates rates;
	LodeCoreFigures core_figures;
	LodeMachineSpeed speed; /* while the program ran */
	uint64_t wall_ns;       /* that it took */
	bool has_branch_stacks;
} LodePerfFeatureInput;

/* GBytes by feature number, NULL where there is none. The caller unrefs it. */
GPtrArray *lode_perf_features_make(const LodePerfFeatureInput *input);
