/* SPDX-License-Identifier: MIT */
/*
 * What counted mispredictions cost at least: each takes the cycles that the recorded processor
 * needs to begin anew once the branch is resolved (src/images/cores/cores.ini); the wait for the
 * branch's own operands comes on top.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t event; /* branch-miss; LODE_NONE: not counted */
	double share;   /* of all weight that one of them takes at least; 0: not known */
} LodeMispredictions;

/* The share is known where the weight is time, and processor and clock are in the recording. */
LodeMispredictions lode_mispredictions_of(const LodeProfile *profile);

/* Appends "mispredicted 49 %, at least 12 % of the time" of a branch, indirect jump or call, or
 * return that was; nothing of other instructions. `begin` goes before it. */
void lode_mispredictions_append(const LodeMispredictions *self, const LodeProfile *profile,
	uint32_t instruction, const char *begin, GString *out);
