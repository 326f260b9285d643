/* SPDX-License-Identifier: MIT */
/* Programs that have a use for SIGTRAP or the trap flag themselves. */
#include "odd.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t n_traps;
static volatile sig_atomic_t codes[8];

static void trapped(int signal, void *data, void *context)
{
	const siginfo_t *info = data;
	(void)context;
	ODD_CHECK(signal == SIGTRAP);
	n_traps++;
	codes[info->si_code == SI_KERNEL ? 0
		: info->si_code == SI_TKILL
			? 7
			: (info->si_code > 0 && info->si_code < 7 ? info->si_code : 6)]++;
}

static void print_traps(void)
{
	printf("%ld:", (long)n_traps);
	for (int i = 0; i < 8; i++)
		printf(" %ld", (long)codes[i]);
	printf("\n");
}

static int handled(void)
{
	odd_handle_info(SIGTRAP, trapped, 0);
	for (long i = odd_rounds(30000); i > 0; i--) {
		__asm__ volatile("int3");
		raise(SIGTRAP);
	}
	print_traps();
	return 0;
}

/* The handler comes late, goes, and comes again. */
static int handled_late(void)
{
	struct sigaction now;
	for (int i = 0; i < 4; i++) {
		printf("%d\n", (int)(odd_work((uint64_t)i, odd_rounds(7000000)) & 0xff));
		odd_handle_info(SIGTRAP, trapped, 0);
		__asm__ volatile("int3");
		odd_work(1, 10000);
		odd_handle(SIGTRAP, SIG_DFL, 0);
		sigaction(SIGTRAP, NULL, &now);
		printf("%d\n", now.sa_handler == SIG_DFL);
	}
	print_traps();
	return 0;
}

static int handled_by_signal(void)
{
	void (*before)(int) = signal(SIGTRAP, SIG_IGN);
	printf("%d\n", before == SIG_DFL);
	before = signal(SIGTRAP, SIG_DFL);
	printf("%d\n", before == SIG_IGN);
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	return 0;
}

static int handled_by_call(void)
{
	struct {
		void (*handler)(int, void *, void *);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = {0};
	struct sigaction plain;
	odd_work(1, odd_rounds(10000000));
	odd_handle_info(SIGUSR2, trapped, 0);
	/* The C library's restorer, from a handler that it installed. */
	syscall(SYS_rt_sigaction, SIGUSR2, NULL, &action, 8);
	syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, 8);
	for (int i = 0; i < 3; i++) {
		__asm__ volatile("int3");
		odd_work(1, odd_rounds(6000000));
	}
	sigaction(SIGTRAP, NULL, &plain);
	print_traps();
	return 0;
}

static int ignored(void)
{
	odd_handle(SIGTRAP, SIG_IGN, 0);
	for (long i = odd_rounds(60000); i > 0; i--)
		raise(SIGTRAP);
	printf("%d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
	return 0;
}

static int blocked(void)
{
	sigset_t trap, pending;
	siginfo_t info;
	struct timespec none = {0};
	long n_taken = 0;
	odd_work(1, odd_rounds(10000000));
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_BLOCK, &trap, NULL);
	for (long i = odd_rounds(4000); i > 0; i--) {
		sigpending(&pending);
		ODD_CHECK(!sigismember(&pending, SIGTRAP));
		raise(SIGTRAP);
		odd_work(1, 3000);
		sigpending(&pending);
		ODD_CHECK(sigismember(&pending, SIGTRAP));
		n_taken += sigtimedwait(&trap, &info, &none) == SIGTRAP;
	}
	printf("%ld\n", n_taken);
	sigprocmask(SIG_UNBLOCK, &trap, NULL);
	printf("%d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
	return 0;
}

/* Blocked and unblocked all the time, by all ways there are. */
static int blocked_often(void)
{
	sigset_t all, before;
	uint64_t raw = ~(uint64_t)0, raw_before = 0;
	uint64_t sum = 0;
	sigfillset(&all);
	for (long i = 0; i < odd_rounds(100000); i++) {
		if (i % 3 == 0)
			sigprocmask(SIG_BLOCK, &all, &before);
		else if (i % 3 == 1)
			pthread_sigmask(SIG_SETMASK, &all, &before);
		else
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &raw, &raw_before, 8);
		sum = odd_work(sum, 100);
		if (i % 3 == 2)
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &raw_before, NULL, 8);
		else
			sigprocmask(SIG_SETMASK, &before, NULL);
		ODD_CHECK(raw_before == 0 && !sigismember(&before, SIGTRAP));
		sum = odd_work(sum, 100);
	}
	printf("%d\n", (int)(odd_work(sum, 1) & 0xff));
	return 0;
}

