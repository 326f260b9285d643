/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: what a system call returns that PTRACE_INTERRUPT has ended, and what
 * makes it look as if nobody had looked (signal(7), "Interruption of system calls"):
 *
 *   EINTR, nothing done      ─▶ the call begins again, unless a handler runs
 *   a part of the bytes done ─▶ the call goes on with the rest, and returns the sum
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#if defined(__x86_64__)

/* A call that moved a part of its bytes: how many, and the registers to go on with. */
typedef struct {
	struct user_regs_struct before; /* as the program is to find them, but rax */
	uint64_t n_done;
} LodePartedCall;

/* Whether the thread was stopped in a system call. */
bool lode_is_in_call(const struct user_regs_struct *registers);

/* Whether the call will begin again, without or after lode_interrupted_call_repair(). */
bool lode_interrupted_call_restarts(const struct user_regs_struct *registers);

/* Makes one that was ended with EINTR begin again: true when `registers` were changed. */
bool lode_interrupted_call_repair(struct user_regs_struct *registers);

/*
 * Makes one that moved a part of its bytes through a pipe, a socket or a terminal of `pid` move the
 * rest: true when `registers` were changed. The thread is then to go on to the end of the call,
 * where lode_parted_call_join() gives it the registers that it would have had.
 */
bool lode_interrupted_call_part(
	struct user_regs_struct *registers, pid_t pid, LodePartedCall *out_parted);
void lode_parted_call_join(const LodePartedCall *self, struct user_regs_struct *registers);

#endif
