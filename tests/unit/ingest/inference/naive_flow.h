/* SPDX-License-Identifier: MIT */
/* Successive shortest paths by Bellman and Ford, on a plain list of arcs. Slow, and short. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t source, target;
	int64_t capacity, cost, sent;
} NaiveArc;

/* Sends the excesses (which must sum to 0) to where they are needed; false: they cannot get there.
 */
bool naive_flow_solve(GArray *arcs, int64_t *excess, uint32_t n_nodes);

int64_t naive_flow_cost(const GArray *arcs);
