/* SPDX-License-Identifier: MIT */
#include "analyses/memory/placement_proposal.h"

void lode_placement_proposal_free(LodePlacementProposal *self)
{
	if (self == NULL)
		return;
	lode_placement_free(self->placement);
	lode_page_matrix_free(self->matrix);
	g_free(self);
}

/* The chosen policy's placement stays; of the others only what they would do. */
static bool try_policy(LodePlacementProposal *self, const LodeProfile *profile,
	const LodePlacementOptions *options, GError **error)
{
	g_autoptr(LodePlacement)
		placement = lode_placement_make(profile, self->matrix, options, error);

	if (placement == NULL)
		return false;
	self->localities[options->policy] = lode_placement_locality(
		placement, self->matrix, options->topology);
	if (options->policy == self->policy)
		self->placement = g_steal_pointer(&placement);
	return true;
}

LodePlacementProposal *lode_placement_proposal_new(
	const LodeProfile *profile, const LodePlacementProposalOptions *options, GError **error)
{
	g_autoptr(LodePlacementProposal) self = g_new0(LodePlacementProposal, 1);
	LodePlacementOptions placement = {
		.topology = options->topology,
		.threads_per_memory = options->threads_per_memory,
	};

	self->topology = options->topology;
	self->policy = options->policy;
	self->matrix = lode_page_matrix_new(profile, options->event, options->pid, error);
	if (self->matrix == NULL)
		return NULL;
	self->has_fixed_addresses = profile->memory->has_fixed_addresses;
	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++) {
		placement.policy = (LodePlacementPolicy)i;
		bool is_chosen = placement.policy == options->policy;
		self->has_locality[i] = try_policy(
			self, profile, &placement, is_chosen ? error : NULL);
		if (is_chosen && !self->has_locality[i])
			return NULL;
	}
	return g_steal_pointer(&self);
}
