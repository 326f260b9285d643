/* SPDX-License-Identifier: MIT */
/*
 * Finds slots whose addresses move together: how often the distance of two was the same as the last
 * time. Private to traces/.
 */
#pragma once

#include "traces/frames/frame_sample.h"

enum {
	LODE_N_SLOT_PARTNERS = 6, /* that are watched for each slot */
};

#define LODE_SLOT_EXCLUDED UINT32_MAX

typedef struct {
	uint64_t distance;       /* from the partner's address, the last time */
	uint32_t slot;           /* UINT32_MAX: none */
	uint16_t n_hits, n_seen; /* hits: it was the same as before */
} LodeSlotPartner;

typedef struct {
	LodeSlotPartner of[LODE_N_SLOT_PARTNERS];
} LodeSlotPartners;

/* One for each slot, without partners; to be freed by g_free(). */
LodeSlotPartners *lode_slot_partners_new(uint32_t n_slots);

/* Watches some of the accesses of a sample. `n_accesses`, by slot: 0, counted up here, or
 * LODE_SLOT_EXCLUDED where the slot is left out. */
void lode_slot_partners_find(LodeSlotPartners *self, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, const LodeFrameSample *sample, uint32_t *n_accesses);
