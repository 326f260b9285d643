/* SPDX-License-Identifier: MIT */
#include "analyses/merge/origin_rows.h"

#include "base/arrays/sort_order.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "model/run/unresolved.h"

LODE_ORDER(by_instruction_and_origin, LodeOriginCount, LODE_ASCENDING(instruction),
	LODE_ASCENDING(origin))

LODE_ORDER(by_origin_and_instruction, LodeOriginCount, LODE_ASCENDING(origin),
	LODE_ASCENDING(instruction))

LODE_ORDER(costs_by_instruction, LodeOriginCost, LODE_ASCENDING(instruction), LODE_ASCENDING(event),
	LODE_ASCENDING(origin))

LODE_ORDER(costs_by_origin, LodeOriginCost, LODE_ASCENDING(origin), LODE_ASCENDING(instruction),
	LODE_ASCENDING(event))

LODE_ORDER(compare_edges, LodeOriginEdgePart, LODE_ASCENDING(edge.source),
	LODE_ASCENDING(edge.target), LODE_ASCENDING(edge.kind), LODE_ASCENDING(origin))

LODE_ORDER(origin_edges_by_origin, LodeOriginEdge, LODE_ASCENDING(origin), LODE_ASCENDING(edge))

LODE_ORDER(compare_totals, LodeOriginTotal, LODE_ASCENDING(origin), LODE_ASCENDING(event))

void lode_origin_rows_add_up_costs(LodeProfile *merged, const bool *is_chosen)
{
	GArray *rows = merged->origin_parts->costs;
	const LodeOriginCost *last = NULL;
	uint32_t begun = 0;

	g_array_sort(rows, costs_by_instruction);
	g_array_set_size(merged->code.costs, 0);
	g_array_set_size(merged->code.cost_starts, merged->code.instructions->len + 1);
	for (guint i = 0; i < rows->len; i++) {
		const LodeOriginCost *row = &LODE_AT(rows, LodeOriginCost, i);
		bool is_same = last != NULL && last->instruction == row->instruction &&
		               last->event == row->event;
		const LodeCost cost = {row->event, row->value};
		if (is_chosen != NULL && !is_chosen[row->origin])
			continue;
		last = row;
		while (begun <= row->instruction)
			LODE_AT(merged->code.cost_starts, uint32_t,
				begun++) = merged->code.costs->len;
		if (is_same)
			LODE_AT(merged->code.costs, LodeCost, merged->code.costs->len - 1).value +=
				row->value;
		else
			g_array_append_val(merged->code.costs, cost);
	}
	while (begun <= merged->code.instructions->len)
		LODE_AT(merged->code.cost_starts, uint32_t, begun++) = merged->code.costs->len;
}

/* Whether an edge is kept as the next_count of its source. */
static bool is_straight(const LodeProfile *merged, const LodeEdge *edge)
{
	return (edge->kind == LODE_EDGE_FALL_THROUGH || edge->kind == LODE_EDGE_GIVEN) &&
	       edge->target == edge->source + 1 &&
	       lode_profile_instruction(merged, edge->source)->function ==
	               lode_profile_instruction(merged, edge->target)->function;
}

static void add_straight(LodeProfile *merged, const LodeOriginEdgePart *part, guint *at)
{
	GArray *counts = merged->origin_parts->counts;
	double *next = &lode_profile_instruction(merged, part->edge.source)->next_count;

	*next = MAX(*next, 0) + part->edge.count;
	while (*at < counts->len) {
		LodeOriginCount *row = &LODE_AT(counts, LodeOriginCount, *at);
		if (row->instruction > part->edge.source ||
			(row->instruction == part->edge.source && row->origin >= part->origin))
			break;
		++*at;
	}
	if (*at == counts->len)
		return;
	/* It has one, unless a file made to harm says that an origin left an instruction which it
	 * never executed. */
	LodeOriginCount *row = &LODE_AT(counts, LodeOriginCount, *at);
	if (row->instruction == part->edge.source && row->origin == part->origin)
		row->next_count = MAX(row->next_count, 0) + part->edge.count;
}

/* Edges and the rows of origins' counts in step, both by instruction and origin. */
static void add_up_edges(LodeProfile *merged, GArray *edges)
{
	LodeOriginParts *parts = merged->origin_parts;
	guint at = 0;

	g_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++) {
		const LodeOriginEdgePart *part = &LODE_AT(edges, LodeOriginEdgePart, i);
		const LodeEdge *edge = &part->edge;
		bool is_same = i > 0 && part[-1].edge.source == edge->source &&
		               part[-1].edge.target == edge->target &&
		               part[-1].edge.kind == edge->kind;
		if (is_straight(merged, edge)) {
			add_straight(merged, part, &at);
			continue;
		}
		if (is_same)
			LODE_AT(merged->code.edges, LodeEdge, merged->code.edges->len - 1).count +=
				edge->count;
		else
			g_array_append_val(merged->code.edges, *edge);
		const LodeOriginEdge row = {part->origin, merged->code.edges->len - 1, edge->count};
		LodeOriginEdge *last = parts->edges->len > 0
		                               ? &LODE_AT(parts->edges, LodeOriginEdge,
							 parts->edges->len - 1)
		                               : NULL;
		if (last != NULL && last->origin == row.origin && last->edge == row.edge)
			last->count += row.count;
		else
			g_array_append_val(parts->edges, row);
	}
}

void lode_origin_rows_add_up(LodeProfile *merged, GArray *edges)
{
	GArray *counts = merged->origin_parts->counts;

	lode_origin_rows_add_up_costs(merged, NULL);
	g_array_sort(counts, by_instruction_and_origin);
	add_up_edges(merged, edges);
}

void lode_origin_rows_add_missing(LodeProfile *profile)
{
	uint32_t weight_event = profile->code.weight_event;
	double placed = 0, executed = 0;

	if (weight_event == LODE_NONE)
		return;
	for (guint i = 0; i < profile->code.costs->len; i++)
		if (LODE_AT(profile->code.costs, LodeCost, i).event == weight_event)
			placed += LODE_AT(profile->code.costs, LodeCost, i).value;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		executed += lode_profile_instruction(profile, i)->count;
	double weight = lode_profile_event(profile, weight_event)->total - placed;
	double count = profile->run.total_count - executed;
	bool has_costs = lode_event_kind_has_costs(lode_profile_event(profile, weight_event)->kind);
	if (count > 0.5 || (has_costs && weight > 0.5))
		lode_profile_add_unresolved(profile, "for reasons that are not known by origin",
			NULL, MAX(count, 0), has_costs ? MAX(weight, 0) : 0);
}

void lode_origin_rows_sort(LodeOriginParts *parts)
{
	g_array_sort(parts->counts, by_origin_and_instruction);
	g_array_sort(parts->costs, costs_by_origin);
	g_array_sort(parts->edges, origin_edges_by_origin);
	g_array_sort(parts->totals, compare_totals);
}
