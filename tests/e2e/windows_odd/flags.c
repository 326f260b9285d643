/* SPDX-License-Identifier: MIT */
/* Instructions to which a step may make a difference, and registers that it must not touch. */
#include "odd.h"

#include <asm/prctl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, LARGE = 4 << 20 };

static int repeated(void)
{
	char *a = malloc(LARGE), *b = malloc(LARGE);
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(200); i++) {
		void *to = a, *from = a, *other = b;
		size_t n = LARGE;
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"((char)i) : "memory");
		n_wrong += n != 0 || to != a + LARGE;
		n = LARGE;
		to = b;
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
		n_wrong += n != 0 || to != b + LARGE;
		b[LARGE / 16] ^= 1;
		n = LARGE;
		from = a;
		__asm__ volatile("repe cmpsb"
				 : "+D"(other), "+S"(from), "+c"(n)
				 :
				 : "memory", "cc");
		n_wrong += n != LARGE - LARGE / 16 - 1;
		n = LARGE;
		to = b;
		__asm__ volatile("repne scasb"
				 : "+D"(to), "+c"(n)
				 : "a"((char)(i ^ 1))
				 : "memory", "cc");
		n_wrong += n != LARGE - LARGE / 16 - 1;
	}
	printf("%ld wrong\n", n_wrong);
	free(a);
	free(b);
	return 0;
}

