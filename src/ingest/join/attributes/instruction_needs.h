/* SPDX-License-Identifier: MIT */
/* What an instruction makes that others may wait for. Private to ingest/join/. */
#pragma once

#include "ingest/join/attributes/dependence_search.h"
#include "ingest/join/join.h"

typedef struct {
	const LodeProfile *profile;
	const LodeJoinCode *codes;
	GArray *miss_events; /* uint32_t, by lode_miss_events_find() */
} LodeNeedMaking;

/* Misses of the first level, by whatever name they were counted or sampled; at their causes. The
 * caller frees them. */
GArray *lode_miss_events_find(const LodeProfile *profile);

/* 1 << LodeNeed, of all that the result of an instruction is. */
uint16_t lode_needs_made_by(const LodeNeedMaking *self, uint32_t instruction);
