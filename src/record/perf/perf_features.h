/* SPDX-License-Identifier: MIT */
/*
 * The feature sections of perf.data: the machine, the recorded events, the build-ids of mapped
 * files. Each is bytes; their numbers are perf's.
 *
 * One more is lode's own, and ignored by perf, which reads no feature after the last that it
 * knows: texts like "user-ns=1200000", then "--" and the words of the program that was recorded.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#pragma once

#include "machine/cpu_meter.h"
#include "machine/machine_figures.h"
#include "record/events/sample_cost.h"
#include "record/perf/perf_tally.h"

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
