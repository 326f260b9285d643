/* SPDX-License-Identifier: MIT */
/* Handlers, and ways out of them. */
#include "odd.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t n_handled, depth;
static char stack_memory[65536] __attribute__((aligned(16)));
static sigjmp_buf place;

static void count(int signal)
{
	(void)signal;
	n_handled++;
}

static int ordinary(void)
{
	odd_handle(SIGUSR1, count, 0);
	for (long i = odd_rounds(40000); i > 0; i--)
		raise(SIGUSR1);
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void count_on_own_stack(int signal)
{
	char here = 0;
	ODD_CHECK(&here >= stack_memory && &here < stack_memory + sizeof stack_memory);
	count(signal);
}

static int own_stack(void)
{
	stack_t own = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
	sigaltstack(&own, NULL);
	odd_handle(SIGUSR1, count_on_own_stack, SA_ONSTACK);
	for (long i = odd_rounds(40000); i > 0; i--)
		raise(SIGUSR1);
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void nest(int signal)
{
	n_handled++;
	if (signal == SIGUSR1)
		raise(SIGUSR2);
	else if (signal == SIGUSR2)
		raise(SIGRTMIN);
}

static int nested(void)
{
	odd_handle(SIGUSR1, nest, 0);
	odd_handle(SIGUSR2, nest, 0);
	odd_handle(SIGRTMIN, nest, 0);
	for (long i = odd_rounds(20000); i > 0; i--)
		raise(SIGUSR1);
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void recurse(int signal)
{
	n_handled++;
	if (++depth % 8 != 0)
		raise(signal);
}

static int no_defer(void)
{
	odd_handle(SIGUSR1, recurse, SA_NODEFER);
	for (long i = odd_rounds(8000); i > 0; i--)
		raise(SIGUSR1);
	printf("%ld\n", (long)n_handled);
	return 0;
}

static int reset_handler(void)
{
	struct sigaction now;
	for (long i = odd_rounds(30000); i > 0; i--) {
		odd_handle(SIGUSR1, count, (int)SA_RESETHAND);
		raise(SIGUSR1);
		sigaction(SIGUSR1, NULL, &now);
		ODD_CHECK(now.sa_handler == SIG_DFL);
	}
	printf("%ld\n", (long)n_handled);
	raise(SIGUSR1);
	return 0;
}

static void jump(int signal)
{
	n_handled++;
	siglongjmp(place, signal);
}

/* Out of handlers, with the mask restored and without. */
static int jump_out(void)
{
	sigset_t mask;
	stack_t own = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
	sigaltstack(&own, NULL);
	for (volatile long i = 0; i < odd_rounds(40000); i++) {
		odd_handle(SIGUSR1, jump, i % 4 < 2 ? 0 : SA_ONSTACK);
		if (sigsetjmp(place, i % 2 == 0) == 0)
			raise(SIGUSR1);
		sigprocmask(SIG_SETMASK, NULL, &mask);
		ODD_CHECK(sigismember(&mask, SIGUSR1) == i % 2);
		ODD_CHECK(sigismember(&mask, SIGTRAP) == 0);
		sigemptyset(&mask);
		sigprocmask(SIG_SETMASK, &mask, NULL);
	}
	printf("%ld\n", (long)n_handled);
	return 0;
}

/* A handler that comes at any time jumps back to the beginning of what was interrupted. */
static int jump_out_of_work(void)
{
	struct itimerval timer = {{0, 700}, {0, 700}};
	volatile uint64_t sum = 0;
	odd_handle(SIGALRM, jump, 0);
	sigsetjmp(place, 1);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (n_handled < odd_rounds(120))
		sum = odd_work(sum, 100);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("%d\n", sum == 1);
	return 0;
}

static void query_in_handler(int signal)
{
	stack_t now = {0};
	sigaltstack(NULL, &now);
	ODD_CHECK(now.ss_flags == SS_ONSTACK && now.ss_sp == stack_memory);
	now.ss_flags = SS_DISABLE;
	ODD_CHECK(sigaltstack(&now, NULL) == -1);
	count(signal);
}

static void *query_in_thread(void *data)
{
	stack_t now = {0};
	sigaltstack(NULL, &now);
	printf("a thread's: %d %zu\n", now.ss_flags, now.ss_size);
	return data;
}

/* Prints and checks the answers of sigaltstack(): no stack, a stack set, a stack disabled. */
static int query_stack(void)
{
	stack_t own = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory}, now = {0};
	pthread_t thread;
	sigaltstack(NULL, &now);
	printf("first: %d %zu\n", now.ss_flags, now.ss_size);
	odd_work(1, 15000000);
	sigaltstack(NULL, &now);
	printf("after work: %d %zu\n", now.ss_flags, now.ss_size);
	pthread_create(&thread, NULL, query_in_thread, NULL);
	pthread_join(thread, NULL);
	for (long i = odd_rounds(20000); i > 0; i--) {
		odd_handle(SIGUSR1, query_in_handler, SA_ONSTACK);
		own.ss_flags = 0;
		sigaltstack(&own, NULL);
		raise(SIGUSR1);
		sigaltstack(NULL, &now);
		ODD_CHECK(now.ss_sp == stack_memory && now.ss_flags == 0);
		own.ss_flags = SS_DISABLE;
		sigaltstack(&own, &now);
		ODD_CHECK(now.ss_size == sizeof stack_memory);
		sigaltstack(NULL, &now);
		ODD_CHECK(now.ss_flags == SS_DISABLE);
	}
	own.ss_flags = 0;
	own.ss_size = 100;
	printf("small: %d\n", sigaltstack(&own, NULL));
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void swap_in_handler(int signal)
{
	static char other[65536];
	stack_t now = {.ss_sp = other, .ss_size = sizeof other};
	ODD_CHECK(sigaltstack(&now, NULL) == 0);
	count_on_own_stack(signal);
}

static int disarmed_stack(void)
{
	stack_t own = {
		.ss_sp = stack_memory, .ss_size = sizeof stack_memory, .ss_flags = (int)(1U << 31)};
	stack_t now;
	odd_handle(SIGUSR1, swap_in_handler, SA_ONSTACK);
	sigaltstack(&own, NULL);
	for (long i = odd_rounds(40000); i > 0; i--) {
		raise(SIGUSR1);
		sigaltstack(NULL, &now);
		ODD_CHECK(now.ss_sp == stack_memory);
	}
	printf("%ld\n", (long)n_handled);
	return 0;
}

static char *pages;

static void unprotect(int signal, void *data, void *context)
{
	const siginfo_t *info = data;
	(void)context;
	ODD_CHECK(signal == SIGSEGV && (char *)info->si_addr == pages + 100);
	mprotect(pages, 4096, PROT_READ | PROT_WRITE);
	n_handled++;
}

/* A write barrier, as collectors of garbage have it. */
static int write_barrier(void)
{
	stack_t own = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
	sigaltstack(&own, NULL);
	pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	odd_handle_info(SIGSEGV, unprotect, SA_ONSTACK);
	for (long i = 0; i < odd_rounds(15000); i++) {
		mprotect(pages, 4096, PROT_READ);
		*(volatile char *)(pages + 100) = (char)i;
		ODD_CHECK(pages[100] == (char)i);
	}
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void skip_instruction(int signal, void *data, void *context)
{
	ucontext_t *c = context;
	(void)data;
	ODD_CHECK(signal == SIGILL);
	ODD_CHECK((c->uc_mcontext.gregs[REG_EFL] & 0x100) == 0);
	ODD_CHECK(c->uc_mcontext.gregs[REG_RAX] == 0x1234);
	ODD_CHECK(sigismember(&c->uc_sigmask, SIGTRAP) == 0);
	c->uc_mcontext.gregs[REG_RIP] += 2;
	c->uc_mcontext.gregs[REG_RAX] = n_handled++;
}

/* A handler that changes the registers of what it interrupted. */
static int changed_registers(void)
{
	odd_handle_info(SIGILL, skip_instruction, 0);
	for (long i = 0; i < odd_rounds(12000); i++) {
		long result = 0x1234;
		__asm__ volatile("ud2" : "+a"(result) : : "memory");
		ODD_CHECK(result == i);
	}
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void see_flags(int signal, void *data, void *context)
{
	const ucontext_t *c = context;
	uint64_t flags = __builtin_ia32_readeflags_u64();
	(void)data;
	ODD_CHECK((flags & 0x100) == 0);
	ODD_CHECK((c->uc_mcontext.gregs[REG_EFL] & 0x100) == 0);
	ODD_CHECK(sigismember(&c->uc_sigmask, SIGTRAP) == 0);
	ODD_CHECK(signal == SIGALRM);
	n_handled++;
}

/* Handlers that come at any time see no flag of what they interrupted but its own. */
static int seen_flags(void)
{
	struct itimerval timer = {{0, 300}, {0, 300}};
	odd_handle_info(SIGALRM, see_flags, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (uint64_t sum = 0; n_handled < odd_rounds(300);)
		sum = odd_work(sum, 100);
	printf("seen\n");
	return 0;
}

static volatile sig_atomic_t n_injected;

/* Is "called" between two instructions of anything. */
void odd_injected(void);
__asm__(".text\n.globl odd_injected\n.hidden odd_injected\n.type odd_injected, @function\n"
	"odd_injected:\n pushf\n incl n_injected(%rip)\n popf\n ret $128\n"
	".size odd_injected, . - odd_injected\n");

static void inject(int signal, void *data, void *context)
{
	ucontext_t *c = context;
	(void)signal, (void)data;
	n_handled++;
	c->uc_mcontext.gregs[REG_RSP] -= 128 + 8;
	*(greg_t *)c->uc_mcontext.gregs[REG_RSP] = c->uc_mcontext.gregs[REG_RIP];
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)odd_injected;
}

/* A handler that lets a function be called, as Go's does to preempt. */
static int injected_calls(void)
{
	struct itimerval timer = {{0, 300}, {0, 300}};
	uint64_t sum = 0;
	odd_handle_info(SIGALRM, inject, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (n_injected < odd_rounds(300))
		sum = odd_work(sum, 100);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("%d %d\n", n_handled == n_injected, sum == 1);
	return 0;
}

/* The next signal, not before this one was handled: on a busy machine nothing else would be done.
 */
static void fork_there(int signal)
{
	const struct itimerval timer = {.it_value = {0, 5000}};
	int status = 0;
	(void)signal;
	pid_t child = fork();
	if (child == 0) {
		odd_work(1, 100000);
		_exit(3);
	}
	waitpid(child, &status, 0);
	n_handled += WIFEXITED(status) && WEXITSTATUS(status) == 3;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Children are made in a handler that comes at any time, and return from it, too. */
static int forks_in_handler(void)
{
	struct itimerval timer = {.it_value = {0, 5000}};
	uint64_t sum = 0;
	odd_handle(SIGALRM, fork_there, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (n_handled < odd_rounds(60))
		sum = odd_work(sum, 100);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("forked %d\n", sum == 1);
	return 0;
}

static volatile pid_t child_of_handler;

static void fork_and_return(int signal)
{
	(void)signal;
	n_handled++;
	child_of_handler = fork();
}

/* The child goes on where the parent was interrupted. */
static int returning_children(void)
{
	struct itimerval timer = {.it_value = {0, 1000}}, none = {0};
	long n_right = 0;
	odd_handle(SIGALRM, fork_and_return, SA_RESTART);
	for (long i = 0; i < odd_rounds(40); i++) {
		int status = 0;
		child_of_handler = -1;
		setitimer(ITIMER_REAL, &timer, NULL);
		uint64_t sum = 0;
		while (child_of_handler == -1)
			sum = odd_work(sum, 100);
		setitimer(ITIMER_REAL, &none, NULL);
		if (child_of_handler == 0)
			_exit((int)(odd_work(3, 50000) & 0x7f));
		for (pid_t child; (child = waitpid(-1, &status, 0)) > 0;)
			n_right += child != child_of_handler ||
			           WEXITSTATUS(status) == (int)(odd_work(3, 50000) & 0x7f);
	}
	printf("%d\n", n_right >= odd_rounds(40));
	return 0;
}

/* All signals' actions, and the mask, as a program finds them. */
static int first_actions(void)
{
	sigset_t mask;
	struct sigaction now;
	volatile uint64_t sum = odd_work(1, odd_rounds(25000000));
	(void)sum;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i <= SIGRTMAX; i++) {
		now.sa_handler = SIG_ERR;
		if (sigaction(i, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
			printf("%d: %s\n", i, now.sa_handler == SIG_IGN ? "ignored" : "handled");
		if (sigismember(&mask, i) == 1)
			printf("%d: blocked\n", i);
	}
	return 0;
}

/* Queued signals come in their order with their values. */
static long last_value;
static void take_value(int signal, void *data, void *context)
{
	const siginfo_t *info = data;
	(void)signal, (void)context;
	ODD_CHECK(info->si_value.sival_int == last_value + 1);
	last_value = info->si_value.sival_int;
}

static int queued(void)
{
	sigset_t one, before;
	odd_handle_info(SIGRTMIN + 3, take_value, 0);
	sigemptyset(&one);
	sigaddset(&one, SIGRTMIN + 3);
	for (int i = 0; i < odd_rounds(4000); i++) {
		sigprocmask(SIG_BLOCK, &one, &before);
		for (int j = 0; j < 10; j++) {
			union sigval value = {.sival_int = 10 * i + j + 1};
			sigqueue(getpid(), SIGRTMIN + 3, value);
		}
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	printf("%ld\n", last_value);
	return 0;
}

static void *take_signals(void *data)
{
	sigset_t all;
	long n = 0;
	sigfillset(&all);
	for (int signal = 0; signal != SIGTERM;) {
		sigwait(&all, &signal);
		n += signal == SIGUSR1;
		__atomic_store_n((long *)data, n, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A thread that waits for signals, which all block. */
static int sigwait_thread(void)
{
	long n_taken = 0;
	sigset_t all;
	pthread_t thread;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&thread, NULL, take_signals, &n_taken);
	for (long i = 0; i < odd_rounds(8000); i++) {
		kill(getpid(), SIGUSR1);
		for (uint64_t sum = 0; __atomic_load_n(&n_taken, __ATOMIC_ACQUIRE) <= i;)
			sum = odd_work(sum, 3000), sched_yield();
	}
	kill(getpid(), SIGTERM);
	pthread_join(thread, NULL);
	printf("%ld\n", n_taken);
	return 0;
}

static int signal_descriptor(void)
{
	sigset_t all;
	struct signalfd_siginfo info;
	long n[3] = {0};
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	int fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	for (long i = 0; i < odd_rounds(20000); i++) {
		raise(SIGUSR1);
		raise(SIGHUP);
		odd_work(1, 500);
		while (read(fd, &info, sizeof info) == sizeof info)
			n[info.ssi_signo == SIGUSR1 ? 0 : info.ssi_signo == SIGHUP ? 1 : 2]++;
	}
	printf("%d: %ld %ld %ld\n", fd, n[0], n[1], n[2]);
	return 0;
}

/* Two processes wake each other, all else blocked. */
static int suspended(void)
{
	sigset_t all, waiting;
	odd_handle(SIGUSR1, count, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigfillset(&waiting);
	sigdelset(&waiting, SIGUSR1);
	pid_t parent = getpid(), child = fork(), other = child == 0 ? parent : child;
	for (long i = odd_rounds(3000); i > 0; i--) {
		if (child == 0)
			kill(other, SIGUSR1);
		sigsuspend(&waiting);
		odd_work(1, 5000);
		if (child != 0)
			kill(other, SIGUSR1);
	}
	if (child == 0)
		_exit(0);
	odd_wait(child, "child");
	printf("%ld\n", (long)n_handled);
	return 0;
}

static void reap(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		n_handled++;
}

static int reaped(void)
{
	sigset_t children, before;
	odd_handle(SIGCHLD, reap, SA_RESTART);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &before);
	for (long i = odd_rounds(500); i > 0; i--) {
		if (fork() == 0) {
			odd_work(1, 50000);
			_exit(0);
		}
	}
	while (n_handled < odd_rounds(500))
		sigsuspend(&before);
	printf("%ld\n", (long)n_handled);
	return 0;
}

static int stopped(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		for (long i = odd_rounds(2000); i > 0; i--) {
			raise(SIGSTOP);
			odd_work(1, 5000);
		}
		_exit(7);
	}
	long n_stops = 0, n_continued = 0;
	while (waitpid(child, &status, WUNTRACED | WCONTINUED) == child) {
		if (WIFSTOPPED(status)) {
			n_stops++;
			kill(child, SIGCONT);
		} else if (WIFCONTINUED(status)) {
			n_continued++;
		} else {
			break;
		}
	}
	printf("%ld, %s, status %d\n", n_stops, n_continued <= n_stops ? "continued" : "?",
		WEXITSTATUS(status));
	return 0;
}

static void abort_handled(int signal)
{
	printf("handler of %d\n", signal);
}

static int aborted(void)
{
	odd_handle(SIGABRT, abort_handled, 0);
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	abort();
}

static int killed(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	kill(getpid(), SIGKILL);
	return 0;
}

static int terminated(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	raise(SIGTERM);
	return 0;
}

static int broken_pipe(void)
{
	int ends[2];
	ODD_CHECK(pipe(ends) == 0);
	close(ends[0]);
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	return (int)write(ends[1], "x", 1);
}

const OddKind odd_signals[] = {
	{"signal-handler", ordinary},
	{"signal-own-stack", own_stack},
	{"signal-nested", nested},
	{"signal-nodefer", no_defer},
	{"signal-resethand", reset_handler},
	{"signal-siglongjmp", jump_out},
	{"signal-siglongjmp-timer", jump_out_of_work},
	{"signal-stack-query", query_stack},
	{"signal-stack-autodisarm", disarmed_stack},
	{"signal-write-barrier", write_barrier},
	{"signal-changed-registers", changed_registers},
	{"signal-seen-flags", seen_flags},
	{"signal-injected-calls", injected_calls},
	{"signal-fork", forks_in_handler},
	{"signal-fork-returns", returning_children},
	{"signal-first-actions", first_actions},
	{"signal-queued", queued},
	{"signal-sigwait-thread", sigwait_thread},
	{"signal-signalfd", signal_descriptor},
	{"signal-sigsuspend", suspended},
	{"signal-sigchld", reaped},
	{"signal-stopped", stopped},
	{"signal-abort", aborted},
	{"signal-kill", killed},
	{"signal-term", terminated},
	{"signal-pipe", broken_pipe},
	{0},
};
