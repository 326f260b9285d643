/* SPDX-License-Identifier: MIT */
/* Stacks that are small, many, deep, or none. */
#include "odd.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { N_CONTEXTS = 8 };
static ucontext_t contexts[N_CONTEXTS], back;
static long n_turns[N_CONTEXTS];

static void run_context(int number)
{
	for (;;) {
		n_turns[number]++;
		odd_work((uint64_t)number, 100);
		swapcontext(&contexts[number], &back);
	}
}

/* A stack whose end is the beginning of nothing. */
static char *new_stack(size_t size)
{
	char *stack = mmap(
		NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack, 4096, PROT_NONE);
	return stack + 4096;
}

static int coroutines(size_t size)
{
	for (int i = 0; i < N_CONTEXTS; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = new_stack(size);
		contexts[i].uc_stack.ss_size = size;
		makecontext(&contexts[i], (void (*)(void))run_context, 1, i);
	}
	for (long i = 0; i < odd_rounds(100000); i++)
		swapcontext(&back, &contexts[i % N_CONTEXTS]);
	for (int i = 0; i < N_CONTEXTS; i++)
		ODD_CHECK(n_turns[i] >= odd_rounds(100000) / N_CONTEXTS);
	printf("%d\n", sigismember(&contexts[0].uc_sigmask, SIGTRAP));
	return 0;
}

static int coroutines_16(void)
{
	return coroutines(16384);
}

static int coroutines_4(void)
{
	return coroutines(4096);
}

/* Switches stacks as run-times do: what a callee keeps is pushed, then the pointer exchanged. */
void odd_switch_stacks(void **from, void *to);
__asm__(".text\n.globl odd_switch_stacks\n.hidden odd_switch_stacks\n"
	".type odd_switch_stacks, @function\n"
	"odd_switch_stacks:\n"
	" push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
	" mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
	" pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
	".size odd_switch_stacks, . - odd_switch_stacks\n");

enum { TINY = 1024, N_FIBRES = 16 };
static char tiny[N_FIBRES][TINY] __attribute__((aligned(16)));
static void *fibre_pointers[N_FIBRES], *main_pointer;
static int now_running;
static long n_switches;

static void run_fibre(void)
{
	for (int me = now_running;;) {
		n_switches += me == now_running;
		odd_work((uint64_t)me, 30);
		odd_switch_stacks(&fibre_pointers[me], main_pointer);
	}
}

/* Fibres with a kilobyte each, one beside the other; the words between them stay as they are. */
static int fibres(void)
{
	memset(tiny, 0x5a, sizeof tiny);
	for (int i = 0; i < N_FIBRES; i++) {
		void **top = (void **)(tiny[i] + TINY);
		top[-2] = (void *)run_fibre;
		fibre_pointers[i] = top - 8;
	}
	for (long i = 0; i < odd_rounds(1000000); i++) {
		now_running = (int)(i % N_FIBRES);
		odd_switch_stacks(&main_pointer, fibre_pointers[now_running]);
	}
	for (int i = 0; i < N_FIBRES; i++)
		for (int j = 0; j < 256; j++)
			ODD_CHECK(tiny[i][j] == 0x5a);
	printf("%ld\n", n_switches);
	return 0;
}

static sigjmp_buf from_handler, to_main, in_coroutine;
static volatile long n_rounds;

static void become_coroutine(int signal)
{
	(void)signal;
	if (sigsetjmp(from_handler, 0) == 0)
		return;
	for (;;) {
		n_rounds++;
		if (sigsetjmp(in_coroutine, 0) == 0)
			siglongjmp(to_main, 1);
	}
}

/* Coroutines by sigaltstack(), as GNU Pth has them. */
static int pth_coroutines(void)
{
	static char memory[32768] __attribute__((aligned(16)));
	stack_t own = {.ss_sp = memory, .ss_size = sizeof memory}, none = {.ss_flags = SS_DISABLE};
	sigaltstack(&own, NULL);
	odd_handle(SIGUSR1, become_coroutine, SA_ONSTACK);
	raise(SIGUSR1);
	sigaltstack(&none, NULL);
	if (sigsetjmp(to_main, 0) == 0)
		siglongjmp(from_handler, 1);
	for (volatile long i = 1; i < odd_rounds(2000000); i++)
		if (sigsetjmp(to_main, 0) == 0)
			siglongjmp(in_coroutine, 1);
	printf("%ld\n", n_rounds);
	return 0;
}

static ucontext_t two[2];
static volatile sig_atomic_t n_preempted, current;

static void preempt(int signal)
{
	(void)signal;
	int from = current;
	n_preempted++;
	current = 1 - from;
	swapcontext(&two[from], &two[1 - from]);
}

static volatile uint64_t work_of_two[2];

static void work_preempted(int number)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (;;)
		work_of_two[number] = odd_work(work_of_two[number], 100);
}

