/* SPDX-License-Identifier: MIT */
/* The builder's fast functions, for callers that know attribute classes already.
 * Private to analyses/flow_graph/. */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

/* The builder's id of an attribute, and of a set of such ids (in any order). */
uint32_t lode_flow_graph_builder_attribute(LodeFlowGraphBuilder *self, const char *name);
uint32_t lode_flow_graph_builder_class(
	LodeFlowGraphBuilder *self, const uint32_t *attributes, size_t n);

/* Adds a vertex of a known class; its events follow, one call each, before the next vertex. */
uint32_t lode_flow_graph_builder_add_classed(LodeFlowGraphBuilder *self, double weight,
	double count, uint32_t attribute_class, uint32_t instruction);
void lode_flow_graph_builder_add_event(LodeFlowGraphBuilder *self, uint32_t event, double value);

/* Adds to the totals the parts of the profile that are filtered out of the graph. */
void lode_flow_graph_builder_add_totals(
	LodeFlowGraphBuilder *self, double weight, double count, const double *events);
