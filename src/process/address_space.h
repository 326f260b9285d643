/* SPDX-License-Identifier: MIT */
/*
 * What lay where, when, in which process: the mappings of all processes of a recording, to be asked
 * for any time, so that samples need not come in order.
 *
 *   mappings, execs, forks ──freeze──▶ of each process: ranges of addresses, each with what lay
 *                                      there in the course of time
 *
 * A mapping covers what was there before. An exec empties an address space; a forked process has
 * what its parent had at that time until it maps something else there.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeAddressSpaces LodeAddressSpaces;

typedef struct {
	uint64_t start, end; /* run-time addresses [start, end) */
	uint64_t offset;     /* of `start` in the file */
	uint32_t file;       /* the caller's number of it */
} LodeMappedRange;

LodeAddressSpaces *lode_address_spaces_new(void);
void lode_address_spaces_free(LodeAddressSpaces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAddressSpaces, lode_address_spaces_free)

/* What happened, in any order; at equal times in the order of the calls. Empty ranges are ignored.
 */
void lode_address_spaces_map(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns, const LodeMappedRange *range);
void lode_address_spaces_exec(LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);
void lode_address_spaces_fork(
	LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* To be called once, before anything is looked up. Fails with _LIMIT where mappings overlap each
 * other so often that no real program can have made them. */
bool lode_address_spaces_freeze(LodeAddressSpaces *self, GError **error);

typedef struct {
	uint64_t begin_ns, end_ns; /* [begin, end) */
} LodeMappedPeriod;

typedef struct {
	uint64_t time_ns; /* 0: before anything is told of */
	uint64_t end_ns;  /* when the next one came about; UINT64_MAX: none did */
	uint32_t parent;  /* that it was a copy of; UINT32_MAX: none, it was empty */
} LodeAddressSpaceBirth;

/* How the address space came about that a process had at that time: by its last exec or fork. */
LodeAddressSpaceBirth lode_address_spaces_find_birth(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);

/* What lay at an address at that time, or NULL. `out_period`, which may be NULL, is for how long a
 * look-up gives the same, at least; untouched when that cannot be told. */
const LodeMappedRange *lode_address_spaces_find(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period);
