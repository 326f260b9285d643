/* SPDX-License-Identifier: MIT */
/*
 * The addresses of one instruction as attributes: where it goes next (stride), how many
 * pages are in use (spread), how much of its lines (lines), and conflicts of one set (conflict).
 * docs/reference/address-attributes.md defines them. Private to ingest/join/.
 */
#pragma once

#include "ingest/join/join.h"
#include "ingest/join/loops/loop_strides.h"
#include "model/memory.h"
#include "model/observed/windows.h"

typedef struct LodeUsedMembers LodeUsedMembers;

/* An access of an instruction whose address is known. */
typedef struct {
	uint64_t page; /* of which process and address; equal only for the same page */
	uint64_t address, time_ns;
	uint32_t instruction, thread;
	uint32_t size;   /* bytes; 0: not known */
	int used_bytes;  /* of its line, by the members that the function uses; −1: not known */
	uint32_t pool;   /* the object, of all instructions that access it */
	bool is_of_time; /* a sample of time, not one of a window */
} LodeAddressDraw;

/* From one sample of time to the next of the same instruction and thread. */
typedef struct {
	uint32_t n_up, n_down; /* to higher addresses, to lower ones */
} LodeAddressMoves;

/* All instructions that access one object, together. All 0 at first. */
typedef struct {
	uint64_t n_draws, n_pairs; /* n_pairs of draws are of one page */
	uint64_t least, most;      /* addresses of draws; of all processes */
	LodeAddressMoves moves;
	/* In windows and at breakpoints; of the accesses, those that are compared with the one
	 * before, and those before which enough is known (LodeObservedInstruction). */
	uint64_t compared, judged, page_changes, conflicting, line_visits, line_used_bytes;
} LodeAddressPool;

/*
 * A lower bound of how many pages are in use: of equally likely ones, or as many as would coincide
 * as often (the reciprocal of the sum of squared shares). Draws of accesses that follow one another
 * coincide more often, so that it only gets smaller. `n_pairs` of `n` draws are of the same page;
 * their number is taken for a Poisson variable, whose upper limit (97.5 %) is used.
 */
double lode_address_facts_least_pages(uint64_t n, uint64_t n_pairs);

/* Pairs of draws of one page. Orders the draws by page. */
uint64_t lode_address_facts_count_pairs(LodeAddressDraw *draws, uint32_t n);

/* From the draws of one instruction, which it orders by thread and time. */
LodeAddressMoves lode_address_facts_moves(LodeAddressDraw *draws, uint32_t n);

/*
 * Whether the lines of a walk do not stay in a first level of these sets and ways until it comes
 * back, though they are at most three quarters of its lines: most of them share sets with more
 * lines than ways. Other lines that are used meanwhile are not asked for.
 */
bool lode_address_facts_are_crowded(
	int64_t stride, double rounds, uint32_t n_sets, uint32_t n_ways);

enum { LODE_ADDRESS_FACTS_MOST = 7, LODE_ADDRESS_FACT_SIZE = 32 };

/* The instruction at hand. */
typedef struct {
	const LodeObservedInstruction *windows; /* NULL: none */
	LodeAddressDraw *draws;                 /* its own; they are reordered */
	uint32_t n;
	const LodeAddressPool *pool; /* of the object that it accesses most; NULL: not known */
	bool is_step_known;          /* it is in no loop, or known is: */
	bool is_linear;      /* the loop adds to its address, so that it goes on by equal steps */
	LodeLoopStride walk; /* its steps by the code */
	uint32_t n_sets, n_ways; /* of the first level's data cache */
	uint32_t reach;          /* pages of which the processor keeps translations */
} LodeAddressEvidence;

/* Their texts, "stride:4096" …; returns how many. */
unsigned lode_address_facts_make(const LodeAddressEvidence *evidence,
	char out_texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE]);

/*
 * Which bytes of a structure the code of a function accesses, by debug information, and so how much
 * of a cache line is used in which a sample found one:
 *
 *   struct particle (128)   charge kind │ name … velocity mass …
 *   the function uses       ████████████│
 *   line of the sample      ├──── 8 of 64 bytes ────┤
 *
 * Memory beside the structure is taken for more of its kind, used in the same way: an upper
 * bound where it is none.
 */

enum { LODE_USED_MEMBERS_MAX_SIZE = 4096 }; /* of a structure */

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
