/* SPDX-License-Identifier: MIT */
/*
 * Two runs of one program take the same way through its libraries only when these choose the same
 * variants of their functions. glibc chooses by what the processor can do, and QEMU's can do
 * less: no AVX-512. So the native run is told to do without, and the counted one is
 * given the thresholds that the native one has (from which size on memcpy uses `rep movsb`…).
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
