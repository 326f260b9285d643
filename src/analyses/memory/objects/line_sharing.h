/* SPDX-License-Identifier: MIT */
/*
 * Cache lines that two or more threads use while at least one of them stores: each such store takes
 * the line away from the others, which then wait for it.
 *
 *   line 0x…080   bytes  0 … 7   thread 1  loads, stores   counters.hits     ─┐ disjoint bytes:
 *                 bytes  8 … 15  thread 2  loads, stores   counters.misses   ─┘ false sharing
 *
 * perf-c2c(1) (C. Lameter, J. Olsa, D. Zickus) shows them from loads that hit a modified line in
 * another core; here any samples with addresses suffice. True and false sharing as in J. Torrellas,
 * M. S. Lam, J. L. Hennessy, "False sharing and spatial locality in multiprocessor caches", IEEE
 * Transactions on Computers 43(6), 1994: by whether the bytes are used by both.
 *
 * For an address trace whose misses were classified, the misses that other cores' stores caused are
 * used instead: they are counted, not estimated, and show sharing without a second thread's
 * samples.
 *
 * An access counts in the line of its first byte. Threads that used a line one after the other (one
 * filled a table, another read it) do not share it: the times of use of threads that share a line
 * overlap.
 */
#pragma once

#include <glib.h>

#include "analyses/memory/access_totals.h"
#include "base/progress.h"

typedef struct LodeProfile LodeProfile;

enum { LODE_SHARING_MIN_LINE = 16, LODE_SHARING_MAX_LINE = 256 };

typedef enum {
	LODE_SHARING_FALSE, /* of what may have taken the line away, 90 % was to other bytes */
	LODE_SHARING_TRUE,  /* 90 % was to the same bytes */
	LODE_SHARING_MIXED,
	LODE_N_SHARING_KINDS,
} LodeSharingKind;

/* Stores that took a line away from such accesses, by one thread to one place of it, from one line
 * of source or by one instruction. */
typedef struct {
	int64_t offset; /* in the line; outside of one that is shorter than those of the cache */
	uint32_t size;
	uint32_t thread;
	uint32_t function, location; /* LODE_NONE */
	uint64_t pc;                 /* the lowest of the instructions; 0: not known */
	uint64_t n_misses;           /* that they caused */
} LodeSharingStore;

/* Accesses by one thread to one place of a line, from one line of source or, where that is unknown,
 * by one instruction. */
typedef struct {
	uint32_t offset, size; /* bytes in the line; size 1 where it is unknown */
	uint32_t thread;
	uint32_t object, mapping;    /* LODE_NONE */
	uint32_t function, location; /* LODE_NONE */
	uint64_t pc;                 /* the lowest of the instructions */
	LodeAccessTotals totals;
	/* The weight, as far as the line may have been taken away in between: in proportion to the
	 * weights of what other threads did to the same bytes, and to others. Together less than
	 * the weight where no access of another thread conflicts. */
	double true_weight, false_weight;
	uint64_t n_modified; /* the processor said: a hit of a line modified in another core */
	uint32_t first_store, n_stores; /* in LodeLineSharing.stores, those of most misses first */
} LodeSharingAccess;

typedef struct {
	uint64_t address; /* of its first byte */
	uint32_t pid;
	LodeSharingKind kind;
	uint32_t n_threads, n_storing;     /* that share it; those of them that store */
	uint32_t n_cpus;                   /* on which they did; 0: not recorded */
	uint32_t first_access, n_accesses; /* in LodeLineSharing.accesses, heaviest first */
	LodeAccessTotals totals;           /* of those threads */
	double true_weight, false_weight;  /* Σ of its accesses */
	double weight_error;               /* standard error of the weight, from the samples */
	uint64_t n_modified;
	/* How often successive samples are of different threads that both ran then, and how often
	 * they would be of different ones on average if the same samples came in any order: far
	 * fewer where threads hand the line over. Both 0 where times were not recorded. */
	uint64_t turns;
	double expected_turns;
} LodeSharedLine;

typedef struct {
	uint64_t line_bytes;
	GArray *lines;           /* LodeSharedLine, heaviest first, then by process and address */
	GArray *accesses;        /* LodeSharingAccess, by line */
	GArray *stores;          /* LodeSharingStore, by access; none: not known */
	LodeAccessTotals total;  /* of all samples, also those without an address */
	LodeAccessTotals shared; /* of the lines */
	LodeAccessTotals unresolved;  /* those without the address of the access that they are of */
	LodeAccessTotals consecutive; /* of lines that threads used one after the other */
	uint64_t n_consecutive;       /* such lines */
	double shared_error;          /* of shared.weight */
	bool has_data_sources;        /* n_modified was recorded */
	bool is_of_misses; /* of classified misses: weights are their numbers, which loads and
	                      stores count too; nothing is consecutive, and no error */
} LodeLineSharing;

/* Chooses from samples, given by ascending numbers, those that show sharing: in a trace, the
 * classified misses that other cores caused, or else the misses of one event; otherwise all. The
 * caller unrefs the GArray of uint32_t. */
GArray *lode_line_sharing_choose(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples);

typedef struct {
	uint64_t line_bytes;    /* a power of two in the bounds above */
	const char *const *own; /* as of lode_own_lines_new(): files whose lines name places */
	const LodeProgress *progress; /* to stop by; NULL: it cannot be stopped */
} LodeLineSharingOptions;

/* Made of samples that lode_line_sharing_choose() gave; page faults are left out. NULL: it was
 * stopped. */
LodeLineSharing *lode_line_sharing_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeLineSharingOptions *options);
void lode_line_sharing_free(LodeLineSharing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLineSharing, lode_line_sharing_free)

/* "false", "true", "mixed". */
const char *lode_sharing_kind_to_text(LodeSharingKind kind);
