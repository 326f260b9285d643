/* SPDX-License-Identifier: MIT */
/*
 * Private to record/.
 *
 * Whether the code of a process has system calls of its own, past the C library, by which it could
 * do what no preloaded library sees: change the action on SIGTRAP or the mask of signals, limit its
 * system calls, ask to be traced. Sandboxes, Wine, Go and other run-times do so.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Keeps what was found in each file. */
typedef struct LodeOwnSystemCalls LodeOwnSystemCalls;

LodeOwnSystemCalls *lode_own_system_calls_new(void);
void lode_own_system_calls_free(LodeOwnSystemCalls *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOwnSystemCalls, lode_own_system_calls_free)

/*
 * Looks at the executable mappings of files of a process, but for the C library, the dynamic linker
 * and ours. `maps`: the text of /proc/PID/maps. Code that is made later, or that a library has
 * which is loaded later, is not seen.
 */
bool lode_own_system_calls_are_in(LodeOwnSystemCalls *self, pid_t pid, const char *maps);

/*
 * Whether machine code has a `syscall` whose number is one of these calls or is not known: it may
 * be given to a function. Bytes that only look like one, within another instruction, do not count.
 */
bool lode_own_system_calls_in_code(const uint8_t *code, size_t size);
