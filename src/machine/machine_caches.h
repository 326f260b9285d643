/* SPDX-License-Identifier: MIT */
/*
 * The caches of this machine, as the text of a hierarchy: those of its first processor, from hwloc.
 *
 * `xml`: NULL, or the path of a description that lstopo wrote, instead of this machine.
 */
#pragma once

#include <glib.h>

/*
 * All levels. A number of sets that is not a power of two is rounded down to one, with as many more
 * ways as fit into the size. The caller owns the text. Errors: _NOT_FOUND (the caches are not
 * described).
 */
char *lode_machine_caches_text(const char *xml, GError **error);

/* Three of them: the first level, and as l2 the last one, rounded as cachegrind rounds. Errors as
 * above. */
char *lode_machine_caches_first_and_last(const char *xml, GError **error);

/* The same, between them the second level where the last one is the third or later, and this
 * machine's TLBs of data where they are known: what counting simulates. Errors as above. */
char *lode_machine_caches_counted(const char *xml, GError **error);

/*
 * The three caches that cachegrind 3.19 would choose. They differ only on AMD's processors: there
 * it uses CPUID functions that have no codes for modern associativities and ignore that cores share
 * a cache, so that 32 MiB of 16 ways may become 256 MiB of one. Errors as above.
 */
char *lode_machine_caches_as_cachegrind(const char *xml, GError **error);
