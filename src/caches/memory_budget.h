/* SPDX-License-Identifier: MIT */
/* Bytes that several workers may take together; what a simulation holds is bounded by it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
	_Atomic size_t left;
	atomic_bool is_spent; /* something was refused */
} LodeMemoryBudget;

static inline void lode_memory_budget_init(LodeMemoryBudget *self, size_t bytes)
{
	atomic_init(&self->left, bytes);
	atomic_init(&self->is_spent, false);
}

/* False, and nothing taken, where less is left. */
static inline bool lode_memory_budget_take(LodeMemoryBudget *self, size_t bytes)
{
	size_t left = atomic_load(&self->left);

	while (left >= bytes) {
		if (atomic_compare_exchange_weak(&self->left, &left, left - bytes))
			return true;
	}
	atomic_store(&self->is_spent, true);
	return false;
}

static inline void lode_memory_budget_give_back(LodeMemoryBudget *self, size_t bytes)
{
	atomic_fetch_add(&self->left, bytes);
}
