/* SPDX-License-Identifier: MIT */
/*
 * The caches of the machine that this runs on, as the text of a hierarchy: those of its first
 * processor, by hwloc.
 *
 * `xml`: NULL, or the path of a description that lstopo wrote, in place of this machine.
 */
#pragma once

#include <glib.h>

/*
 * All levels. Where the number of sets is not a power of two, it is the next smaller one, with as
 * many more ways as fit. The caller owns the text. Errors: _NOT_FOUND (the caches are not
 * described).
 */
char *lode_machine_caches_text(const char *xml, GError **error);

/* Three of them: the first level, and as l2 the last one, rounded as cachegrind rounds. Errors as
 * above. */
char *lode_machine_caches_first_and_last(const char *xml, GError **error);

/*
 * The three that cachegrind 3.19 would choose. They are the same except on AMD's processors: there
 * it uses CPUID functions that know neither today's associativities nor the sharing of a cache by
 * cores, so that 32 MiB of 16 ways may become 256 MiB of one. Errors as above.
 */
char *lode_machine_caches_as_cachegrind(const char *xml, GError **error);
