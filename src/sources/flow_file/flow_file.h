/* SPDX-License-Identifier: MIT */
/*
 * The flow file: any execution flow graph as text, see docs/reference/formats/flow-file.md
 * (versions 1 and 2).
 *
 * Where the format leaves a choice, the reader takes it so: lines may end in CR LF, and lines
 * without a field are skipped; numbers may have an exponent but no sign; names are UTF-8 without
 * control characters; `event` may stand anywhere, once; a second value of one event on one vertex
 * is an error, and so is a further event with the weight's name.
 *
 * The writer's names are single fields: in them white space, control characters and what is not
 * UTF-8 become %20, %09 …, an empty name becomes "?". The reader takes names as they stand, so that
 * written, read and written again a file has the same bytes.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LodeProfile LodeProfile;

/* Whether the first bytes look like a flow file. */
bool lode_flow_file_is_format(const char *data, size_t size);

/*
 * Reads a flow file (plain or zstd-compressed) into a new profile: one image of kind GRAPHS, a
 * function a graph, an instruction a vertex; an edge from a vertex to the one after it in the file
 * becomes its next_count, every other edge a row. Vertices with count "-" get max(in, out). Blocks
 * are runs of vertices that control enters only at the first and leaves only at the last; their
 * addresses are vertex numbers. Event 0 is the count, named "executions" unless the file uses that
 * name. NULL with an error that names file and line: _IO, _CORRUPT, _UNSUPPORTED (version), _LIMIT
 * (needs more memory than there is, or a compressed file more than that), _CANCELLED.
 */
LodeProfile *lode_flow_file_read(const char *path, const LodeProgress *progress, GError **error);

/*
 * Writes any profile as a flow file, the weight being `weight_event`, which may be of any kind;
 * other recorded events become x records. In profiles of binaries vertices are named by address;
 * edges of kind call and return and those to another function are left out, edges with the same
 * ends are summed; ev: attributes are written where an event's rate is ≥ `event_rate`. A profile
 * with windows becomes a file of version 2, with the observed steps of edges inside a function.
 * `out` is flushed. Errors: _IO (a full disk), _CORRUPT (a number in the profile is negative or not
 * finite).
 */
bool lode_flow_file_write(const LodeProfile *profile, uint32_t weight_event, double event_rate,
	FILE *out, GError **error);
