/* SPDX-License-Identifier: MIT */
/*
 * Programs of which each step is known, for the tests of the library that steps. Linked to a fixed
 * address.
 *
 *   walk places              prints where the code lies
 *   walk known ROUNDS        arithmetic, branches and calls on registers and a stack of its own
 *   walk stop                likewise, but stops itself first: whoever traces it sets the registers
 *   walk flags ROUNDS        arithmetic that raises flags of MXCSR at known places
 *   walk mixed ROUNDS FILE   calls of the C library, atomics, system calls; its mappings go to FILE
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern void known_walk(uint64_t rounds);
extern uint64_t flags_walk(uint64_t rounds);
extern const char flags_x87_denormal[], flags_x87_underflow[], flags_flushed[];
extern const char known_loop[], known_end[], flags_loop[], flags_denormal[], flags_inexact[],
	flags_end[];

/* The registers have their values from the loop alone, also when it is entered at its head. */
__asm__(".text\n"
	".globl known_walk, known_loop, known_end\n"
	"known_walk:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, known_saved\n"
	"	mov $known_stack_end, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	mov $1, %r12d\n"
	"known_loop:\n"
	"	imul $1103515245, %r12, %r12\n"
	"	add $12345, %r12\n"
	"	mov %r12, %rax\n"
	"	shr $16, %rax\n"
	"	test $1, %al\n"
	"	jz 1f\n"
	"	add %r12, %r13\n"
	"	jmp 2f\n"
	"1:	xor %r12, %r13\n"
	"2:	mov %r12, %rcx\n"
	"	shr $20, %rcx\n"
	"	and $3, %ecx\n"
	"	call *known_functions(,%rcx,8)\n"
	"	push %r13\n"
	"	pop %r14\n"
	"	cmp %r13, %rax\n"
	"	cmovb %rax, %r15\n"
	"	lea known_buffer, %rdi\n"
	"	mov $5, %ecx\n"
	"	rep stosb\n"
	"	mov $3, %edx\n"
	"3:	lea 1(%rsi,%rdx), %rsi\n"
	"	not %rbp\n"
	"	dec %edx\n"
	"	jnz 3b\n"
	"	dec %rbx\n"
	"	jnz known_loop\n"
	"known_end:\n"
	"	mov known_saved, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	"known_0: lea 5(%r8,%rcx,4), %r8; ret\n"
	"known_1: bswap %r9; add %rax, %r9; ret\n"
	"known_2: call known_0; sub %r8, %r10; ret\n"
	"known_3: rol $7, %r11; xor %r12, %r11; ret\n"
	".data\n"
	".balign 16\n"
	"known_functions: .quad known_0, known_1, known_2, known_3\n"
	"known_saved: .quad 0\n"
	"known_buffer: .fill 16\n"
	".balign 16\n"
	"	.fill 65536\n"
	"known_stack_end: .fill 16\n");

