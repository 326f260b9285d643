/* SPDX-License-Identifier: MIT */
/*
 * The memories of a machine, the processors at each, and how far they are from each other: this
 * machine's, or another one's that is described, so that one can plan for it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t node;       /* as the system numbers it: of mbind() */
	GArray *cpus;        /* uint32_t, ascending, as the system numbers them; may be empty */
	uint64_t size_bytes; /* 0: unknown */
} LodeMemoryNode;

typedef struct {
	char *description; /* "this machine", or the given description */
	bool is_described; /* not this machine as it is */
	GArray *nodes;     /* LodeMemoryNode; the m-th is memory m of a placement */
	double *distances; /* n × n, row by row: from the processors of one to the memory of the
	                      other, 1 at home; NULL: unknown */
	uint32_t n_cpus;   /* of all nodes */
	uint32_t n_cores;
	uint64_t cache_bytes; /* of the last level, one of them; 0: unknown */
} LodeTopology;

/*
 * `description`: NULL for this machine (what we may use of it), a synthetic description of hwloc
 * ("numa:4 core:8 pu:1", see hwloc(7)), or the path of an XML file that lstopo wrote. Nodes without
 * processors are left out. Errors: _USAGE (neither), _LIMIT (too large), _IO.
 */
LodeTopology *lode_topology_read(const char *description, GError **error);

/* A machine of as many equal memories, each with as many processors; distances unknown. */
LodeTopology *lode_topology_new_even(uint32_t n_memories, uint32_t cpus_per_memory);

void lode_topology_free(LodeTopology *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTopology, lode_topology_free)

static inline const LodeMemoryNode *lode_topology_node(const LodeTopology *self, uint32_t memory)
{
	return &g_array_index(self->nodes, LodeMemoryNode, memory);
}

/* From the processors of memory `from` to memory `to`; 1 at home and where it is unknown 2. */
static inline double lode_topology_distance(const LodeTopology *self, uint32_t from, uint32_t to)
{
	if (self->distances != NULL)
		return self->distances[(size_t)from * self->nodes->len + to];
	return from == to ? 1 : 2;
}
