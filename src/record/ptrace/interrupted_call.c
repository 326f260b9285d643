/* SPDX-License-Identifier: MIT */
#include "record/ptrace/interrupted_call.h"

#if defined(__x86_64__)

#include <errno.h>
#include <glib.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Results of a system call inside the kernel by which it begins again: at once, unless a handler
 * runs, or with the rest of its time (include/linux/errno.h of Linux; no program sees them). */
enum { RESTART_FIRST = 512, RESTART_NO_HANDLER = 514, RESTART_LAST = 516 };

/* An instruction "syscall". */
enum { CALL_BYTES = 2 };

/* Calls that return how many bytes they moved, and the registers that say which ones. */
typedef struct {
	long number;
	size_t descriptor, buffer, length; /* offsets of registers; buffer 0: in the kernel */
	bool is_only_whole;                /* with MSG_WAITALL in r10 */
} MovingCall;

#define REGISTER(name) offsetof(struct user_regs_struct, name)

static const MovingCall moving_calls[] = {
	{SYS_write, REGISTER(rdi), REGISTER(rsi), REGISTER(rdx), false},
	{SYS_sendto, REGISTER(rdi), REGISTER(rsi), REGISTER(rdx), false},
	{SYS_recvfrom, REGISTER(rdi), REGISTER(rsi), REGISTER(rdx), true},
	{SYS_sendfile, REGISTER(rdi), 0, REGISTER(r10), false},
	{SYS_splice, REGISTER(rdx), 0, REGISTER(r8), false},
};

static unsigned long long *register_at(struct user_regs_struct *registers, size_t offset)
{
	return (unsigned long long *)(void *)((char *)registers + offset);
}

bool lode_is_in_call(const struct user_regs_struct *registers)
{
	return (int64_t)registers->orig_rax >= 0;
}

bool lode_interrupted_call_restarts(const struct user_regs_struct *registers)
{
	int64_t result = (int64_t)registers->rax;

	return lode_is_in_call(registers) &&
	       (result == -EINTR || (result <= -RESTART_FIRST && result >= -RESTART_LAST));
}

bool lode_interrupted_call_repair(struct user_regs_struct *registers)
{
	if (!lode_is_in_call(registers) || (int64_t)registers->rax != -EINTR)
		return false;
	registers->rax = (unsigned long long)-RESTART_NO_HANDLER;
	return true;
}

static const MovingCall *find_call(const struct user_regs_struct *registers)
{
	for (size_t i = 0; i < G_N_ELEMENTS(moving_calls); i++)
		if (moving_calls[i].number == (long)registers->orig_rax)
			return &moving_calls[i];
	return NULL;
}

/* Files take a part only when they are full, or too large, which is for the program to see. */
static bool is_stream(pid_t pid, unsigned long long descriptor)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", (int)pid, descriptor);
	return stat(path, &status) == 0 &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode));
}

bool lode_interrupted_call_part(
	struct user_regs_struct *registers, pid_t pid, LodePartedCall *out_parted)
{
	const MovingCall *call = lode_is_in_call(registers) ? find_call(registers) : NULL;
	int64_t done = (int64_t)registers->rax;

	if (call == NULL || done <= 0 || (uint64_t)done >= *register_at(registers, call->length) ||
		(call->is_only_whole && (registers->r10 & MSG_WAITALL) == 0) ||
		!is_stream(pid, *register_at(registers, call->descriptor)))
		return false;
	*out_parted = (LodePartedCall){*registers, (uint64_t)done};
	if (call->buffer != 0)
		*register_at(registers, call->buffer) += (uint64_t)done;
	*register_at(registers, call->length) -= (uint64_t)done;
	registers->rax = registers->orig_rax;
	registers->rip -= CALL_BYTES;
	/* no call is to be begun again on the way out of this one */
	registers->orig_rax = (unsigned long long)-1;
	return true;
}

void lode_parted_call_join(const LodePartedCall *self, struct user_regs_struct *registers)
{
	int64_t more = (int64_t)registers->rax;

	*registers = self->before;
	registers->rax = self->n_done + (more > 0 ? (uint64_t)more : 0);
}

#endif