/* Gives the rounds in which the flags were not what the code had raised. */
__asm__(".text\n"
	".globl flags_walk, flags_loop, flags_denormal, flags_inexact, flags_x87_denormal\n"
	".globl flags_x87_underflow, flags_flushed, flags_end\n"
	"flags_walk:\n"
	"	xor %eax, %eax\n"
	"flags_loop:\n"
	"	ldmxcsr flags_clear\n"
	"	movsd flags_one, %xmm0\n"
	"	addsd %xmm0, %xmm0\n"
	"	xor %ecx, %ecx\n"
	"	stmxcsr flags_seen\n"
	"	cmpl $0x1f80, flags_seen\n"
	"	setne %cl\n"
	"	or %ecx, %edx\n"
	"	movsd flags_tiny, %xmm1\n"
	"flags_denormal:\n"
	"	addsd %xmm1, %xmm1\n"
	"	addsd %xmm0, %xmm0\n"
	"	stmxcsr flags_seen\n"
	"	cmpl $0x1f82, flags_seen\n"
	"	setne %dl\n"
	"	or %edx, %ecx\n"
	"	movsd flags_one, %xmm2\n"
	"flags_inexact:\n"
	"	divsd flags_three, %xmm2\n"
	"	xor %edx, %edx\n"
	"	stmxcsr flags_seen\n"
	"	cmpl $0x1fa2, flags_seen\n"
	"	setne %dl\n"
	"	or %edx, %ecx\n"
	"	ldmxcsr flags_flush\n"
	"flags_flushed:\n"
	"	mulsd flags_least, %xmm2\n"
	"	xor %edx, %edx\n"
	"	stmxcsr flags_seen\n"
	"	cmpl $0x9fb0, flags_seen\n"
	"	setne %dl\n"
	"	or %edx, %ecx\n"
	"	fninit\n"
	"flags_x87_denormal:\n"
	"	fldl flags_tiny\n"
	"	fstp %st(0)\n"
	"	xor %edx, %edx\n"
	"	fnstsw flags_seen\n"
	"	cmpw $2, flags_seen\n"
	"	setne %dl\n"
	"	or %edx, %ecx\n"
	"	fnclex\n"
	"	fldt flags_extended\n"
	"	nop\n"
	"flags_x87_underflow:\n"
	"	fstpl flags_stored\n"
	"	nop\n"
	"	xor %edx, %edx\n"
	"	fnstsw flags_seen\n"
	"	andw $0x3f, flags_seen\n"
	"	cmpw $0x30, flags_seen\n"
	"	setne %dl\n"
	"	or %ecx, %edx\n"
	"	movzbl %dl, %edx\n"
	"	add %rdx, %rax\n"
	"	dec %rdi\n"
	"	jnz flags_loop\n"
	"flags_end:\n"
	"	ret\n"
	".data\n"
	".balign 8\n"
	"flags_one: .double 1\n"
	"flags_three: .double 3\n"
	"flags_tiny: .quad 1\n"
	"flags_least: .quad 0x0010000000000000\n" /* the least normal number */
	"flags_stored: .quad 0\n"
	"flags_extended: .quad 0x8000000000000001; .word 0x3bf0\n" /* below it, and inexact */
	"flags_clear: .long 0x1f80\n"
	"flags_flush: .long 0x9f80\n"
	"flags_seen: .long 0\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");

static int compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static uint64_t mix(unsigned rounds)
{
	static char from[5000], to[5000];
	static atomic_ulong counter;
	uint64_t sum = 0;

	for (unsigned round = 0; round < rounds; round++) {
		int numbers[64];
		char text[100];
		for (unsigned i = 0; i < 64; i++)
			numbers[i] = (int)((round * 64 + i) * 2654435761U >> 8);
		qsort(numbers, 64, sizeof(numbers[0]), compare);
		snprintf(text, sizeof(text), "%d %g %s", numbers[3], numbers[5] / 7.0, "words");
		sum += strlen(text) + (uint64_t)numbers[round % 64];
		__asm__ volatile("rep movsb" ::"D"(to), "S"(from), "c"(sizeof(from)) : "memory");
		for (int i = 0; i < 200; i++)
			atomic_fetch_add(&counter, (unsigned long)i);
		sum += (uint64_t)clock() == 1;
		sum += (uint64_t)getppid() == 0;
		for (unsigned i = 0; i < 200; i++)
			sum = sum * 31 + (sum >> 7 & 1 ? i : (uint64_t)from[i]);
	}
	return sum;
}

static void copy_mappings(const char *path)
{
	FILE *in = fopen("/proc/self/maps", "r"), *out = fopen(path, "w");
	int c;

	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
}

int main(int n, char **words)
{
	const char *what = n > 1 ? words[1] : "";
	uint64_t rounds = n > 2 ? strtoull(words[2], NULL, 10) : 1;

	if (strcmp(what, "places") == 0) {
		printf("%p %p %p %p %p %p %p %p %p\n", known_loop, known_end, flags_loop,
			flags_denormal, flags_inexact, flags_flushed, flags_x87_denormal,
			flags_x87_underflow, flags_end);
		return 0;
	}
	if (strcmp(what, "stop") == 0) {
		raise(SIGSTOP);
		known_walk(1);
		return 0;
	}
	if (strcmp(what, "known") == 0) {
		known_walk(rounds);
		return 0;
	}
	if (strcmp(what, "flags") == 0)
		return flags_walk(rounds) == 0 ? 0 : 1;
	printf("%llu\n", (unsigned long long)mix((unsigned)rounds));
	if (n > 3)
		copy_mappings(words[3]);
	return 0;
}
