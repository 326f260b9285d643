/* SPDX-License-Identifier: MIT */
/* The caches of the machine that this runs on, as the text of a hierarchy. */
#pragma once

#include <glib.h>

/* Where Linux describes the caches of the first processor. */
#define LODE_MACHINE_CACHES "/sys/devices/system/cpu/cpu0/cache"

/*
 * All levels, by a folder like LODE_MACHINE_CACHES. Where the number of sets is no power of two,
 * it is the next smaller one, with as many more ways as fit. The caller owns the text. Errors:
 * _NOT_FOUND (no such folder, nothing usable in it).
 */
char *lode_machine_caches_text(const char *folder, GError **error);

/*
 * The three that cachegrind 3.19 would choose: the first level, and as l2 the last one. By the
 * processor's own words where that is what cachegrind goes by, else by the folder. Errors as above.
 */
char *lode_machine_caches_as_cachegrind(const char *folder, GError **error);
