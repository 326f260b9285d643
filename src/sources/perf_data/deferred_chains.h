/* SPDX-License-Identifier: MIT */
/*
 * Private to sources/perf_data/: the user's part of call chains that the kernel reads when it
 * returns to the program (defer_callchain, Linux 6.19), in a record of its own:
 *
 *   SAMPLE             … kernel frames, PERF_CONTEXT_USER_DEFERRED, cookie
 *   SAMPLE             … PERF_CONTEXT_USER_DEFERRED, the same cookie
 *   CALLCHAIN_DEFERRED cookie, PERF_CONTEXT_USER, user frames          of the same thread
 *
 * The first reading keeps the chains, equal ones once; later readings complete the samples. A
 * cookie may come again: the first chain after the sample holds, by time, or without times by its
 * place in the file.
 */
#pragma once

#include "sources/perf_data/perf_data.h"

#define LODE_PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)

typedef struct LodeDeferredChains LodeDeferredChains;

LodeDeferredChains *lode_deferred_chains_new(void);
void lode_deferred_chains_free(LodeDeferredChains *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDeferredChains, lode_deferred_chains_free)

/* Keeps a chain of the thread, time and offset of `record`. */
void lode_deferred_chains_add(LodeDeferredChains *self, const LodePerfRecord *record,
	uint64_t cookie, const uint64_t *addresses, size_t n);

/*
 * Puts the user's frames in place of the marker and the cookie in the chain of a sample; the chain
 * is valid until the next call. False: its frames are not there.
 */
bool lode_deferred_chains_complete(LodeDeferredChains *self, LodePerfRecord *sample);

/* How many chains were kept, and have completed no sample. */
uint64_t lode_deferred_chains_n_unused(const LodeDeferredChains *self);
