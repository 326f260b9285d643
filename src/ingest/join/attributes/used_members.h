/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a structure the code of a function accesses, by debug information, and so how much
 * of a cache line is used in which a sample found one:
 *
 *   struct particle (128)   charge kind │ name … velocity mass …
 *   the function uses       ████████████│
 *   line of the sample      ├──── 8 of 64 bytes ────┤
 *
 * Memory beside the structure is taken for more of its kind, used in the same way: an upper
 * bound where it is none. Private to ingest/join/.
 */
#pragma once

#include "ingest/join/join.h"
#include "model/memory.h"

enum { LODE_USED_MEMBERS_MAX_SIZE = 4096 }; /* of a structure */

typedef struct LodeUsedMembers LodeUsedMembers;

/* Borrows all. */
LodeUsedMembers *lode_used_members_new(
	const LodeProfile *profile, const LodeJoinCode *codes, const LodeJoinObjects *objects);
void lode_used_members_free(LodeUsedMembers *self);

/*
 * The used bytes of the line in which a sample's access begins; −1: not known, as the sample is to
 * no member of a structure, or the function calls others or accesses memory of which nothing is
 * known.
 */
int lode_used_members_of_line(LodeUsedMembers *self, const LodeMemorySample *sample);

/* The same of a structure of `size` bytes whose byte `offset` lies at `address`. */
int lode_used_bytes_of_line(const bool *are_used, uint32_t size, uint64_t offset, uint64_t address);
