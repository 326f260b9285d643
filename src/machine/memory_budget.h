/* SPDX-License-Identifier: MIT */
/*
 * A limit on the memory used for an input. Sizes that an input claims, or decompresses to, are
 * charged before they are allocated, so that a hostile file ends in an error and not in the
 * system's out-of-memory killer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t limit_bytes, used_bytes;
} LodeMemoryBudget;

/* The memory available now: the smallest of the machine's free memory, the rest of the control
 * group's limit, and the rest of RLIMIT_AS. */
uint64_t lode_memory_budget_available(void);

/* The rest of RLIMIT_AS; UINT64_MAX: no limit. */
uint64_t lode_memory_budget_address_space(void);

/* Charges `bytes`; false, and nothing charged, if the limit would be exceeded. */
static inline bool lode_memory_budget_charge(LodeMemoryBudget *self, uint64_t bytes)
{
	if (bytes > self->limit_bytes - self->used_bytes)
		return false;
	self->used_bytes += bytes;
	return true;
}