/* Raised while it is blocked with all others. */
static int blocked_all(void)
{
	sigset_t all, pending;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	printf("%d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
	raise(SIGTRAP);
	sigpending(&pending);
	printf("%d\n", sigismember(&pending, SIGTRAP));
	printf("%d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
	return 0;
}

/* What is blocked, and what waits, outlives the program. */
static int say_mask(int status)
{
	sigset_t mask, pending, none;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	printf("blocked %d, pending %d\n", sigismember(&mask, SIGTRAP),
		sigismember(&pending, SIGTRAP));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	printf("unblocked\n");
	return status;
}

static int blocked_exec(void)
{
	sigset_t most;
	if (odd_stage != NULL)
		return say_mask(4);
	odd_work(1, odd_rounds(10000000));
	sigfillset(&most);
	sigdelset(&most, SIGTERM);
	sigprocmask(SIG_BLOCK, &most, NULL);
	odd_work(1, odd_rounds(20000000));
	odd_execute("trap-blocked-exec", "second");
	return 9;
}

static int blocked_all_exec(void)
{
	sigset_t all;
	if (odd_stage != NULL)
		return say_mask(5);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	odd_work(1, odd_rounds(20000000));
	execl("/proc/self/exe", "odd", "trap-blocked-all-exec", "100", "second", (char *)NULL);
	return 9;
}

static int blocked_all_spawn(void)
{
	char *arguments[] = {"odd", "trap-blocked-all-spawn", "100", "second", NULL};
	sigset_t all;
	pid_t child;
	if (odd_stage != NULL)
		return say_mask(6);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	odd_work(1, odd_rounds(20000000));
	ODD_CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
	odd_wait(child, "child");
	return 0;
}

static void execute_there(int signal)
{
	(void)signal;
	odd_work(1, odd_rounds(20000000));
	odd_execute("trap-handler-exec", "second");
}

/* From a handler on the alternate stack, as crash handlers do. */
static int handler_exec(void)
{
	static char memory[1 << 16];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	if (odd_stage != NULL)
		return say_mask(7);
	sigaltstack(&stack, NULL);
	odd_handle(SIGUSR1, execute_there, SA_ONSTACK);
	odd_work(1, odd_rounds(20000000));
	raise(SIGUSR1);
	return 9;
}

static int read_from_descriptor(void)
{
	struct signalfd_siginfo info;
	sigset_t trap;
	long n = 0;
	odd_work(1, odd_rounds(10000000));
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_BLOCK, &trap, NULL);
	int descriptor = signalfd(-1, &trap, SFD_NONBLOCK);
	odd_work(1, odd_rounds(20000000));
	while (read(descriptor, &info, sizeof info) > 0)
		n++;
	printf("%ld\n", n);
	raise(SIGTRAP);
	ODD_CHECK(read(descriptor, &info, sizeof info) == sizeof info && info.ssi_code <= 0);
	return 0;
}

static int awaited_by_call(void)
{
	uint64_t all = ~(uint64_t)0, trap = (uint64_t)1 << (SIGTRAP - 1), pending = 0;
	struct timespec none = {0};
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	odd_work(1, odd_rounds(20000000));
	syscall(SYS_rt_sigpending, &pending, 8);
	printf("%d\n", (pending & trap) != 0);
	printf("%ld\n", syscall(SYS_rt_sigtimedwait, &trap, NULL, &none, 8));
	return 0;
}

static int raised(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	raise(SIGTRAP);
	return 0;
}

static int breakpoint(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	__asm__ volatile("int3");
	return 0;
}

static int debug_trap(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	__asm__ volatile(".byte 0xf1");
	return 0;
}

/* The program sets the flag itself, and counts its own steps. */
static int own_steps(void)
{
	odd_work(1, odd_rounds(10000000));
	odd_handle_info(SIGTRAP, trapped, 0);
	for (long i = odd_rounds(80); i > 0; i--) {
		long n = 50;
		__asm__ volatile("sub $128, %%rsp\n"
				 "pushf\n orl $0x100, (%%rsp)\n popf\n"
				 "1: dec %0\n jnz 1b\n"
				 "pushf\n andl $0xfffffeff, (%%rsp)\n popf\n"
				 "add $128, %%rsp"
				 : "+r"(n)
				 :
				 : "cc", "memory");
	}
	print_traps();
	return 0;
}

static int own_steps_unhandled(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	__asm__ volatile("sub $128, %%rsp\n pushf\n orl $0x100, (%%rsp)\n popf\n nop\n"
			 "add $128, %%rsp"
			 :
			 :
			 : "cc", "memory");
	return 0;
}

/* A child that asks to be traced, and its debugger, which steps it. */
static int debugger(void)
{
	struct user_regs_struct registers;
	int status;
	long n_steps = 0, n_other = 0;
	pid_t child = fork();
	if (child == 0) {
		long n = odd_rounds(600);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		odd_work(1, odd_rounds(20000000));
		raise(SIGSTOP);
		__asm__ volatile("int3\n 1: dec %0\n jnz 1b\n int3" : "+r"(n) : : "cc");
		_exit(9);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSTOP) {
			ptrace(PTRACE_CONT, child, NULL, NULL);
			continue;
		}
		siginfo_t info;
		ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		n_steps += info.si_code == TRAP_TRACE;
		n_other += info.si_code != TRAP_TRACE && info.si_code != SI_KERNEL;
		if (info.si_code == SI_KERNEL && n_steps > 0)
			ptrace(PTRACE_CONT, child, NULL, NULL);
		else
			ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	}
	printf("%ld steps, %ld other, status %d\n", n_steps, n_other, WEXITSTATUS(status));
	return 0;
}

