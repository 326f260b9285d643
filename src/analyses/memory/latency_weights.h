/* SPDX-License-Identifier: MIT */
/*
 * Latency in place of how often: where the processor measured how long each sampled access took,
 * the sum of that says where time was lost to memory.
 */
#pragma once

#include "model/profile.h"

/*
 * Gives each sample its latency times what it stands for (its weight, which is then an event's
 * count), and makes them samples of an event "latency", in cycles. Those without a latency weigh
 * nothing. The profile has memory. Errors: _NOT_FOUND: no sample has a latency.
 */
bool lode_latency_weights_apply(LodeProfile *profile, GError **error);
