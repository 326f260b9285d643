/* SPDX-License-Identifier: MIT */
/* Executions, weight and samples that are at no instruction, by reason: none is dropped silently.
 */
#pragma once

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct LodeUnresolved {
	char *reason;  /* "no image file", "no function bounds", "bytes do not decode" … */
	char *example; /* one instance, for the person; may be NULL */
	double count;  /* executions concerned */
	double weight; /* of the profile's weight event */
	uint64_t places;
	double samples; /* or lost records, branch-stack entries…; 0: no such thing is concerned */
} LodeUnresolved;

/* The reason of samples that a counting run has nothing for. */
#define LODE_UNRESOLVED_UNCOUNTED "sampled where the counting run executed nothing"

/* The reason of samples in times without records of switches. */
#define LODE_UNRESOLVED_SWITCHES                                                                   \
	"samples while context switches were too many to be recorded: for latency and the times "  \
	"of threads, others stand for them"

/* The reason for samples in code of a run-time compiler that was not told to write it down. */
#define LODE_UNRESOLVED_UNNAMED "sample in code made at run time that no jitdump or perf map knows"

/* The reason of faults after which a block counts to its end, so many times. */
#define LODE_UNRESOLVED_LEFT_HANDLER                                                               \
	"faults whose handler did not return (siglongjmp): the rest of the block counts as "       \
	"executed"

/* Adds to the count, weight and places (by 1) of a reason; `example` is kept from the first time.
 */
void lode_profile_add_unresolved(
	LodeProfile *self, const char *reason, const char *example, double count, double weight);
