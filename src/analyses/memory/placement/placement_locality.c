/* SPDX-License-Identifier: MIT */
#include "analyses/memory/placement/placement_proposal.h"

#include "analyses/memory/placement/page_matrix.h"

#include <math.h>

/* The memory of a page that no piece holds. */
static uint32_t home_of(const LodePlacement *placement, const LodeUsedPage *page)
{
	return lode_placement_thread_memory(placement, page->first_toucher);
}

static double mean_distance(
	const LodeTopology *topology, uint32_t n, uint32_t thread, uint32_t page)
{
	double sum = 0;

	if (thread != LODE_NONE && page != LODE_NONE)
		return lode_topology_distance(topology, thread, page);
	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = 0; to < n; to++)
			if ((thread == LODE_NONE || thread == from) &&
				(page == LODE_NONE || page == to))
				sum += lode_topology_distance(topology, from, to);
	return sum / (thread == LODE_NONE && page == LODE_NONE ? (double)n * n : n);
}

typedef struct {
	const LodePlacement *placement;
	const LodePageMatrix *matrix;
	const LodeTopology *topology;
	double *local_of_thread; /* NULL */
	LodePlacementLocality result;
} Count;

static void count_page(Count *self, const LodeUsedPage *page, uint32_t memory)
{
	const LodePageUse *uses = lode_page_matrix_uses(self->matrix, page);
	uint32_t n = self->placement->n_memories;

	for (uint32_t i = 0; i < page->n_uses; i++) {
		double weight = uses[i].weight;
		uint32_t thread = lode_placement_thread_memory(self->placement, uses[i].thread);
		double local = thread == LODE_NONE || memory == LODE_NONE ? weight / n
		               : thread == memory                         ? weight
		                                                          : 0;
		self->result.weight += weight;
		self->result.local += local;
		if (self->local_of_thread != NULL)
			self->local_of_thread[uses[i].thread] += local;
		if (self->topology->distances != NULL)
			self->result.distance += weight *
			                         mean_distance(self->topology, n, thread, memory);
	}
}

LodePlacementLocality lode_placement_locality(const LodePlacement *placement,
	const LodePageMatrix *matrix, const LodeTopology *topology, double *local_of_thread)
{
	g_autoptr(GArray) pieces = lode_placement_pieces(placement, LODE_PAGE_SIZE);
	Count count = {placement, matrix, topology, local_of_thread, {.unseen = matrix->lost}};
	guint next = 0;

	for (guint i = 0; i < matrix->pages->len; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(matrix, i);
		while (next < pieces->len &&
			LODE_AT(pieces, LodePlacementPiece, next).end <= page->address)
			next++;
		const LodePlacementPiece *piece =
			next < pieces->len ? &LODE_AT(pieces, LodePlacementPiece, next) : NULL;
		bool is_placed = piece != NULL && piece->start <= page->address;
		count.result.n_placed_pages += is_placed;
		count_page(&count, page, is_placed ? piece->memory : home_of(placement, page));
	}
	bool is_known = topology->distances != NULL && count.result.weight > 0;
	count.result.distance = is_known ? count.result.distance / count.result.weight
	                                 : (double)NAN;
	return count.result;
}
