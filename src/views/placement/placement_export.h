/* SPDX-License-Identifier: MIT */
/* A placement in the form of other tools. Parts that they cannot express are written as comments.
 */
#pragma once

#include "machine/topology.h"
#include "model/placement.h"

#include <stdio.h>

/*
 * `form`: "numactl" (a shell script that runs a program), "hwloc" (one that binds the threads of a
 * running process), "c" (source text to be compiled into a program, with libnuma). Errors: _USAGE
 * for another form, or more memories than the topology has; _IO.
 */
bool lode_placement_export(const LodePlacement *placement, const LodeTopology *topology,
	const char *form, FILE *out, GError **error);
