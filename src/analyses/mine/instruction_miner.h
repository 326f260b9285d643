/* SPDX-License-Identifier: MIT */
/*
 * Frequent instruction sequences (IPCOM000194715D; docs/reference/mining.md §5): opcodes that
 * follow each other along the static control flow, counted by distinct paths.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct LodeMiningParameters LodeMiningParameters;
typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;

/*
 * Mines opcode sequences of up to parameters->iterations instructions that occur more than
 * min_count times. A sequence's count is its number of paths; its event supports are totals over
 * the distinct vertices of its paths; weight and frequency are 0. Errors: _USAGE, _CANCELLED.
 */
LodeMiningRun *lode_instruction_miner_run(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const char *name, const LodeProgress *progress,
	GError **error);
