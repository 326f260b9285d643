/* SPDX-License-Identifier: MIT */
#include "known_code.h"

/* One instruction that loads, one that stores, one that computes first, and one that returns. */
__asm__(".text\n"
	".globl known_load, known_store, known_forward, known_return, known_tls, known_copy\n"
	".type known_load, @function\n"
	"known_load: mov 16(%rdi), %rax\n.size known_load, .-known_load\n"
	".type known_store, @function\n"
	"known_store: mov %rax, (%rdi,%rsi,8)\n.size known_store, .-known_store\n"
	".type known_forward, @function\n"
	"known_forward: lea 32(%rdi), %rcx\nadd $8, %rcx\nmov (%rcx), %rax\n"
	".size known_forward, .-known_forward\n"
	".type known_return, @function\n"
	"known_return: ret\n.size known_return, .-known_return\n"
	".type known_tls, @function\n"
	"known_tls: mov %fs:0, %rax\n.size known_tls, .-known_tls\n"
	".type known_copy, @function\n"
	"known_copy: movsb\n.size known_copy, .-known_copy\n");

extern const char known_load[], known_store[], known_forward[], known_return[], known_tls[],
	known_copy[];

const KnownCode known_code = {
	.load = known_load,
	.store = known_store,
	.forward = known_forward,
	.tls = known_tls,
	.copy = known_copy,
	.back = known_return,
};
