/* SPDX-License-Identifier: MIT */
/*
 * The memory that an input may make us use. Sizes that an input claims, or decompresses to, are
 * charged before they are allocated, so that a hostile file ends in an error and not in the
 * system's out-of-memory killer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t limit_bytes, used_bytes;
} LodeMemoryBudget;

/* The memory that can be had now: of the machine, of the control group's limit on the process, and
 * of RLIMIT_AS, the smallest. */
uint64_t lode_memory_budget_available(void);

/* The rest of RLIMIT_AS; UINT64_MAX where it is not set. */
uint64_t lode_memory_budget_address_space(void);

/* Charges `bytes`; false, and nothing charged, when the limit would be passed. */
static inline bool lode_memory_budget_charge(LodeMemoryBudget *self, uint64_t bytes)
{
	if (bytes > self->limit_bytes - self->used_bytes)
		return false;
	self->used_bytes += bytes;
	return true;
}
