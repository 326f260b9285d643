/* SPDX-License-Identifier: MIT */
/*
 * Which arguments of a function make up the size that it asks an allocator for: told by its code,
 * as a function that passes a size on is a wrapper around the allocator.
 *
 *   void *xmalloc(size_t size)                   rdi of malloc comes from rdi
 *   void *pool_get(struct pool *p, size_t n)     rdi of malloc is rsi + 16, rounded up
 *   struct node *node_new(int key)               no: rdi of malloc is a constant
 *   int *vector_new(size_t n)                    no: a multiple of rdi
 *
 * Values are followed forward through registers and the function's own stack (a data-flow analysis
 * as in Aho et al. §9.3, with the lattice below): the greater of an argument and a constant is as
 * good as the argument, and so are sums with constants and rounding.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The registers of integer arguments (System V), as bits: rdi 1, rsi 2, rdx 4, rcx 8, r8 16, r9 32.
 */
typedef uint8_t LodeArgumentMask;

/*
 * How the call that `return_address` − 1 lies in is given its size: `wanted` says in which
 * registers, of which all must be known (of calloc, the number and the size). The function's own
 * arguments that it is made of; 0: it is not made of these alone, or that cannot be told.
 */
LodeArgumentMask lode_size_arguments_find(const uint8_t *code, size_t size, uint64_t address,
	uint64_t return_address, LodeArgumentMask wanted);
