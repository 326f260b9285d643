/* SPDX-License-Identifier: MIT */
/*
 * A program without any library, whose every reference is known; see trace_lode.sh for what is
 * expected of it.
 */
	.globl	_start, outer, inner
	.section .note.GNU-stack, "", @progbits
	.text
_start:
	mov	$100, %ecx
loop:
	mov	number(%rip), %eax
	add	%eax, total(%rip)
	movdqu	from(%rip), %xmm0
	movdqu	%xmm0, to(%rip)
	dec	%ecx
	jnz	loop
	mov	$10, %ecx
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	rep movsb
	fldt	from(%rip)
	fstpt	to(%rip)
	cmpxchg16b to(%rip)
	pushq	number(%rip)
	popq	total(%rip)
	mov	$3, %ebx
again:
	call	outer
	dec	%ebx
	jnz	again
	mov	$60, %eax
	xor	%edi, %edi
	syscall

/* 15 instructions a call: 2 of its own, 13 of inner and what that calls. */
	.type	outer, @function
outer:
	mov	$2, %edx
	jmp	inner
	.size	outer, . - outer

/* Calls itself: 5 + 5 + 3 instructions. */
	.type	inner, @function
inner:
	dec	%edx
	js	done
	nop
	call	inner
done:
	ret
	.size	inner, . - inner

	.data
	.align	16
from:	.quad	1, 2
to:	.quad	3, 4
number:	.quad	5
total:	.quad	6
