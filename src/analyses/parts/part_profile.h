/* SPDX-License-Identifier: MIT */
/*
 * A profile reduced to some of its samples:
 *
 *   sampled events        the samples' weights, exactly
 *   their :cause twins    each instruction's, in the proportion in which the rule of model/causes.h
 *                         moves the part's weight there and that of the whole
 *   executions, edges,    those of the whole, by the part's share of the function's samples: an
 *   counted events        estimate
 *
 * Private to analyses/parts/.
 */
#pragma once

#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

/* `chosen` has a flag for each sample of profile->stacks; one at least is set. Gives the part's
 * share of the weight. */
double lode_part_profile_reduce(LodeProfile *profile, const bool *chosen);
