# SPDX-License-Identifier: MIT
# Loops whose recurrences and units are known, each in a function of its own: see loops.sh.

	.macro loop name
	.globl \name
	.type \name, @function
\name:	movl $1000, %ecx
	.p2align 4
1:
	.endm
	.macro again name
	decl %ecx
	jne 1b
	ret
	.size \name, . - \name
	.endm

	.text
	loop sum
	addsd %xmm1, %xmm0
	addsd %xmm1, %xmm0
	addsd %xmm1, %xmm0
	addsd %xmm1, %xmm0
	again sum

	loop merges
	cvtsi2sdl %ecx, %xmm0
	movsd %xmm0, (%rsi)
	again merges

	loop list
	movq (%rdi), %rdi
	again list

	loop counter
	addq $1, (%rsi)
	again counter

	loop quotients
	vdivsd %xmm1, %xmm2, %xmm3
	vdivsd %xmm1, %xmm2, %xmm4
	again quotients

	loop choices
	addq %rdx, %rax
	cmpq %rdx, %rax
	cmovgq %rdx, %rax
	again choices

	loop loads
	movq (%rsi), %r8
	movq 8(%rsi), %r9
	movq 16(%rsi), %r10
	movq 24(%rsi), %r11
	movq 32(%rsi), %r8
	movq 40(%rsi), %r9
	again loads

	loop copies
	movl $8, %edx
	xchg %rcx, %rdx
	rep movsb
	movq %rdx, %rcx
	subq $8, %rsi
	subq $8, %rdi
	again copies

	.globl called
	.type called, @function
called:	ret
	.size called, . - called

	loop calls
	call called
	again calls

# Three ways, none of which half of the iterations take.
	loop ways
	addl $1, %eax
	cmpl $3, %eax
	jb 2f
	xorl %eax, %eax
	imulq %r8, %r8
	jmp 4f
2:	cmpl $2, %eax
	jb 3f
	imulq %r9, %r9
	jmp 4f
3:	imulq %r10, %r10
4:	again ways

# Longer than recurrences are looked for in.
	loop long
	.rept 5000
	addq $1, %rax
	addq $1, %rdx
	.endr
	decl %ecx
	cmpl $990, %ecx
	jne 1b
	ret
	.size long, . - long

	.globl main
	.type main, @function
main:	pushq %rbx
	subq $64, %rsp
	movq %rsp, %rsi
	movq %rsi, (%rsi)
	movq %rsi, %rdi
	xorl %eax, %eax
	xorl %edx, %edx
	pxor %xmm0, %xmm0
	pxor %xmm2, %xmm2
	movl $1, %ecx
	cvtsi2sdl %ecx, %xmm1
	call sum
	call merges
	movq %rsp, (%rsp)
	movq %rsp, %rdi
	call list
	call counter
	call quotients
	call choices
	call loads
	leaq 32(%rsi), %rdi
	call copies
	call calls
	xorl %eax, %eax
	call ways
	call long
	addq $64, %rsp
	popq %rbx
	xorl %eax, %eax
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
