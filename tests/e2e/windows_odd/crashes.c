/* SPDX-License-Identifier: MIT */
/* Programs that die, and those that say so. */
#include "odd.h"

#include <assert.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static char stack_memory[65536] __attribute__((aligned(16)));
static const char *volatile known; /* what the fault's address is printed in relation to */

static void work_first(void)
{
	printf("%d\n", (int)(odd_work(1, odd_rounds(25000000)) & 0xff));
}

static void say_and_exit(int signal, void *data, void *context)
{
	const siginfo_t *info = data;
	const ucontext_t *c = context;
	printf("signal %d code %d at %ld, rax %lld, rip %s, flag %d\n", signal, info->si_code,
		(long)((const char *)info->si_addr - known), c->uc_mcontext.gregs[REG_RAX],
		c->uc_mcontext.gregs[REG_RIP] == 0                             ? "0"
		: c->uc_mcontext.gregs[REG_RIP] == (long long)(uintptr_t)known ? "known"
									       : "elsewhere",
		(c->uc_mcontext.gregs[REG_EFL] & 0x100) != 0);
	_exit(3);
}

static void handle_on_own_stack(void)
{
	stack_t own = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
	sigaltstack(&own, NULL);
	odd_handle_info(SIGSEGV, say_and_exit, SA_ONSTACK);
	odd_handle_info(SIGBUS, say_and_exit, SA_ONSTACK);
	odd_handle_info(SIGFPE, say_and_exit, SA_ONSTACK);
	odd_handle_info(SIGILL, say_and_exit, SA_ONSTACK);
}

static void read_at(const volatile void *address)
{
	long number = 1234567;
	__asm__ volatile("movb (%1), %%cl" : "+a"(number) : "r"(address) : "rcx", "memory");
}

static int segment_handled(void)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle_on_own_stack();
	known = page;
	work_first();
	read_at(page + 77);
	return 0;
}

static int segment(void)
{
	work_first();
	read_at((void *)8);
	return 0;
}

static int not_canonical(void)
{
	handle_on_own_stack();
	work_first();
	read_at((void *)0x8000000000000000);
	return 0;
}

static int null_call(void)
{
	handle_on_own_stack();
	work_first();
	__asm__ volatile(
		"sub $128, %%rsp\n and $-16, %%rsp\n xor %%edx, %%edx\n mov $5, %%eax\n call *%%rdx"
		:
		:
		: "rax", "rdx", "memory", "cc");
	return 0;
}

static int jump_to_data(void)
{
	static char data[16] = {(char)0xc3};
	handle_on_own_stack();
	known = data;
	work_first();
	__asm__ volatile("mov $6, %%eax\n jmp *%0" : : "r"(data) : "rax");
	return 0;
}

__attribute__((noinline)) static long overflow(long depth)
{
	volatile long here[64];
	here[depth % 64] = depth;
	return depth < 0 ? 0 : overflow(depth + 1) + here[depth % 64];
}

static void say_overflow(int signal, void *data, void *context)
{
	(void)data, (void)context;
	printf("overflow %d\n", signal);
	_exit(4);
}

static int stack_overflow_handled(void)
{
	handle_on_own_stack();
	odd_handle_info(SIGSEGV, say_overflow, SA_ONSTACK);
	work_first();
	return (int)overflow(1);
}

static int stack_overflow(void)
{
	work_first();
	return (int)overflow(1);
}

static sigjmp_buf place;
static volatile long n_overflows;

static void leave_overflow(int signal, void *data, void *context)
{
	(void)signal, (void)data, (void)context;
	n_overflows++;
	siglongjmp(place, 1);
}

/* As run-times do that make an exception of it. */
static int stack_overflows(void)
{
	struct rlimit limit = {1 << 20, RLIM_INFINITY};
	setrlimit(RLIMIT_STACK, &limit);
	handle_on_own_stack();
	odd_handle_info(SIGSEGV, leave_overflow, SA_ONSTACK);
	for (volatile long i = 0; i < odd_rounds(8000); i++)
		if (sigsetjmp(place, 1) == 0)
			overflow(1);
	printf("%ld\n", n_overflows);
	return 0;
}

static int division(void)
{
	handle_on_own_stack();
	work_first();
	__asm__ volatile("xor %%edx, %%edx\n xor %%ecx, %%ecx\n mov $9, %%eax\n"
			 "lea 1f(%%rip), %%rsi\n mov %%rsi, %0\n 1: div %%ecx"
			 : "=m"(known)
			 :
			 : "rax", "rdx", "rcx", "rsi", "cc");
	return 0;
}

static int illegal(void)
{
	handle_on_own_stack();
	work_first();
	__asm__ volatile("mov $10, %%eax\n lea 1f(%%rip), %%rsi\n mov %%rsi, %0\n 1: ud2"
			 : "=m"(known)
			 :
			 : "rax", "rsi");
	return 0;
}

static int privileged(void)
{
	work_first();
	__asm__ volatile("hlt");
	return 0;
}

static int past_end_of_file(void)
{
	int fd = memfd_create("odd", MFD_CLOEXEC);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	handle_on_own_stack();
	known = page;
	work_first();
	read_at(page + 5);
	return 0;
}

static int fault_blocked(void)
{
	handle_on_own_stack();
	sigset_t segv;
	sigemptyset(&segv);
	sigaddset(&segv, SIGSEGV);
	sigprocmask(SIG_BLOCK, &segv, NULL);
	work_first();
	read_at((void *)8); /* a fault while its signal is blocked kills */
	return 0;
}

/* Whether a dump is written. */
static int dumps(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	for (int i = 0; i < 6; i++) {
		pid_t child = fork();
		if (child == 0) {
			if (i == 5)
				prctl(PR_SET_DUMPABLE, 0);
			odd_work(1, odd_rounds(8000000));
			if (i == 0 || i == 5)
				read_at((void *)8);
			else if (i == 1)
				abort();
			else if (i == 2)
				__asm__ volatile("ud2");
			else if (i == 3)
				raise(SIGTRAP);
			else
				raise(SIGTERM);
			_exit(0);
		}
		odd_wait(child, "child");
	}
	return 0;
}

static int assertion(void)
{
	work_first();
	assert(odd_rounds(1) == 0);
	return 0;
}

static int freed_twice(void)
{
	char *volatile block = malloc(2000), *volatile other = malloc(2000);
	work_first();
	free(block);
	free(block);
	return other != NULL;
}

static int usage(void)
{
	work_first();
	char *const argument[] = {"odd", NULL};
	execv("/proc/self/exe", argument);
	return 0;
}

const OddKind odd_crashes[] = {
	{"crash-segv-handled", segment_handled},
	{"crash-segv", segment},
	{"crash-not-canonical", not_canonical},
	{"crash-null-call", null_call},
	{"crash-jump-to-data", jump_to_data},
	{"crash-overflow-handled", stack_overflow_handled},
	{"crash-overflow", stack_overflow},
	{"crash-overflow-again", stack_overflows},
	{"crash-division", division},
	{"crash-illegal", illegal},
	{"crash-privileged", privileged},
	{"crash-bus", past_end_of_file},
	{"crash-blocked-segv", fault_blocked},
	{"crash-dumps", dumps},
	{"crash-assert", assertion},
	{"crash-free-twice", freed_twice},
	{"crash-usage", usage},
	{0},
};
