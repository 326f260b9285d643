/* SPDX-License-Identifier: MIT */
/*
 * How much each thread of one process used each page, and which thread touched it first.
 *
 *              thread 0  thread 1  thread 2
 *   0x404000      12         .         3      first touched by 0
 *   0x7ffff0      .         40         .      first touched by 0
 */
#pragma once

#include "analyses/memory/coverage.h"
#include "base/progress.h"
#include "model/index.h"

#define LODE_PAGE_SIZE UINT64_C(4096)

typedef struct {
	uint64_t address;
	uint32_t first_use, n_uses; /* a range of LodePageMatrix.uses */
	uint32_t first_toucher;     /* by the page faults, or else the first sample */
	uint32_t mapping, object;   /* of the first sample; LODE_NONE */
	double weight;
} LodeUsedPage;

typedef struct {
	uint32_t thread;
	double weight;
} LodePageUse;

typedef struct LodePageMatrix {
	uint32_t pid;
	const char *process; /* its first thread's name; NULL; belongs to the profile */
	const char *event;   /* whose samples these are; likewise */
	uint32_t n_threads;  /* a thread here is its ordinal in the process */
	GArray *pages;       /* LodeUsedPage, by address */
	GArray *uses;        /* LodePageUse, by (page, thread) */
	double *thread_weights;
	double *thread_lost;      /* of each thread's loads and stores without an address */
	double weight;            /* of all uses */
	double lost;              /* of the threads' loads and stores without an address */
	LodeAddressLosses losses; /* of the process and event, in memory of lode's own too */
	uint64_t n_samples;       /* in all uses */
	uint64_t n_first_touches; /* pages whose first touch was a page fault */
	double unresolved_weight; /* of the event's samples without an address */
	double other_weight;      /* with one, but of other processes */
	double own_weight;        /* with one, in memory of lode's own preloaded libraries */
	uint32_t n_other_processes;
} LodePageMatrix;

/* The thread's loads and stores, with an address and without. */
static inline double lode_page_matrix_thread_weight(const LodePageMatrix *self, uint32_t thread)
{
	return self->thread_weights[thread] + self->thread_lost[thread];
}

/*
 * Made of the samples of `event` (NULL: the one with most samples that have an address, page faults
 * left out) in the process `pid` (0: the one with the greatest weight). Errors: _NOT_FOUND where
 * there are none, or where less than 1 % of the loads and stores have an address, _LIMIT for more
 * threads than a placement can have, _CANCELLED.
 */
LodePageMatrix *lode_page_matrix_new(const LodeProfile *profile, const char *event, uint32_t pid,
	const LodeProgress *progress, GError **error);
void lode_page_matrix_free(LodePageMatrix *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePageMatrix, lode_page_matrix_free)

static inline const LodeUsedPage *lode_page_matrix_page(const LodePageMatrix *self, guint i)
{
	return &LODE_AT(self->pages, LodeUsedPage, i);
}

static inline const LodePageUse *lode_page_matrix_uses(
	const LodePageMatrix *self, const LodeUsedPage *page)
{
	return &LODE_AT(self->uses, LodePageUse, page->first_use);
}
