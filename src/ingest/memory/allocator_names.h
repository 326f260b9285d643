/* SPDX-License-Identifier: MIT */
/*
 * Functions at which no allocation's site is looked for, by name: allocators, wrappers around them
 * and containers, of libraries and languages (docs/use/allocations.md).
 * Private to ingest/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeAllocatorNames LodeAllocatorNames;

/* `skipped`: globs of the user's, which match a function's or a library's name, NULL-terminated or
 * NULL; copied. */
LodeAllocatorNames *lode_allocator_names_new(const char *const *skipped);
void lode_allocator_names_free(LodeAllocatorNames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAllocatorNames, lode_allocator_names_free)

/* A function, demangled as C++ or Rust have it, with or without result and parameters. */
bool lode_allocator_names_is_allocator(const LodeAllocatorNames *self, const char *function);

/* A library of a C or C++ or Rust implementation, or of an allocator: its name without a path. */
bool lode_allocator_names_is_runtime(const LodeAllocatorNames *self, const char *library);

/* A file of Rust's libraries, by its path where they were built or installed. */
bool lode_allocator_names_is_runtime_source(const char *file);

/* Whether the user's globs skip it; `function` NULL: unknown. */
bool lode_allocator_names_is_skipped(
	const LodeAllocatorNames *self, const char *function, const char *library);
