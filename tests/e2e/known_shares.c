/* SPDX-License-Identifier: MIT */
/*
 * Branches whose shares are known. With an argument "shares" it prints, of each, its function,
 * where it is and where it goes to in that, in which share of its executions, and whether that
 * holds for each stretch of them, but for less than one ("period"), or by chance.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* %edi rounds; the branch at 2 goes to 3 where the condition holds after `test`. */
#define FUNCTION(name, test, jump)                                                                 \
	"	.type " name ", @function\n" name ":	mov $0x9e3779b9, %eax\n"                      \
	"1:	" test "2:	" jump " 3f\n"                                                     \
	"	add $1, %rcx\n"                                                                          \
	"	jmp 4f\n"                                                                                \
	"3:	add $3, %rdx\n"                                                                        \
	"4:	sub $1, %edi\n"                                                                        \
	"	jne 1b\n"                                                                                \
	"	ret\n"                                                                                   \
	"	.size " name ", . - " name "\n"                                                    \
	"	.pushsection .data.rel.ro, \"aw\"\n"                                                     \
	"	.quad " name "_name, 2b - " name ", 3b - " name "\n"                               \
	"	.popsection\n"

/* Marsaglia's xorshift (Journal of Statistical Software 8(14), 2003). */
#define CHANCE                                                                                     \
	"mov %eax, %esi\n shl $13, %esi\n xor %esi, %eax\n"                                        \
	"mov %eax, %esi\n shr $17, %esi\n xor %esi, %eax\n"                                        \
	"mov %eax, %esi\n shl $5, %esi\n xor %esi, %eax\n"

__asm__(".section .rodata\n"
	"three_of_four_name: .string \"three_of_four\"\n"
	"one_of_eight_name: .string \"one_of_eight\"\n"
	"three_tenths_name: .string \"three_tenths\"\n"
	"in_turn_name: .string \"in_turn\"\n"
	"	.section .data.rel.ro, \"aw\"\n"
	"	.balign 8\n"
	"places:\n"
	"	.text\n" FUNCTION("three_of_four", "test $3, %edi\n", "jne")
		FUNCTION("one_of_eight", "test $7, %edi\n", "je")
			FUNCTION("three_tenths", CHANCE "cmp $1288490189, %eax\n", "jb")
	/* One of four functions is called, two of which are the same. */
	"	.type first, @function\n"
	"first:	ret\n"
	"	.size first, . - first\n"
	"	.type second, @function\n"
	"second: add $1, %rcx\n"
	"	ret\n"
	"	.size second, . - second\n"
	"	.type third, @function\n"
	"third:	add $1, %rdx\n"
	"	ret\n"
	"	.size third, . - third\n"
	"	.type in_turn, @function\n"
	"in_turn: lea table(%rip), %rsi\n"
	"1:	mov %edi, %eax\n"
	"	and $3, %eax\n"
	"2:	call *(%rsi,%rax,8)\n"
	"	sub $1, %edi\n"
	"	jne 1b\n"
	"	ret\n"
	"	.size in_turn, . - in_turn\n"
	"	.pushsection .data.rel.ro, \"aw\"\n"
	"	.quad in_turn_name, 2b - in_turn, second - in_turn\n"
	"	.popsection\n"
	"	.section .data.rel.ro\n"
	"table:	.quad first, second, third, second\n"
	"	.text\n");

typedef struct {
	const char *function;
	int64_t branch, target; /* in it */
} Place;

extern const Place places[] __asm__("places");

enum { ROUNDS = 4000 };

extern void three_of_four(unsigned rounds) __asm__("three_of_four");
extern void one_of_eight(unsigned rounds) __asm__("one_of_eight");
extern void three_tenths(unsigned rounds) __asm__("three_tenths");
extern void in_turn(unsigned rounds) __asm__("in_turn");

/* As three_tenths has it. */
static double share_by_chance(void)
{
	uint32_t x = 0x9e3779b9;
	unsigned n = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		n += x < 1288490189;
	}
	return (double)n / ROUNDS;
}

static void print_shares(void)
{
	const double shares[] = {0.75, 0.125, share_by_chance(), 0.5};

	for (int i = 0; i < 4; i++)
		printf("%s %lld %lld %g %s\n", places[i].function, (long long)places[i].branch,
			(long long)places[i].target, shares[i], i == 2 ? "chance" : "period");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "shares") == 0) {
		print_shares();
		return 0;
	}
	for (unsigned i = 0; i < 60000; i++) {
		three_of_four(ROUNDS);
		one_of_eight(ROUNDS);
		three_tenths(ROUNDS);
		in_turn(ROUNDS);
	}
	puts("done");
	return 0;
}
