/* SPDX-License-Identifier: MIT */
/* Ways of a function that no sample shows. Private to ingest/join/. */
#pragma once

#include "ingest/join/join.h"

typedef struct LodeFunction LodeFunction;

/* Whether control may take ways in a function that its code in the profile does not show; `codes`
 * are of all instructions. */
bool lode_join_has_hidden_ways(
	const LodeProfile *profile, const LodeJoinCode *codes, const LodeFunction *function);
