/* SPDX-License-Identifier: MIT */
/*
 * One graph of a flow file while it is read: vertices, edges and values in any order, by the
 * numbers of their names; closing it checks that they fit together and adds it to the profile.
 */
#pragma once

#include "sources/flow_file/flow_file_names.h"

#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

/* The fault found when a graph is closed; the reader words the message. */
typedef enum {
	LODE_FLOW_FAULT_NONE,
	LODE_FLOW_FAULT_EDGE_TWICE,   /* names: its ends; also of what was observed */
	LODE_FLOW_FAULT_EDGE_VERTEX,  /* name: the vertex that the graph does not have */
	LODE_FLOW_FAULT_VALUE_TWICE,  /* name: the vertex, event: the event */
	LODE_FLOW_FAULT_VALUE_VERTEX, /* name: the vertex that the graph does not have */
} LodeFlowFaultKind;

typedef struct {
	LodeFlowFaultKind kind;
	uint64_t line;
	uint32_t name, target_name, event;
} LodeFlowFault;

typedef struct {
	uint32_t source, target; /* names; after ordering, vertices */
	double count;
	uint64_t line;
} LodeFlowFileEdge;

typedef struct {
	LodeFlowFileEdge edge; /* count: its steps */
	uint32_t windows;
} LodeFlowFileObserved;

typedef struct {
	uint32_t vertex; /* name; after ordering, vertex */
	uint32_t event;
	double value;
	uint64_t line;
} LodeFlowFileValue;

typedef struct {
	LodeProfile *profile;     /* borrowed */
	uint32_t function;        /* LODE_NONE: no graph is open */
	LodeFlowFileNames names;  /* of the vertices */
	GArray *name_vertices;    /* uint32_t: vertex number of each name; LODE_NONE: none yet */
	GArray *vertex_names;     /* uint32_t: back again */
	GArray *weights;          /* double, a vertex */
	GArray *edges;            /* LodeFlowFileEdge */
	GArray *observed;         /* LodeFlowFileObserved */
	GArray *values;           /* LodeFlowFileValue */
	GArray *inflow, *outflow; /* double, a vertex; scratch of closing */
	GArray *in_degrees;       /* uint32_t, a vertex; likewise */
	GArray *out_degrees;
} LodeFlowFileGraph;

void lode_flow_file_graph_init(LodeFlowFileGraph *self, LodeProfile *profile);
void lode_flow_file_graph_clear(LodeFlowFileGraph *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFlowFileGraph, lode_flow_file_graph_clear)

/* Starts a graph as a new function of image 0; the one before must be closed. */
void lode_flow_file_graph_start(LodeFlowFileGraph *self, const char *name);

/* The number of a vertex's name, whether its vertex has come or not. */
uint32_t lode_flow_file_graph_name(LodeFlowFileGraph *self, const char *text, uint32_t length);

/* Adds a vertex; a count below 0 stands for max(in, out). False when it is there already. */
bool lode_flow_file_graph_add_vertex(LodeFlowFileGraph *self, uint32_t name, double weight,
	double count, uint32_t attribute_set);

/*
 * Ends the open graph, if there is one: adds its edges, costs and blocks to the profile. `weight`
 * is the weight event's id, which is below that of all other events that have costs. When the
 * records contradict each other the fault with the lowest line is given and nothing is added.
 */
LodeFlowFault lode_flow_file_graph_close(LodeFlowFileGraph *self, uint32_t weight);