static int repeated_few(void)
{
	char a[64], b[64];
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(1000000); i++) {
		void *to = a;
		size_t n = (size_t)(i % 40);
		a[n] = 77;
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"((char)i) : "memory");
		void *from = a + 39;
		to = b + 39;
		n = 40;
		__asm__ volatile("std\n rep movsb\n cld"
				 : "+D"(to), "+S"(from), "+c"(n)
				 :
				 : "memory", "cc");
		n_wrong += b[i % 40] != 77 || (i % 40 > 0 && b[0] != (char)i);
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

static int pushed_flags(void)
{
	uint64_t seen = 0, flags;
	for (long i = 0; i < odd_rounds(8000000); i++) {
		__asm__ volatile("sub $128, %%rsp\n pushf\n pop %0\n add $128, %%rsp"
				 : "=r"(flags)
				 :
				 : "memory", "cc");
		seen |= flags;
		__asm__ volatile("sub $128, %%rsp\n pushfw\n popw %w0\n add $128, %%rsp"
				 : "=r"(flags)
				 :
				 : "memory", "cc");
		seen |= flags & 0xffff;
	}
	printf("%d\n", (seen & TRAP_FLAG) != 0);
	return 0;
}

static int popped_flags(void)
{
	uint64_t seen = 0, flags = 0;
	for (long i = 0; i < odd_rounds(2000000); i++) {
		uint64_t wanted = 0x202 | ((i & 1) != 0 ? 0x8d5 : 0) | ((i & 2) != 0 ? 1 << 21 : 0);
		__asm__ volatile("sub $128, %%rsp\n push %1\n popf\n nop\n pushf\n pop %0\n"
				 "add $128, %%rsp"
				 : "=r"(flags)
				 : "r"(wanted)
				 : "memory", "cc");
		ODD_CHECK((flags & 0x2008d5) == (wanted & 0x2008d5));
		seen |= flags;
	}
	printf("%d\n", (seen & TRAP_FLAG) != 0);
	return 0;
}

/* After mov to ss, a trap is put off by an instruction: which then sees the flag. */
static int shadowed(void)
{
	uint64_t seen = 0, flags;
	for (long i = 0; i < odd_rounds(5000000); i++) {
		__asm__ volatile(
			"sub $128, %%rsp\n mov %%ss, %%eax\n mov %%eax, %%ss\n pushf\n pop %0\n"
			"add $128, %%rsp"
			: "=r"(flags)
			:
			: "rax", "memory", "cc");
		seen |= flags;
	}
	printf("%d\n", (seen & TRAP_FLAG) != 0);
	return 0;
}

static int interrupt_return(void)
{
	uint64_t seen = 0, flags;
	for (long i = 0; i < odd_rounds(1500000); i++) {
		__asm__ volatile(
			"sub $128, %%rsp\n mov %%rsp, %%rdx\n"
			"mov %%ss, %%eax\n push %%rax\n push %%rdx\n pushf\n orl $1, (%%rsp)\n"
			"mov %%cs, %%eax\n push %%rax\n lea 1f(%%rip), %%rax\n push %%rax\n iretq\n"
			"1: pushf\n pop %0\n add $128, %%rsp"
			: "=r"(flags)
			:
			: "rax", "rdx", "memory", "cc");
		ODD_CHECK((flags & 1) != 0);
		seen |= flags;
	}
	printf("%d\n", (seen & TRAP_FLAG) != 0);
	return 0;
}

/* Sums of large numbers, whose carry goes from round to round; lahf and sahf besides. */
static int carries(void)
{
	uint64_t a[64], b[64] = {1}, sum[64];
	memset(a, 0xff, sizeof a);
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(700000); i++) {
		long n = -64;
		unsigned char carry;
		__asm__ volatile("clc\n"
				 "1: mov 512(%2,%0,8), %%rax\n adc 512(%3,%0,8), %%rax\n"
				 "mov %%rax, 512(%4,%0,8)\n lahf\n xor %%ecx, %%ecx\n sahf\n"
				 "lea 1(%0), %0\n mov %0, %%rcx\n jrcxz 2f\n jmp 1b\n"
				 "2: setc %1"
				 : "+r"(n), "=&r"(carry)
				 : "r"(a), "r"(b), "r"(sum)
				 : "rax", "rcx", "cc", "memory");
		for (int j = 0; j < 64; j++)
			n_wrong += sum[j] != 0;
		n_wrong += carry != 1;
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

/* Accesses that are not aligned would fault while this flag is set: so would a careless handler. */
static int aligned_only(void)
{
	long n = odd_rounds(250000000), sum = 0;
	__asm__ volatile("sub $128, %%rsp\n pushf\n orl $0x40000, (%%rsp)\n popf\n"
			 "1: add %1, %0\n dec %1\n jnz 1b\n"
			 "pushf\n andl $0xfffbffff, (%%rsp)\n popf\n add $128, %%rsp"
			 : "+r"(sum), "+r"(n)
			 :
			 : "cc", "memory");
	n = odd_rounds(250000000);
	ODD_CHECK(sum == n * (n + 1) / 2);
	printf("counted\n");
	return 0;
}

/* All general registers, through loops that leave them alone. */
static int kept_registers(void)
{
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(2000000); i++) {
		uint64_t sum = 0;
		__asm__ volatile(
			"push %%rbp\n"
			"mov $1, %%ebx\n mov $2, %%edx\n mov $3, %%esi\n mov $4, %%edi\n"
			"mov $5, %%ebp\n mov $6, %%r8d\n mov $7, %%r9d\n mov $8, %%r10d\n"
			"mov $9, %%r11d\n mov $10, %%r12d\n mov $11, %%r13d\n mov $12, %%r14d\n"
			"mov $13, %%r15d\n mov $100, %%ecx\n 1: loop 1b\n"
			"lea (%%rbx,%%rdx), %%rax\n add %%rsi, %%rax\n add %%rdi, %%rax\n"
			"add %%rbp, %%rax\n add %%r8, %%rax\n add %%r9, %%rax\n"
			"add %%r10, %%rax\n add %%r11, %%rax\n add %%r12, %%rax\n"
			"add %%r13, %%rax\n add %%r14, %%rax\n add %%r15, %%rax\n"
			"pop %%rbp"
			: "=a"(sum)
			:
			: "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
			"r14", "r15", "cc", "memory");
		n_wrong += sum != 91;
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

/* The thread's own base points to nothing meanwhile, as run-times of other systems have it. */
static int moved_base(void)
{
	if ((getauxval(AT_HWCAP2) & 2) == 0) {
		printf("no such instructions\n");
		return 0;
	}
	long n = odd_rounds(250000000), sum = 0;
	uint64_t base, gs = 0x123000;
	__asm__ volatile("rdfsbase %2\n wrgsbase %3\n xor %%eax, %%eax\n wrfsbase %%rax\n"
			 "1: add %1, %0\n dec %1\n jnz 1b\n"
			 "rdgsbase %3\n wrfsbase %2"
			 : "+&r"(sum), "+&r"(n), "=&r"(base), "+&r"(gs)
			 :
			 : "rax", "cc", "memory");
	n = odd_rounds(250000000);
	ODD_CHECK(sum == n * (n + 1) / 2);
	ODD_CHECK(gs == 0x123000);
	printf("counted\n");
	return 0;
}

static int system_call_registers(void)
{
	uint64_t seen = 0;
	pid_t parent = getppid();
	for (long i = 0; i < odd_rounds(500000); i++) {
		uint64_t result, flags, next, here;
		/* with the number beside it: programs with system calls of any kind have no windows
		 */
		__asm__ volatile("lea 1f(%%rip), %3\n mov %4, %%eax\n syscall\n"
				 "1: mov %%r11, %1\n mov %%rcx, %2"
				 : "=&a"(result), "=&r"(flags), "=&r"(next), "=&r"(here)
				 : "i"(SYS_getppid)
				 : "rcx", "r11", "memory");
		ODD_CHECK(next == here);
		ODD_CHECK((pid_t)result == parent);
		seen |= flags;
	}
	printf("%d\n", (seen & TRAP_FLAG) != 0);
	return 0;
}

static volatile sig_atomic_t n_faults;
static void pass_over(int signal, void *data, void *context)
{
	ucontext_t *c = context;
	(void)signal, (void)data;
	n_faults++;
	c->uc_mcontext.gregs[REG_RIP] += 2;
}

/* The old way to call the system, by int. */
static int old_system_calls(void)
{
	long n_right = 0;
	odd_handle_info(SIGSEGV, pass_over, 0);
	for (long i = 0; i < odd_rounds(15000); i++) {
		int result = 20; /* getpid */
		__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
		n_right += result == getpid();
	}
	printf("%ld, %ld faults\n", n_right, (long)n_faults);
	return 0;
}

static int old_time_page(void)
{
	char line[200];
	bool is_mapped = false;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
		is_mapped |= strstr(line, "[vsyscall]") != NULL;
	fclose(maps);
	int (*get_time)(
		struct timeval *, void *) = (int (*)(struct timeval *, void *))0xffffffffff600000;
	struct timeval before = {0}, now;
	for (long i = 0; is_mapped && i < odd_rounds(100000); i++) {
		ODD_CHECK(get_time(&now, NULL) == 0);
		ODD_CHECK(timercmp(&now, &before, >=));
		before = now;
		odd_work(1, 100);
	}
	printf("%d\n", is_mapped);
	return 0;
}

static int clocks(void)
{
	struct timespec before = {0}, now;
	uint64_t last = 0;
	unsigned processor;
	for (long i = 0; i < odd_rounds(1000000); i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ODD_CHECK(now.tv_sec > before.tv_sec ||
			  (now.tv_sec == before.tv_sec && now.tv_nsec >= before.tv_nsec));
		before = now;
		uint64_t ticks = i % 2 == 0 ? __builtin_ia32_rdtsc()
		                            : __builtin_ia32_rdtscp(&processor);
		ODD_CHECK(ticks >= last);
		last = ticks;
		ODD_CHECK(time(NULL) > 1000);
	}
	printf("forwards\n");
	return 0;
}

static int identification(void)
{
	uint64_t sum = 0;
	for (long i = 0; i < odd_rounds(15000); i++) {
		uint32_t a = 0, b, c = 0, d, e = 0;
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		__asm__ volatile("xgetbv" : "=a"(a), "=d"(e) : "c"(0));
		sum += b + c + d + a;
		odd_work(1, 500);
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}

/* 32-bit code within a 64-bit program. */
static int narrow_code(void)
{
	static const unsigned char code[] = {
		0x31, 0xc0, /* xor %eax, %eax */
		0x40,       /* 1: inc %eax, of 64-bit code a prefix */
		0x49,       /* dec %ecx */
		0x75, 0xfc, /* jnz 1b */
		0xcb,       /* lret */
	};
	unsigned char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	memcpy(page, code, sizeof code);
	/* In: ljmp through memory to 32-bit code, with the far way back on a low stack. */
	unsigned char *back = page + 64;
	static const unsigned char to_wide[] = {0x49, 0x89, 0xdc, 0x4c, 0x89, 0xf4, 0xff, 0xe3};
	memcpy(back, to_wide, sizeof to_wide); /* mov %rbx,%r12; mov %r14,%rsp; jmp *%rbx */
	uint32_t *stack = (uint32_t *)(page + 8192 - 64);
	long n_wrong = 0;
	for (long i = 0; i < odd_rounds(60); i++) {
		struct {
			uint32_t offset;
			uint16_t segment;
		} __attribute__((packed)) far = {(uint32_t)(uintptr_t)page, 0x23};
		stack[0] = (uint32_t)(uintptr_t)back;
		stack[1] = 0x33;
		uint32_t counted;
		__asm__ volatile("sub $128, %%rsp\n mov %%rsp, %%r14\n lea 1f(%%rip), %%rbx\n"
				 "mov %2, %%rsp\n ljmp *(%1)\n 1: add $128, %%rsp"
				 : "=&a"(counted)
				 : "r"(&far), "r"(stack), "c"(2000000)
				 : "rbx", "rdx", "r12", "r14", "cc", "memory");
		n_wrong += counted != 2000000;
	}
	printf("%ld wrong\n", n_wrong);
	return 0;
}

const OddKind odd_flags[] = {
	{"code-rep-large", repeated},
	{"code-rep-small", repeated_few},
	{"code-pushf", pushed_flags},
	{"code-popf", popped_flags},
	{"code-mov-ss", shadowed},
	{"code-iret", interrupt_return},
	{"code-adc-lahf", carries},
	{"code-alignment-check", aligned_only},
	{"code-registers", kept_registers},
	{"code-moved-fs", moved_base},
	{"code-syscall", system_call_registers},
	{"code-int-0x80", old_system_calls},
	{"code-vsyscall", old_time_page},
	{"code-clocks", clocks},
	{"code-cpuid", identification},
	{"code-32-bit", narrow_code, "none"},
	{0},
};
