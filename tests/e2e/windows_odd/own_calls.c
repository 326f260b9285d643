/* SPDX-License-Identifier: MIT */
/*
 * Odd kinds, as those of odd.h, whose system calls are instructions of their own: no library sees
 * what they do. They are a program apart, as a program with such calls has no windows.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static const char *stage;
static long percent = 100;

static inline __attribute__((always_inline)) long call(
	const long number, long a, long b, long c, long d, long e)
{
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
			 : "rcx", "r11", "memory");
	return result;
}

static void work(void)
{
	volatile uint64_t sum = 0;

	for (long i = 0; i < 600000 * percent; i++)
		sum += (uint64_t)i;
	(void)sum;
}

static int seccomp_filter(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {5, rules};

	work();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long result = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0);
	work();
	(void)!write(1, result == 0 ? "done\n" : "refused\n", result == 0 ? 5 : 8);
	_exit(3);
}

static volatile char selector;

static void allow(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	selector = 0;
}

static int dispatch(void)
{
	struct sigaction action = {.sa_sigaction = allow, .sa_flags = SA_SIGINFO};

	work();
	sigaction(SIGSYS, &action, NULL);
	long result = call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, (long)&selector);
	selector = 1;
	work();
	selector = 0;
	printf("%ld\n", result);
	return 2;
}

static int clock_refused(void)
{
	work();
	long result = call(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	work();
	printf("%ld\n", result);
	return 5;
}

/* The default action again, which a signal of somebody's would end the program by. */
static int action_reset(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = {0};

	work();
	long result = call(SYS_rt_sigaction, SIGTRAP, (long)&action, 0, 8, 0);
	work();
	printf("%ld\n", result);
	return 6;
}

static int masked_exec(void)
{
	unsigned long all = ~0ul, none = 0;

	work();
	if (stage == NULL) {
		call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8, 0);
		work();
		execl("/proc/self/exe", "own", "own-masked-exec", "100", "second", (char *)NULL);
	}
	call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8, 0);
	printf("%s\n", stage);
	return 7;
}

static const struct {
	const char *name;
	int (*run)(void);
} kinds[] = {
	{"own-seccomp", seccomp_filter},
	{"own-dispatch", dispatch},
	{"own-clock", clock_refused},
	{"own-action", action_reset},
	{"own-masked-exec", masked_exec},
};

int main(int argc, char **argv)
{
	const int is_list = argc == 2 && strcmp(argv[1], "--list") == 0;

	if (argc > 2)
		percent = atol(argv[2]);
	stage = argc > 3 ? argv[3] : NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (is_list)
			printf("%s event\n", kinds[i].name);
		else if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
			return kinds[i].run();
	}
	return is_list ? 0 : 9;
}
