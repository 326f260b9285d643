/* SPDX-License-Identifier: MIT */
/*
 * Known numbers of executions of code that writes into itself, where an emulator gives up the block
 * at the store and begins anew there: each function runs its loop 900 times. Wherever the store
 * stands, and whatever ends the block.
 */
#include <stdio.h>

#define FUNCTION(name, code)                                                                       \
	__asm__(".pushsection .rewritten, \"awx\", @progbits\n.p2align 12\n.globl " #name          \
		"\n.type " #name ", @function\n" #name ":\n" code "\n.size " #name ", . - " #name  \
		"\n.popsection\n");                                                                \
	void name(void)

/* The end jumps to the store. */
FUNCTION(first, "movl $900, %ecx\n"
		"1: movb %cl, 2f + 1(%rip)\n"
		"2: movl $0, %eax\n"
		"decl %ecx\n"
		"jnz 1b\n"
		"ret");

/* The end jumps to before the store. */
FUNCTION(middle, "movl $900, %ecx\n"
		 "1: nop\n"
		 "movb %cl, 2f + 1(%rip)\n"
		 "2: movl $0, %eax\n"
		 "decl %ecx\n"
		 "jnz 1b\n"
		 "ret");

/* Two stores and nothing else in a block that follows itself. */
FUNCTION(twice, "movl $900, %ecx\n"
		"1: movb %cl, 3f + 1(%rip)\n"
		"movb %cl, 3f + 2(%rip)\n"
		"decl %ecx\n"
		"jnz 1b\n"
		"3: movl $0, %eax\n"
		"ret");

/* The end may go anywhere. */
FUNCTION(returning, "movb %dil, 2f + 1(%rip)\n"
		    "2: movl $0, %eax\n"
		    "ret");
FUNCTION(indirect, "movl $900, %ecx\n"
		   "leaq 1f(%rip), %rdx\n"
		   "1: nop\n"
		   "movb %cl, 2f + 1(%rip)\n"
		   "2: movl $0, %eax\n"
		   "decl %ecx\n"
		   "cmovzq 3f(%rip), %rdx\n"
		   "jmp *%rdx\n"
		   "4: ret\n"
		   ".p2align 6\n"
		   "3: .quad 4b");

/* The stack is on the code's page, so that a call writes there. */
FUNCTION(calling, "movl $900, %ecx\n"
		  "movq %rsp, %rdx\n"
		  "leaq 3f(%rip), %rsp\n"
		  "leaq 2f(%rip), %rax\n"
		  "1: call *%rax\n"
		  "decl %ecx\n"
		  "jnz 1b\n"
		  "movq %rdx, %rsp\n"
		  "ret\n"
		  "2: ret\n"
		  ".p2align 6\n"
		  ".skip 64\n"
		  "3: .quad 0");

/* Not code: an atomic instruction that crosses a line is begun anew by itself too. */
FUNCTION(atomic, "movl $900, %ecx\n"
		 "1: nop\n"
		 "lock addl %ecx, 2f(%rip)\n"
		 "decl %ecx\n"
		 "jnz 1b\n"
		 "ret\n"
		 ".p2align 6\n"
		 ".skip 62\n"
		 "2: .quad 0");

int main(void)
{
	first();
	middle();
	twice();
	for (int i = 0; i < 900; i++)
		returning();
	indirect();
	calling();
	atomic();
	puts("ran");
	return 0;
}
