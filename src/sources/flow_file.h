/* SPDX-License-Identifier: MIT */
/*
 * The flow file: any execution flow graph as text, see docs/formats/flow-file.md (version 1).
 */
#pragma once

#include "base/progress.h"
#include "model/profile.h"

#include <stdio.h>

/* Whether the first bytes look like a flow file. */
bool lode_flow_file_is_format(const char *data, size_t size);

/*
 * Reads a flow file (plain or zstd-compressed) into a new profile: one image of kind GRAPHS, a
 * function a graph, an instruction a vertex; an edge from a vertex to the one after it in the file
 * becomes its next_count, every other edge a row. Vertices with count "-" get max(in, out). NULL
 * with an error that names file and line.
 */
LodeProfile *lode_flow_file_read(const char *path, const LodeProgress *progress, GError **error);

/*
 * Writes any profile as a flow file, the weight being `weight_event`. Reading it again gives the
 * same graphs. In profiles of binaries vertices are named by address; edges of kind call and
 * return are left out, ev: attributes are written where an event's rate is ≥ `event_rate`.
 */
bool lode_flow_file_write(const LodeProfile *profile, uint32_t weight_event, double event_rate,
	FILE *out, GError **error);
