/* SPDX-License-Identifier: MIT */
#include "model/observed/branch_shares.h"

#include "base/arrays/partition_point.h"
#include "model/observed/windows.h"
#include "model/profile.h"

/* Executions of the edges that are taken. */
static double count_taken(const LodeProfile *profile, uint32_t source)
{
	const GArray *edges = profile->code.edges;
	guint at = LODE_PARTITION_POINT(edges->len, i, LODE_AT(edges, LodeEdge, i).source < source);
	double sum = 0;

	for (; at < edges->len && LODE_AT(edges, LodeEdge, at).source == source; at++)
		if (LODE_AT(edges, LodeEdge, at).kind == LODE_EDGE_TAKEN)
			sum += LODE_AT(edges, LodeEdge, at).count;
	return sum;
}

bool lode_branch_shares_find(
	const LodeProfile *profile, uint32_t instruction, LodeBranchShares *out_shares)
{
	const LodeInstruction *one = lode_profile_instruction(profile, instruction);

	if (!lode_profile_set_has(profile, one->attribute_set, "kind:branch"))
		return false;
	double taken = count_taken(profile, instruction);
	double all = taken + MAX(one->next_count, 0);
	LodeBranchShares shares = {.counted = all > 0 ? taken / all : -1};
	if (profile->windows != NULL) {
		const LodeFunction *function = lode_profile_function(profile, one->function);
		uint32_t next = instruction + 1;
		bool has_next = next < function->first_instruction + function->n_instructions &&
		                lode_profile_instruction(profile, next)->address ==
		                        one->address + one->size;
		const LodeObservedEdge *passed = has_next ? lode_windows_find_edge(profile->windows,
								    instruction, next)
		                                          : NULL;
		shares.outcomes = lode_windows_outcomes(profile->windows, instruction);
		shares.taken = shares.outcomes - (passed != NULL ? passed->steps : 0);
	}
	*out_shares = shares;
	return true;
}

bool lode_branch_shares_are_observed(const LodeBranchShares *self)
{
	return self->outcomes >= LODE_OBSERVED_STEPS;
}
