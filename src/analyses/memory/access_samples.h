/* SPDX-License-Identifier: MIT */
/* Which of the chosen samples are accesses. */
#pragma once

#include "model/profile.h"

/* The numbers without those of page faults, unless there is nothing else: then all of them. The
 * caller unrefs the GArray of uint32_t. */
GArray *lode_access_samples(const LodeProfile *profile, const uint32_t *samples, size_t n_samples);
