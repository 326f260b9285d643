/* SPDX-License-Identifier: MIT */
/*
 * The reason why the kernel was entered where a sample found it, and the program's instruction:
 *
 *   user registers ─▶ where the program goes on ─▶ the instruction
 *   kernel stack   ─▶ its outermost function    ─▶ page fault, interrupt, or system call…
 *                     …and within that          ─▶ the system call's name
 *
 * The number of a system call is not among the sampled registers: the kernel has put an error code
 * in its place. Without a kernel stack the constant that the program loads right before says it.
 * Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"

typedef struct {
	uint64_t address; /* run-time, of the user instruction */
	char event[64];   /* LODE_KERNEL_EVENTS and "page-fault", "interrupt", "syscall:write",
	                     "syscall" whose name is not known, "unknown" */
} LodeKernelEntry;

/*
 * For a sample in the kernel; `functions` (const char *) are those of the kernel that it was in,
 * the innermost first, none: not known. Reads the program's code from the places. False: the sample
 * has no registers of a program.
 */
bool lode_kernel_entry_find(LodePlaces *places, const LodePerfRecord *record,
	const LodePerfEvent *event, uint64_t time_ns, const GPtrArray *functions,
	LodeKernelEntry *out_entry);
