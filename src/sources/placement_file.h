/* SPDX-License-Identifier: MIT */
/*
 * Placement files, in the syntax that IRIX dplace(5) documents; docs/reference/formats/placement.md
 * has it in full, with what lode adds.
 *
 *   memories 2 in topology cube
 *   threads 4
 *   distribute threads across memories
 *   place range 0x7ffff7a00000 to 0x7ffff7bfffff on memory 1
 */
#pragma once

#include "model/placement.h"

/*
 * Reads a placement. Commands of dplace without an equivalent in Linux (page sizes, policies,
 * devices to be near to) are accepted, and named in `ignored` (char *, "line 3: policy data
 * default"; may be NULL). Variables are of the environment. Errors name file, line and column: _IO,
 * _CORRUPT, _LIMIT.
 */
LodePlacement *lode_placement_file_read(const char *path, GPtrArray *ignored, GError **error);

/* Appends the text that reads back as the same placement. `comment` stands at the top, each of its
 * lines after a #; NULL: none. */
void lode_placement_file_append(const LodePlacement *self, const char *comment, GString *text);
