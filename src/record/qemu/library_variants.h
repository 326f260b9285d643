/* SPDX-License-Identifier: MIT */
/*
 * Two runs of one program execute the same code of its libraries only when these choose the same
 * variants of their functions. glibc chooses by the processor's features, and QEMU's processor has
 * fewer: no AVX-512. So the native run does not use it, and the counted run gets the thresholds of
 * the native one (the size from which memcpy uses `rep movsb`…).
 *
 * glibc manual, "Tunables": hwcaps, x86_rep_movsb_threshold and others, in GLIBC_TUNABLES.
 */
#pragma once

#include <glib.h>

/*
 * An environment like `environment` (NULL: ours) for the native run; the caller frees it by
 * g_strfreev(). Programs without glibc take no notice.
 */
char **lode_library_variants_native(const char *const *environment);

/* Likewise for the run that is counted. Asks the dynamic linker for its thresholds; where that does
 * not answer, nothing is changed. */
char **lode_library_variants_counted(const char *const *environment);
