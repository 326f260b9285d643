/* SPDX-License-Identifier: MIT */
/* Reads the program's memory at addresses that it gave to the kernel, which may be any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `n` bytes at an address in QEMU's own memory. False where not all of them can be read. */
bool guest_memory_read(uint64_t address, void *out, size_t n);

/* As many of them as can be read, of two pages; how many. */
size_t guest_memory_read_some(uint64_t address, void *out, size_t n);

/* A text, up to its NUL, of at most `size` − 1 bytes. False where it cannot be read, or is longer.
 */
bool guest_memory_read_text(uint64_t address, char *out, size_t size);
