/* SPDX-License-Identifier: MIT */
/* The misses of simulated caches: a miss of one level is one of the next too, perhaps, so that
 * weights of several add up to nothing. */
#pragma once

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* Their names, those that cost most first; static, NULL-terminated. */
const char *const *lode_simulated_events(void);

/* Misses of the first level, by why, where they were classified; static, NULL-terminated: what
 * other cores took away comes first. */
const char *const *lode_simulated_events_classes(void);
#define LODE_FALSE_SHARING_MISS "false-sharing-miss"
#define LODE_TRUE_SHARING_MISS "true-sharing-miss"

/* The event used where none is named; LODE_NONE: the samples are of no trace, or all of one event.
 * The profile has memory. */
uint32_t lode_simulated_events_default(const LodeProfile *profile);
