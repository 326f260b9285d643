/* SPDX-License-Identifier: MIT */
#include "naive_flow.h"

#define FAR (INT64_MAX / 4)

#define ARC(i) g_array_index(arcs, NaiveArc, (i) / 2)

/* Step 2i goes along arc i, step 2i + 1 back. */
static int64_t room(const GArray *arcs, uint32_t step)
{
	return step % 2 == 0 ? ARC(step).capacity - ARC(step).sent : ARC(step).sent;
}

static uint32_t start_of(const GArray *arcs, uint32_t step)
{
	return step % 2 == 0 ? ARC(step).source : ARC(step).target;
}

static uint32_t end_of(const GArray *arcs, uint32_t step)
{
	return step % 2 == 0 ? ARC(step).target : ARC(step).source;
}

static void find_distances(const GArray *arcs, uint32_t n_nodes, int64_t *distance, uint32_t *last)
{
	for (uint32_t round = 0; round < n_nodes; round++) {
		for (uint32_t step = 0; step < 2 * arcs->len; step++) {
			uint32_t u = start_of(arcs, step), v = end_of(arcs, step);
			int64_t cost = step % 2 == 0 ? ARC(step).cost : -ARC(step).cost;
			if (room(arcs, step) > 0 && distance[u] < FAR &&
				distance[u] + cost < distance[v]) {
				distance[v] = distance[u] + cost;
				last[v] = step;
			}
		}
	}
}

static void send(GArray *arcs, int64_t *excess, const uint32_t *last, uint32_t from, uint32_t to)
{
	int64_t amount = MIN(excess[from], -excess[to]);

	for (uint32_t v = to; v != from; v = start_of(arcs, last[v]))
		amount = MIN(amount, room(arcs, last[v]));
	for (uint32_t v = to; v != from; v = start_of(arcs, last[v]))
		ARC(last[v]).sent += last[v] % 2 == 0 ? amount : -amount;
	excess[from] -= amount;
	excess[to] += amount;
}

static bool send_once(GArray *arcs, int64_t *excess, uint32_t n_nodes, uint32_t from)
{
	g_autofree int64_t *distance = g_new(int64_t, n_nodes);
	g_autofree uint32_t *last = g_new0(uint32_t, n_nodes);
	uint32_t nearest = from;

	for (uint32_t v = 0; v < n_nodes; v++)
		distance[v] = FAR;
	distance[from] = 0;
	find_distances(arcs, n_nodes, distance, last);
	for (uint32_t v = 0; v < n_nodes; v++)
		if (excess[v] < 0 && distance[v] < FAR &&
			(nearest == from || distance[v] < distance[nearest]))
			nearest = v;
	if (nearest == from)
		return false;
	send(arcs, excess, last, from, nearest);
	return true;
}

bool naive_flow_solve(GArray *arcs, int64_t *excess, uint32_t n_nodes)
{
	for (uint32_t v = 0; v < n_nodes; v++)
		while (excess[v] > 0)
			if (!send_once(arcs, excess, n_nodes, v))
				return false;
	return true;
}

int64_t naive_flow_cost(const GArray *arcs)
{
	int64_t cost = 0;

	for (uint32_t i = 0; i < arcs->len; i++)
		cost += g_array_index(arcs, NaiveArc, i).cost *
		        g_array_index(arcs, NaiveArc, i).sent;
	return cost;
}
