/* SPDX-License-Identifier: MIT */
/*
 * The buffer into which the kernel writes the records of one CPU, and from which we read:
 *
 *   base ──▶ │ page of control │ 2^n pages of records, written round and round │
 *                                    tail ▲ ours ──▶ head ▲ the kernel's
 *
 * Records are multiples of 8 bytes, so that a header never wraps; what follows it may.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	void *base; /* NULL: not mapped */
	size_t size, mask;
	uint64_t tail, head; /* what can be read, as of the last update */
} LodePerfRing;

/* Maps the buffer of a descriptor: 2^n `pages`. False with errno. */
bool lode_perf_ring_map(LodePerfRing *self, int descriptor, size_t pages);
void lode_perf_ring_unmap(LodePerfRing *self);

/* A ring of our own memory, into which we write in the kernel's place: 2^n `pages`. */
bool lode_perf_ring_make(LodePerfRing *self, size_t pages);

/* Writes a record of a multiple of 8 bytes; false: there is no room for it. */
bool lode_perf_ring_put(LodePerfRing *self, const void *record, size_t size);

/* How much of it is written and not read yet. */
size_t lode_perf_ring_used(const LodePerfRing *self);

/* Sees what the kernel has written; false: nothing. */
bool lode_perf_ring_update(LodePerfRing *self);

/* Up to *out_size bytes from `position` (tail ≤ position < head) on that lie together. */
const void *lode_perf_ring_at(const LodePerfRing *self, uint64_t position, size_t *out_size);

/* Copies bytes of [position, head) that may wrap. */
void lode_perf_ring_copy(const LodePerfRing *self, uint64_t position, void *to, size_t size);

/* Returns the space of the read records to the kernel. */
void lode_perf_ring_release(LodePerfRing *self);
