/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores in a loop whose address does not wait for a load of the iterations before:
 *
 *   i += 1 ─▶ order[i] ─▶ a[order[i]]      both early: the loads of many iterations overlap
 *   p = p->next ─▶ p->value                neither: each address comes out of the load before
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/attributes/dependence_search.h"

/* Working memory. */
typedef struct {
	GArray *registers; /* uint64_t × words × registers: the loads that each depends on */
	GArray *stored;    /* uint64_t × words × places: likewise, what was stored there */
	GArray *addresses; /* uint64_t × words × places: likewise, the addresses */
} LodeEarlyAddresses;

void lode_early_addresses_init(LodeEarlyAddresses *self);
void lode_early_addresses_clear(LodeEarlyAddresses *self);

/*
 * `iteration` has the nodes of one iteration, in their order. `forwarders` has for each of its
 * places that of the store whose value is loaded there; LODE_NONE: none such, so that it is a load
 * from memory. Gives a bool for each place, in `out_are_early`: it accesses memory by an operand,
 * and no load is among what its address is made of whose own address is made of its earlier
 * results. Results of calls are not known, and never early. `out_are_linear` likewise: the address
 * is made by sums alone, of what the loop does not change and of what it adds up.
 */
void lode_early_addresses_find(LodeEarlyAddresses *self, const LodeDependenceGraph *graph,
	const uint32_t *iteration, uint32_t n, const uint32_t *forwarders, bool *out_are_early,
	bool *out_are_linear);
