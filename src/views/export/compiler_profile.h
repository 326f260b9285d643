/* SPDX-License-Identifier: MIT */
/*
 * Executions by place in the source, from which compilers optimise ("AutoFDO", "sample profile"):
 *
 *   function              as linked, whatever the compiler made of it: also its parts and copies
 *     line +3             from where it is declared, and by discriminator: executions, calls
 *     line +5: callee     was inlined there: its lines
 *
 * The executions of a line are those of its instruction that was executed most, as a line has many.
 * What was not executed has no line: in an inferred profile, 0 would say more than is known (with
 * it, Lua gained half as much).
 *
 * The places are those of the debug information of the very file that ran. The form is defined by
 * D. Chen, D. X. Li, T. Moseley, "AutoFDO: automatic feedback-directed optimization for
 * warehouse-scale applications", CGO 2016, and by its readers:
 *
 *   LLVM   https://clang.llvm.org/docs/UsersManual.html#sample-profile-formats (text)
 *   GCC    gcc/auto-profile.cc, version 2: GCC 12 and later
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	const char *function; /* as linked */
	uint64_t count;
} LodeCompilerTarget;

typedef struct {
	uint32_t offset, discriminator; /* 16 bits each */
	uint64_t count;
	GArray *targets; /* LodeCompilerTarget, by count, descending; NULL: no calls are known */
} LodeCompilerLine;

typedef struct {
	const char *name;               /* as linked */
	uint32_t offset, discriminator; /* of the call, where it is inlined */
	uint64_t total;                 /* of all lines, with those inlined */
	uint64_t head;                  /* entries; 0 where it is inlined */
	GArray *lines;                  /* LodeCompilerLine, by place */
	GPtrArray *inlined;             /* LodeCompilerFunction, by place and name */
} LodeCompilerFunction;

typedef struct {
	GPtrArray *functions; /* LodeCompilerFunction, by total, descending */
	GStringChunk *names;
} LodeCompilerProfile;

/* Compilers number the blocks of a line in ways of their own. */
typedef enum {
	LODE_COMPILER_LLVM,
	LODE_COMPILER_GCC,
} LodeCompiler;

/* Of the binaries of these names, NULL-terminated, each a path or file name; `binaries` NULL: the
 * program's. Errors as lode_exported_binary_open(); _UNSUPPORTED (one has no debug information). */
LodeCompilerProfile *lode_compiler_profile_new(const LodeProfile *profile, LodeCompiler compiler,
	const char *const *binaries, GError **error);
void lode_compiler_profile_free(LodeCompilerProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCompilerProfile, lode_compiler_profile_free)

/* LLVM's text form, which clang reads itself, as does rustc. Errors: _IO. */
bool lode_sample_profile_write(const LodeCompilerProfile *self, FILE *out, GError **error);

/* The form of gcc -fauto-profile, version 2. Errors: _IO. */
bool lode_auto_profile_write(const LodeCompilerProfile *self, FILE *out, GError **error);

/* Branches of one binary by address, as BOLT takes them, which optimises the binary itself: of the
 * program, or with `binary` of that one, which may be without debug information. Errors: _IO, and
 * as lode_exported_binary_open(). */
bool lode_bolt_profile_write(
	const LodeProfile *profile, const char *binary, FILE *out, GError **error);
