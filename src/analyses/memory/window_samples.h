/* SPDX-License-Identifier: MIT */
/*
 * Accesses that were executed step by step, in windows: samples of accesses. Their weights are not
 * those of samples of time, so that they are never added to them; and as a window is of one thread,
 * they do not tell of sharing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* Their event; LODE_NONE: there are none. */
uint32_t lode_window_samples_event(const LodeProfile *profile);

/* Their event where it is not to be taken unless it is asked for: where there are samples of other
 * events, page faults apart. LODE_NONE: there are not, or none of windows. The profile has memory.
 */
uint32_t lode_window_samples_event_apart(const LodeProfile *profile);

/* Takes their samples out of a profile that others get: addresses of data are the program's own.
 * Without a sample left the profile has no memory. Gives whether there were any. */
bool lode_window_samples_remove(LodeProfile *profile);
