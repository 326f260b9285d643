/* SPDX-License-Identifier: MIT */
/* System calls that a tracer has ended: what makes them go on. */
#include "record/ptrace/interrupted_call.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

static void test_repair(void)
{
	struct user_regs_struct registers = {
		.orig_rax = SYS_epoll_wait, .rax = (unsigned long long)-EINTR, .rip = 100};

	g_assert_true(lode_interrupted_call_restarts(&registers));
	g_assert_true(lode_interrupted_call_repair(&registers));
	g_assert_cmpint((int64_t)registers.rax, ==, -514);
	g_assert_cmpuint(registers.rip, ==, 100);
	/* stopped in user code, whatever is in rax */
	registers.orig_rax = (unsigned long long)-1;
	registers.rax = (unsigned long long)-EINTR;
	g_assert_false(lode_interrupted_call_repair(&registers));
	g_assert_false(lode_interrupted_call_restarts(&registers));
}

static void test_parts(void)
{
	LodePartedCall parted;
	int ends[2];

	g_assert_cmpint(pipe(ends), ==, 0);
	const struct user_regs_struct before = {
		.orig_rax = SYS_write,
		.rax = 4096,
		.rdi = (unsigned long long)ends[1],
		.rsi = 1000,
		.rdx = 10000,
		.rip = 100,
		.rcx = 100,
	};
	struct user_regs_struct registers = before;
	g_assert_true(lode_interrupted_call_part(&registers, getpid(), &parted));
	g_assert_cmpuint(registers.rsi, ==, 5096);
	g_assert_cmpuint(registers.rdx, ==, 5904);
	g_assert_cmpuint(registers.rip, ==, 98);
	g_assert_cmpuint(registers.rax, ==, SYS_write);
	registers.rax = 5904;
	lode_parted_call_join(&parted, &registers);
	g_assert_cmpuint(registers.rax, ==, 10000);
	registers.rax = before.rax;
	g_assert_true(memcmp(&registers, &before, sizeof(before)) == 0);
	/* an error of the rest is for the next call */
	registers.rax = (unsigned long long)-EPIPE;
	lode_parted_call_join(&parted, &registers);
	g_assert_cmpuint(registers.rax, ==, 4096);
	registers = before;
	registers.rax = before.rdx;
	g_assert_false(lode_interrupted_call_part(&registers, getpid(), &parted));
	close(ends[0]);
	close(ends[1]);
}

#endif

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#if defined(__x86_64__)
	g_test_add_func("/record/interrupted_call/repair", test_repair);
	g_test_add_func("/record/interrupted_call/parts", test_parts);
#endif
	return g_test_run();
}
