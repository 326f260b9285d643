/* SPDX-License-Identifier: MIT */
#include "analyses/memory/placement_proposal.h"

#include "base/error.h"

static void clear_memory(void *data)
{
	LodeProposedMemory *memory = data;

	g_array_unref(memory->threads);
}

void lode_placement_proposal_free(LodePlacementProposal *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->memories, g_array_unref);
	lode_placement_free(self->placement);
	lode_topology_free(self->own_topology);
	lode_page_matrix_free(self->matrix);
	g_free(self);
}

static LodeProposedMemory *memory_at(const LodePlacementProposal *self, uint32_t memory)
{
	return &LODE_AT(self->memories, LodeProposedMemory, memory);
}

static void count_threads(LodePlacementProposal *self)
{
	for (uint32_t i = 0; i < self->placement->n_threads; i++) {
		uint32_t m = lode_placement_thread_memory(self->placement, i);
		if (m == LODE_NONE) {
			self->n_unplaced_threads++;
			continue;
		}
		g_array_append_val(memory_at(self, m)->threads, i);
		memory_at(self, m)->accesses += self->matrix->thread_weights[i];
	}
}

static void count_pages(LodePlacementProposal *self)
{
	g_autoptr(GArray) pieces = lode_placement_pieces(self->placement, LODE_PAGE_SIZE);
	guint next = 0;

	for (guint i = 0; i < self->matrix->pages->len; i++) {
		uint64_t address = lode_page_matrix_page(self->matrix, i)->address;
		while (next < pieces->len &&
			LODE_AT(pieces, LodePlacementPiece, next).end <= address)
			next++;
		if (next == pieces->len)
			return;
		const LodePlacementPiece *piece = &LODE_AT(pieces, LodePlacementPiece, next);
		if (piece->start > address)
			continue;
		if (piece->memory == LODE_NONE)
			self->n_interleaved++;
		else
			memory_at(self, piece->memory)->n_pages++;
	}
}

static void count_memories(LodePlacementProposal *self)
{
	self->memories = g_array_new(FALSE, TRUE, sizeof(LodeProposedMemory));
	g_array_set_clear_func(self->memories, clear_memory);
	for (uint32_t m = 0; m < self->placement->n_memories; m++) {
		LodeProposedMemory memory = {
			.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
		g_array_append_val(self->memories, memory);
	}
	count_threads(self);
	count_pages(self);
}

static bool choose_topology(
	LodePlacementProposal *self, const LodePlacementProposalOptions *options, GError **error)
{
	uint32_t n = 0, each = MAX(options->threads_per_memory, 1);

	self->topology = options->topology;
	if (self->topology != NULL)
		return true;
	for (uint32_t i = 0; i < self->matrix->n_threads; i++)
		n += self->matrix->thread_weights[i] > 0;
	uint32_t n_memories = MAX((uint32_t)(((uint64_t)n + each - 1) / each), 1);
	if (n_memories > LODE_PLACEMENT_MAX_MEMORIES || each > LODE_PLACEMENT_MAX_THREADS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%u threads, %u on each memory, need %u memories; there can be %d", n, each,
			n_memories, LODE_PLACEMENT_MAX_MEMORIES);
		return false;
	}
	self->own_topology = lode_topology_new_even(n_memories, each);
	self->topology = self->own_topology;
	return true;
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
		.threads_per_memory = options->threads_per_memory,
	};

	self->policy = options->policy;
	self->matrix = lode_page_matrix_new(profile, options->event, options->pid, error);
	if (self->matrix == NULL || !choose_topology(self, options, error))
		return NULL;
	placement.topology = self->topology;
	self->has_fixed_addresses = profile->memory->has_fixed_addresses;
	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++) {
		placement.policy = (LodePlacementPolicy)i;
		bool is_chosen = placement.policy == options->policy;
		self->has_locality[i] = try_policy(
			self, profile, &placement, is_chosen ? error : NULL);
		if (is_chosen && !self->has_locality[i])
			return NULL;
	}
	count_memories(self);
	return g_steal_pointer(&self);
}
