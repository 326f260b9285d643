/* SPDX-License-Identifier: MIT */
/*
 * How HotSpot's own structs are laid out, as libjvm.so says for debuggers (vmStructs.hpp).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The offset of a member; below 0: it has none. */
int64_t vm_struct_offset(const char *type, const char *field);

/* The size of a type in bytes; below 0: it is not known. */
int64_t vm_struct_size(const char *type);

/* Reads the process's own memory through the kernel, so that a wrong address is no fault. */
bool vm_struct_read(uint64_t address, void *out, size_t size);
