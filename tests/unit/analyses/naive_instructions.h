/* SPDX-License-Identifier: MIT */
/* Instruction sequences (docs/reference/mining.md §5) by walking every path, for profiles without
 * code. */
#pragma once

#include "model/mining_run.h"
#include "model/profile.h"

/* The twin of lode_instruction_miner_run(); the profile has at most 64 instructions. */
LodeMiningRun *naive_instruction_miner_run(
	const LodeProfile *profile, const LodeMiningParameters *parameters);
