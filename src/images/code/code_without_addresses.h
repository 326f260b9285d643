/* SPDX-License-Identifier: MIT */
/*
 * A function's code as it is wherever the linker puts it and what it refers to, to tell whether two
 * builds have the same code.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/*
 * A copy of the code at `address` in which these are 0:
 *
 *   - displacements from the instruction pointer, and targets of jumps and calls, that lead out of
 *     the function;
 *   - constants and displacements of 32 bits or more that may be addresses of a program that is
 *     linked to fixed ones: near the function's own, which is then not below 4 MiB;
 *   - displacements in segments of threads, whose layout is the whole program's.
 *
 * What is not an instruction is copied. The caller frees the result.
 */
GBytes *lode_code_without_addresses(const uint8_t *code, size_t size, uint64_t address);
