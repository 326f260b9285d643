/* SPDX-License-Identifier: MIT */
/* Bytes that several workers may take together; what a simulation holds is bounded by it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
	_Atomic size_t left;
	atomic_bool is_spent; /* something was refused */
} LodeCacheBudget;

static inline void lode_cache_budget_init(LodeCacheBudget *self, size_t bytes)
{
	atomic_init(&self->left, bytes);
	atomic_init(&self->is_spent, false);
}

/* False, and nothing taken, where less is left. */
static inline bool lode_cache_budget_take(LodeCacheBudget *self, size_t bytes)
{
	size_t left = atomic_load(&self->left);

	while (left >= bytes) {
		if (atomic_compare_exchange_weak(&self->left, &left, left - bytes))
			return true;
	}
	atomic_store(&self->is_spent, true);
	return false;
}

static inline void lode_cache_budget_give_back(LodeCacheBudget *self, size_t bytes)
{
	atomic_fetch_add(&self->left, bytes);
}

/* The system did not have the memory that was charged: the charge is undone, and the budget counts
 * as spent. */
static inline void lode_cache_budget_refuse(LodeCacheBudget *self, size_t bytes)
{
	lode_cache_budget_give_back(self, bytes);
	atomic_store(&self->is_spent, true);
}
