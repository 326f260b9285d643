/* SPDX-License-Identifier: MIT */
/* Sums and rows of a profile that came from samples. */
#pragma once

#include "model/profile.h"
#include "model/run/unresolved.h"

/* The weight of all instructions, and of what came to none, is that of the recording. */
void check_weight_is_whole(const LodeProfile *profile);

/* The samples of each instruction add up to its costs of each event, as sampled, and all of them to
 * the events' totals. */
void check_samples_are_costs(const LodeProfile *profile);

double sum_of_event(const LodeProfile *profile, uint32_t event);

/* NULL: there is no such reason. */
const LodeUnresolved *find_unresolved(const LodeProfile *profile, const char *reason);

const LodeFunction *find_profile_function(const LodeProfile *profile, const char *name);

/* LODE_NONE where nothing executed. */
uint32_t find_instruction(const LodeProfile *profile, const char *function, uint64_t address);