/* Threads that a timer's handler takes turns with, as old run-times have them. */
static int preempted(void)
{
	struct itimerval timer = {{0, 400}, {0, 400}};
	sigset_t alarm, mask;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	getcontext(&two[1]);
	/* Until it is there: swapcontext() sets the mask on the stack that it leaves. */
	sigaddset(&two[1].uc_sigmask, SIGALRM);
	two[1].uc_stack.ss_sp = new_stack(65536);
	two[1].uc_stack.ss_size = 65536;
	makecontext(&two[1], (void (*)(void))work_preempted, 1, 1);
	odd_handle(SIGALRM, preempt, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (n_preempted < odd_rounds(200))
		work_of_two[0] = odd_work(work_of_two[0], 100);
	/* The other must not be preempted to when no more signal will come. */
	sigprocmask(SIG_BLOCK, &alarm, &mask);
	printf("%d %d %d\n", work_of_two[1] != 0, sigismember(&mask, SIGALRM),
		sigismember(&mask, SIGTRAP));
	return 0;
}

static long run_on_other(void *stack, long n)
{
	long result = 0;
	__asm__ volatile("mov %%rsp, %%r12\n mov %1, %%rsp\n"
			 "1: push %2\n pop %%rax\n add %%rax, %0\n dec %2\n jnz 1b\n"
			 "mov %%r12, %%rsp"
			 : "+r"(result), "+r"(stack), "+r"(n)
			 :
			 : "rax", "r12", "cc", "memory");
	return result;
}

/* Ordinary code runs in the memory of the stack for signals. */
static int stack_for_signals_used(void)
{
	static char memory[32768] __attribute__((aligned(16)));
	stack_t own = {.ss_sp = memory, .ss_size = sizeof memory};
	memset(memory, 0x5a, sizeof memory);
	sigaltstack(&own, NULL);
	long result = run_on_other(memory + 32768 - 4096, odd_rounds(200000000));
	long n = odd_rounds(200000000);
	ODD_CHECK(result == n * (n + 1) / 2);
	printf("%d\n", result != 0);
	return 0;
}

static int far_stack(void)
{
	char *stack = new_stack(4096);
	long n = odd_rounds(200000000);
	ODD_CHECK(run_on_other(stack + 4096, n) == n * (n + 1) / 2);
	/* Only the uppermost words are used: the others stay as they are. */
	for (int i = 0; i < 4096 - 144; i++)
		ODD_CHECK(stack[i] == 0);
	printf("run\n");
	return 0;
}

/* The stack pointer counts, and points to nothing. */
static int no_stack(void)
{
	long n = odd_rounds(200000000), sum = 0;
	__asm__ volatile("mov %%rsp, %%r12\n mov %1, %%rsp\n"
			 "1: add %%rsp, %0\n dec %%rsp\n jnz 1b\n"
			 "mov %%r12, %%rsp"
			 : "+r"(sum)
			 : "r"(n)
			 : "r12", "cc");
	ODD_CHECK(sum == n * (n + 1) / 2);
	printf("counted\n");
	return 0;
}

/* A leaf function that has its words below the stack pointer. */
static int red_zone(void)
{
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(2500000); i++) {
		__asm__ volatile(
			"mov $-128, %%rax\n"
			"1: mov %1, (%%rsp,%%rax)\n add $8, %%rax\n jnz 1b\n"
			"mov $50, %%rax\n 2: dec %%rax\n jnz 2b\n"
			"mov $-128, %%rax\n"
			"3: cmp %1, (%%rsp,%%rax)\n je 4f\n inc %0\n 4: add $8, %%rax\n jnz 3b"
			: "+r"(n_wrong)
			: "r"(i)
			: "rax", "cc", "memory");
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

static jmp_buf place;

__attribute__((noinline)) static void deep_jump(int depth)
{
	volatile char here[64];
	here[depth % 64] = 1;
	if (depth == 0)
		longjmp(place, here[0] + 1);
	if (depth < 0)
		return;
	deep_jump(depth - 1);
	here[0] = 2;
}

static int jumps(void)
{
	volatile long n = 0;
	for (volatile long i = 0; i < odd_rounds(2500000); i++) {
		if (setjmp(place) == 0)
			deep_jump(20);
		else
			n++;
	}
	printf("%ld\n", n);
	return 0;
}

__attribute__((noinline)) static long recurse(long depth)
{
	volatile long here = depth;
	return depth == 0 ? 0 : 1 + recurse(here - 1) * (here == depth);
}

static int deep(void)
{
	long sum = 0;
	for (long i = 0; i < odd_rounds(300); i++)
		sum += recurse(100000);
	printf("%ld\n", sum);
	return 0;
}

__attribute__((noinline)) static uint64_t use_array(long i)
{
	uint64_t all[700000];
	for (long j = 0; j < 700000; j++)
		all[j] = (uint64_t)(i + j);
	__asm__ volatile("" : : "r"(all) : "memory");
	uint64_t sum = 0;
	for (long j = 0; j < 700000; j++)
		sum += all[j];
	return sum;
}

static int huge_array(void)
{
	uint64_t sum = 0;
	for (long i = 0; i < odd_rounds(200); i++)
		sum += use_array(1);
	printf("%lu\n", (unsigned long)sum);
	return 0;
}

/* Returns that go where no call was, and calls that never return. */
static int returns(void)
{
	long n = odd_rounds(10000000), sum = 0;
	__asm__ volatile(
		"sub $128, %%rsp\n"
		"1: call 2f\n 2: pop %%rax\n add $3f - 2b, %%rax\n push %%rax\n ret\n ud2\n"
		"3: inc %0\n call 4f\n ud2\n 4: add $8, %%rsp\n"
		"lea 5f(%%rip), %%rax\n jmp *%%rax\n ud2\n"
		"5: dec %1\n jnz 1b\n"
		"add $128, %%rsp"
		: "+r"(sum), "+r"(n)
		:
		: "rax", "cc", "memory");
	printf("%ld\n", sum);
	return 0;
}

const OddKind odd_stacks[] = {
	{"stack-coroutines-16k", coroutines_16},
	{"stack-coroutines-4k", coroutines_4},
	{"stack-fibres-1k", fibres},
	{"stack-pth", pth_coroutines},
	{"stack-preempted", preempted},
	{"stack-for-signals-used", stack_for_signals_used},
	{"stack-page", far_stack},
	{"stack-none", no_stack},
	{"stack-red-zone", red_zone},
	{"stack-longjmp", jumps},
	{"stack-deep", deep},
	{"stack-huge-array", huge_array},
	{"stack-returns", returns},
	{0},
};