/* A debugger comes and goes while a program works, and passes its signals on. In a window it does
 * see the flag. */
static int attached(void)
{
	struct user_regs_struct registers;
	int status, ends[2], from[2];
	char byte = 0;
	ODD_CHECK(pipe(ends) == 0 && pipe(from) == 0);
	pid_t child = fork();
	if (child == 0) {
		uint64_t sum = 0;
		struct timespec pause = {0, 1000};
		close(ends[1]);
		for (int i = 0; i < odd_rounds(50); i++) {
			sum = odd_work(sum, 1000000);
			nanosleep(&pause, NULL);
		}
		(void)!write(from[1], "x", 1);
		(void)!read(ends[0], &byte, 1);
		_exit((int)(sum & 0x7f));
	}
	close(ends[0]);
	struct timespec pause = {0, 2000000};
	for (int i = 0; i < odd_rounds(25); i++) {
		nanosleep(&pause, NULL);
		if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
			break;
		ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
		while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
			status >> 16 != PTRACE_EVENT_STOP)
			ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status));
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		ODD_CHECK(registers.rsp != 0);
		ptrace(PTRACE_DETACH, child, NULL, NULL);
	}
	(void)!read(from[0], &byte, 1);
	close(ends[1]);
	odd_wait(child, "child");
	return 0;
}

const OddKind odd_traps[] = {
	{"trap-handled", handled, "none"},
	{"trap-handled-late", handled_late},
	{"trap-signal", handled_by_signal},
	{"trap-handled-by-call", handled_by_call},
	{"trap-ignored", ignored, "none"},
	{"trap-blocked", blocked},
	{"trap-blocked-often", blocked_often},
	{"trap-blocked-all", blocked_all},
	{"trap-blocked-exec", blocked_exec},
	{"trap-blocked-all-exec", blocked_all_exec},
	{"trap-blocked-all-spawn", blocked_all_spawn},
	{"trap-handler-exec", handler_exec},
	{"trap-signalfd", read_from_descriptor},
	{"trap-awaited-by-call", awaited_by_call},
	{"trap-raised", raised},
	{"trap-int3", breakpoint},
	{"trap-int1", debug_trap},
	{"trap-own-steps", own_steps},
	{"trap-own-steps-unhandled", own_steps_unhandled},
	{"trap-debugger", debugger},
	{"trap-attached", attached},
	{0},
};
