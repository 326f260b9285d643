/* SPDX-License-Identifier: MIT */
/*
 * Programs that the traced one executes are traced too. QEMU 7.2 does execve(2) as it is asked to,
 * so that the new program runs without QEMU. Here, before QEMU does it, the same is executed in
 * QEMU again, with the same plugin:
 *
 *   execve("/bin/x", {"x", "a"}, …)  ──▶  qemu-x86_64 -plugin … -0 x /bin/x a
 *   a script "#!/bin/sh"             ──▶  qemu-x86_64 -plugin … -0 /bin/sh /bin/sh SCRIPT a
 *
 * Files that QEMU cannot run, or would run differently, are left to the kernel, which then reports
 * the error: files that are missing, not executable or for other architectures, damaged ELF files,
 * scripts without "#!", programs that would gain privileges.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Once, at the plugin's start, with its arguments, of which these are ours; others stay as they
 * are for programs that follow:
 *
 *   follow=on     else programs are left to the kernel, and forked processes on their own
 *   only=GLOB     record only programs whose name, or path where GLOB has a slash, is so; several
 *   record=no     this one is none of them
 *   mask=HEX      signals that it starts with as blocked
 *
 * `needed`: a path without which the recording cannot go on in a new program. Where QEMU has
 * no "-0" before the program, as lode gives it, nothing is followed. False: no memory.
 */
bool follow_install(int argc, char **argv, const char *needed);

bool follow_is_on(void);       /* new programs and processes are followed */
bool follow_is_recorded(void); /* this program is to be recorded */

/* The program's command line; valid for ever. */
const char *follow_command(void);

/* Whether a plugin's argument is one of ours. */
bool follow_is_argument(const char *argument);

/* execve(2), execveat(2) */
bool follow_is_exec(int64_t number);

/*
 * Before and after each system call of the program, with its arguments; `base` is where QEMU has
 * put the program's address 0. The first executes a program that is to be followed, and returns
 * where there is none, where that fails, and where a signal has to be handled first.
 */
void follow_before_call(int64_t number, const uint64_t *arguments, uint64_t base);
void follow_after_call(int64_t number, const uint64_t *arguments, int64_t result, uint64_t base);
