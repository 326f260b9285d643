/* SPDX-License-Identifier: MIT */
/*
 * The processor's description of an access, in words: perf_event_open(2)'s PERF_SAMPLE_DATA_SRC.
 * Private to analyses/memory/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where the data came from: "L1", "L2", "L3", "L4", "LFB", "remote cache", "RAM", "remote RAM",
 * "PMEM", "CXL", "I/O", "uncached", "any cache", or "L1 miss" and the like; NULL: not said. */
const char *lode_data_source_level(uint64_t data_source);

/* The result of snooping other caches: "none", "hit", "miss", "hit modified", "forward", "peer";
 * NULL: unknown.
 */
const char *lode_data_source_snoop(uint64_t data_source);

/* Whether another core had the line modified: "hit modified". */
bool lode_data_source_hits_modified(uint64_t data_source);

/* Whether the access was locked, as those of atomic instructions are. False where that is not said:
 * then *out_is_locked is untouched. */
bool lode_data_source_lock(uint64_t data_source, bool *out_is_locked);

/* How the address was translated: "L1", "L2", "walk", "fault", or "miss"; NULL: not said. */
const char *lode_data_source_tlb(uint64_t data_source);
