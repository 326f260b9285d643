/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/observed_rounds.h"

#include "base/arrays/partition_point.h"
#include "model/index.h"

#include <math.h>

void lode_observed_rounds_count(const LodeNaturalLoop *loop, const LodeWindows *windows,
	uint32_t first, uint32_t *out_rounds, uint32_t *out_exits)
{
	const LodeObservedEdge *edges =
		(const LodeObservedEdge *)(const void *)windows->edges->data;
	guint n = windows->edges->len;
	uint32_t head = LODE_AT(loop->body, uint32_t, 0);
	uint64_t rounds = 0, exits = 0;
	double stepped_rounds = 0, stepped_exits = 0; /* of these, without hits */
	unsigned n_sources = 0;
	bool has_hits = false;

	for (guint i = 0; i < loop->body->len; i++) {
		uint32_t node = LODE_AT(loop->body, uint32_t, i);
		if (loop->graph->nodes[node].is_call)
			continue;
		uint64_t all = 0, old_rounds = rounds, old_exits = exits;
		for (guint e = LODE_PARTITION_POINT(n, k, edges[k].source < first + node);
			e < n && edges[e].source == first + node; e++) {
			uint32_t target = edges[e].target - first;
			all += edges[e].steps;
			if (target >= loop->graph->n || !lode_natural_loop_has(loop, target))
				exits += edges[e].steps;
			else if (target == head)
				rounds += edges[e].steps;
		}
		if (rounds + exits == old_rounds + old_exits)
			continue;
		const LodeObservedInstruction *facts = lode_windows_find(windows, first + node);
		uint64_t hits = facts != NULL ? MIN(facts->hits, all) : 0;
		double stepped = (double)(all - hits) / (double)all;
		stepped_rounds += stepped * (double)(rounds - old_rounds);
		stepped_exits += stepped * (double)(exits - old_exits);
		n_sources++;
		has_hits |= hits > 0;
	}
	/* Hits of one branch are not to be compared with those of another one: these count what was
	 * executed step by step alone. */
	if (has_hits && n_sources > 1) {
		rounds = (uint64_t)round(stepped_rounds);
		exits = (uint64_t)round(stepped_exits);
	}
	*out_exits = (uint32_t)MIN(exits, UINT32_MAX);
	*out_rounds = (uint32_t)MIN(rounds + exits, UINT32_MAX);
}
