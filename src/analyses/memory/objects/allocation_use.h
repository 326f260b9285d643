/* SPDX-License-Identifier: MIT */
/*
 * Allocations by site, and by the calls that lead there: bytes, blocks, peak, live bytes at the
 * end, and the time spent waiting for the memory.
 *
 *   site           malloc@list.c:12     3 MiB
 *     its callers    fill  list.c:40    2 MiB    level 1
 *       theirs         main main.c:9    2 MiB    level 2
 *                    copy  list.c:55    1 MiB    level 1
 */
#pragma once

#include "model/memory.h"

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_ALLOCATION_SORT_PEAK, /* bytes live when the heap was largest */
	LODE_ALLOCATION_SORT_MOST, /* bytes that the site had at most; of callers as _PEAK */
	LODE_ALLOCATION_SORT_BYTES,
	LODE_ALLOCATION_SORT_BLOCKS,
	LODE_ALLOCATION_SORT_END,
	LODE_ALLOCATION_SORT_WEIGHT,
	LODE_N_ALLOCATION_SORTS,
} LodeAllocationSort;

typedef struct {
	uint64_t n, n_bytes; /* sums stop at UINT64_MAX */
	uint64_t n_at_peak, n_bytes_at_peak;
	uint64_t n_at_end, n_bytes_at_end;
	double lifetime_ns; /* of those that were freed, added up */
	double weight;      /* of the samples that fell into them */
	uint64_t n_samples;
} LodeAllocationFigures;

typedef enum {
	LODE_ALLOCATION_ROW_SITE,
	LODE_ALLOCATION_ROW_CALLER,
	LODE_ALLOCATION_ROW_OTHERS, /* what a limit cut off, together */
} LodeAllocationRowKind;

typedef struct {
	LodeAllocationRowKind kind;
	uint32_t site;
	uint32_t level;          /* 0 a site or other sites; k: the k-th caller */
	uint32_t call;           /* of the caller, or of the site itself; LODE_NONE: not known */
	uint32_t n_others;       /* of OTHERS */
	LodeAllocationPeak most; /* of a site; 0 bytes: not known */
	LodeAllocationFigures figures;
} LodeAllocationUseRow;

typedef struct {
	uint32_t n_callers;   /* levels */
	uint32_t top;         /* sites; 0: all */
	uint32_t top_callers; /* of one call; 0: all */
	LodeAllocationSort sort;
} LodeAllocationUseOptions;

typedef struct {
	GArray *rows; /* LodeAllocationUseRow, callers below the called function */
	LodeAllocationFigures heap, mappings;
	LodeAllocationPeak peak; /* of the heap, or of the mappings if there is no heap */
	uint64_t begin_ns;       /* of the recording's first known time, to count from */
	double weight;           /* of all chosen samples */
	bool has_peaks, has_paths;
} LodeAllocationUse;

/*
 * `samples` are numbers, ascending; page faults have no weight here. A profile without paths
 * (written by lode before it had them) has the sums of its sites only. Errors: _NOT_FOUND where no
 * allocations were recorded.
 */
LodeAllocationUse *lode_allocation_use_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeAllocationUseOptions *options, GError **error);
void lode_allocation_use_free(LodeAllocationUse *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAllocationUse, lode_allocation_use_free)

/* "peak", "most", "bytes", "blocks", "end", "weight"; −1 for an unknown word. */
int lode_allocation_sort_from_text(const char *text);

/* A function that no site is in, though it is neither a library's nor has an allocator's name. */
typedef struct {
	const char *function;
	LodeCallRole role; /* LODE_CALL_PASSES_SIZE or LODE_CALL_SKIPPED */
	uint64_t n;        /* blocks that were allocated through it */
} LodeAllocationWrapper;

/* All of them, those with most blocks first; the caller unrefs the GArray. */
GArray *lode_allocation_wrappers_new(const LodeMemory *memory);
