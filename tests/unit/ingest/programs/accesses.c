/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory of every kind that a rule tells apart, each a function of its own, for samples
 * that a test makes up; never run. The test says where each register points to.
 */

int counted = 1;  /* .data */
int cleared[600]; /* .bss */

#define FUNCTION(name, code)                                                                       \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name          \
		":\n" code "\n.size " #name ", . - " #name "\n")

FUNCTION(load_here, "movl (%rdi), %eax\nret");
FUNCTION(store_here, "movl %eax, 8(%rdi)\nret");
FUNCTION(add_here, "addq %rax, (%rdi,%rcx,8)\nret");
FUNCTION(store_later, "leaq 8(%rdi), %rsi\naddq $8, %rsi\nmovb %al, (%rsi)\nret");
/* Sampled at the ret behind it. */
FUNCTION(load_before, "movq (%rbx), %rax\nret");
/* Sampled at the addition, to which the load and the jump lead. */
FUNCTION(loop_head, "movq (%rbx), %rax\n1: addq $1, %rdx\ndecl %ecx\njne 1b\nret");
FUNCTION(copy_one, "movsq\nret");
FUNCTION(copy_many, "rep movsb\nret");
FUNCTION(load_of_thread, "movq %fs:16, %rax\nret");
FUNCTION(gather, "vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm0\nret");
FUNCTION(return_only, "ret");
FUNCTION(forget, "movq (%rdi), %rdi\nret");
FUNCTION(nothing, ".rept 100\nnop\n.endr\nret");
FUNCTION(load_counted, "movl counted(%rip), %eax\nret");
FUNCTION(store_cleared, "movl %eax, 400+cleared(%rip)\nret");

int main(void)
{
	return counted - 1 + cleared[0];
}
