/* SPDX-License-Identifier: MIT */
/*
 * The memories of a machine, the processors of each, and the distances between them: of this
 * machine, or of a described one, to plan for it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t node;       /* number of the system, as in mbind() */
	GArray *cpus;        /* uint32_t, ascending, numbers of the system; may be empty */
	uint64_t size_bytes; /* 0: unknown */
} LodeMemoryNode;

typedef struct {
	char *description; /* "this machine", or the given description */
	bool is_described; /* not this machine */
	GArray *nodes;     /* LodeMemoryNode; the m-th is memory m of a placement */
	double *distances; /* n × n, row by row: from the processors of one node to the memory of
	                      the other; 1: local; NULL: unknown */
	uint32_t n_cpus;   /* of all nodes */
	uint32_t n_cores;
} LodeTopology;

/*
 * `description`: NULL for this machine (the part that lode may use), a synthetic description of
 * hwloc ("numa:4 core:8 pu:1", see hwloc(7)), or the path of an XML file that lstopo wrote. Nodes
 * without processors are left out. Errors: _USAGE (neither), _LIMIT (too large), _IO.
 */
LodeTopology *lode_topology_read(const char *description, GError **error);

/* A machine with `n_memories` equal memories and `cpus_per_memory` processors at each; distances
 * unknown. */
LodeTopology *lode_topology_new_even(uint32_t n_memories, uint32_t cpus_per_memory);

void lode_topology_free(LodeTopology *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTopology, lode_topology_free)

static inline const LodeMemoryNode *lode_topology_node(const LodeTopology *self, uint32_t memory)
{
	return &g_array_index(self->nodes, LodeMemoryNode, memory);
}

/* The distance from the processors of memory `from` to memory `to`; 1: local; 2 if unknown. */
static inline double lode_topology_distance(const LodeTopology *self, uint32_t from, uint32_t to)
{
	if (self->distances != NULL)
		return self->distances[(size_t)from * self->nodes->len + to];
	return from == to ? 1 : 2;
}
