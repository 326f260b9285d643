/* SPDX-License-Identifier: MIT */
/*
 * The kernels of cause_kernels.c: kernel_NAME(rounds, memory) executes one instruction, cause_NAME,
 * between cheap ones in each round, and gives the last value of rsi.
 */
	.intel_syntax noprefix
	.text

	.macro cheap
	add r8, 1
	xor r9, 5
	lea r10, [r10 + 3]
	add r11, 7
	.endm

	.macro begin name
	.p2align 6
	.globl kernel_\name
	.type kernel_\name, @function
kernel_\name:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	xor r8d, r8d
	xor r9d, r9d
	xor r10d, r10d
	xor r11d, r11d
	mov rbp, rdi
	mov r12, random_state[rip]
	mov r13, 6364136223846793005
	mov r14, 1442695040888963407
	.endm

	.macro round
	.p2align 4
1:
	cheap
	.endm

	.macro end name
	cheap
	cheap
	dec rbp
	jnz 1b
	mov rax, rsi
	mov random_state[rip], r12
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret
	.size kernel_\name, . - kernel_\name
	.endm

	.macro cause name
	.globl cause_\name
cause_\name:
	.endm

	/* rax: a random place, in units of 8 bytes. */
	.macro random_place
	imul r12, r13
	add r12, r14
	mov rax, r12
	shr rax, 39
	.endm

	begin nothing
	round
	nop
	end nothing

	begin div
	round
	or rax, r13
	xor edx, edx
	mov ecx, 3
	cause div
	div rcx
	end div

	begin extend
	round
	or rax, r13
	mov ecx, 3
	cqo
	cause extend
	idiv rcx
	end extend

	begin clear
	round
	or eax, r13d
	mov ecx, 3
	xor edx, edx
	cause clear
	div ecx
	end clear

	begin root
	round
	mov eax, 3
	cvtsi2sd xmm0, eax
	cause root
	sqrtsd xmm0, xmm0
	end root

	begin chain
	mov eax, 1
	cvtsi2sd xmm0, eax
	movapd xmm1, xmm0
	round
	cause chain
	.rept 4
	addsd xmm0, xmm1
	add r8, 1
	add r9, 1
	.endr
	end chain

	begin load
	round
	cause load
	mov rsi, [rsi]
	end load

	begin apart
	round
	random_place
	cause apart
	mov rbx, [rsi + rax * 8]
	end apart

	begin compare
	round
	random_place
	cause compare
	cmp [rsi + rax * 8], rsi
	je 2f
2:
	end compare

	/* With an immediate operand beside the one in memory, the two do not fuse. */
	begin compare_two
	round
	random_place
	cause compare_two
	cmp qword ptr [rsi + rax * 8], 7
	je 2f
2:
	end compare_two

	begin forward
	round
	mov [rsi], eax
	mov [rsi + 4], ebx
	cause forward
	mov rax, [rsi]
	end forward

	begin lock
	round
	cause lock
	lock add qword ptr [rsi], 1
	end lock

	begin exchange
	round
	cause exchange
	xchg [rsi], rax
	end exchange

	begin fence
	round
	mov [rsi], r8
	cause fence
	mfence
	end fence

	begin copy
	round
	mov rbx, rsi
	lea rdi, [rsi + 8192]
	mov ecx, 512
	cause copy
	rep movsb
	mov rsi, rbx
	end copy

	begin copy_few
	round
	mov rbx, rsi
	lea rdi, [rsi + 8192]
	mov ecx, 8
	cause copy_few
	rep movsb
	mov rsi, rbx
	end copy_few

	begin fill
	round
	mov rdi, rsi
	mov ecx, 100
	cause fill
	rep stosd
	end fill

	begin cpuid
	round
	xor eax, eax
	xor ecx, ecx
	cause cpuid
	cpuid
	end cpuid

	begin pause
	round
	cause pause
	pause
	end pause

	begin clock
	round
	cause clock
	rdtsc
	end clock

	begin store
	round
	random_place
	cause store
	mov [rsi + rax * 8], rax
	end store

	/* To a line of one of 8,192 pages, all of which are in the L2 cache. */
	begin far_store
	round
	random_place
	and eax, 8191
	imul rax, rax, 4096 + 64
	cause far_store
	mov [rsi + rax], r8
	end far_store

	/* Both wait for the address. */
	begin visit
	round
	cause visit
	mov [rsi + 8], rax
	mov rsi, [rsi]
	end visit

	/* A shift register of maximal length: the bit that decides is known at once. */
	begin branch
	mov r13, 0xd800000000000000
	round
	shr r12, 1
	cause branch
	jnc 2f
	xor r12, r13
	cheap
2:
	end branch

	begin fused
	mov r13, 0xd800000000000000
	round
	mov rax, r12
	shr r12, 1
	test al, 1
	cause fused
	jz 2f
	xor r12, r13
	cheap
2:
	end fused

	/* One of eight targets, worked out a round before it is needed. */
	.macro choose from
	mov rcx, rbx
	ror r12, 23
	add r12, r13
	mov rax, r12
	and rax, r14
	add rax, r15
	mov rbx, rax
	.endm
	.macro prepare_targets first
	lea r15, \first[rip]
	mov rbx, r15
	mov r14, target_mask[rip]
	.endm

	/* Targets follow each other without padding, which would seem to be executed. */
	begin jump
	prepare_targets targets
	round
	choose
	cause jump
	jmp rcx
	.globl targets
targets:
	.rept 8
	add r8, 1
	inc r9
	lea r10, [r10 + 0x100]
	jmp 4f
	.endr
4:
	end jump

	.p2align 6
	.globl callees
	.type callees, @function
callees:
	.rept 8
	add r8, 1
	add r9, 1
	lea r10, [r10 + 0x100]
	ret
	.endr
	.size callees, . - callees

	begin call
	prepare_targets callees
	round
	choose
	cause call
	call rcx
	end call

	/* A line each, in an order that no prefetcher knows. */
	.set n_blocks, 16384
	.p2align 12
	.globl blocks
	.type blocks, @function
blocks:
	.set i, 0
	.rept n_blocks
	add r8, 1
	add r9, 1
	add r10, 1
	add r11, 1
	add r8, 1
	add r9, 1
	.set next, (i * 20077 + 12345) & (n_blocks - 1)
	.if next == 0
	ret
	.else
	.byte 0xe9 /* jmp near: of 5 bytes wherever it leads */
	.long blocks + next * 64 - . - 4
	.endif
	.p2align 6
	.set i, i + 1
	.endr
	.size blocks, . - blocks

	begin fetch
	round
	cause fetch
	call blocks
	end fetch

	.section .note.GNU-stack, "", @progbits
