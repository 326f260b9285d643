/* SPDX-License-Identifier: MIT */
/*
 * Finds in its code which arguments of a function make up the size that it passes to an allocator:
 * a function that passes a size on is a wrapper around the allocator.
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
 * Returns the function's own arguments that make up the size in the call in which `return_address`
 * − 1 lies, or the jump that ends it by a call; 0: it is not made of these alone, or unknown.
 * `wanted` has the registers of the size, all of which must be known (for calloc, the number and
 * the size).
 */
LodeArgumentMask lode_size_arguments_find(const uint8_t *code, size_t size, uint64_t address,
	uint64_t return_address, LodeArgumentMask wanted);
