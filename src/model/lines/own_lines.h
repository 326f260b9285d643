/* SPDX-License-Identifier: MIT */
/*
 * The user's own line of an instruction: of the lines of its code and of the calls that it was
 * inlined by, the innermost that is not the toolchain's.
 *
 *   /usr/include/c++/12/bits/basic_string.h:3587   operator==
 *     /home/me/order.hpp:23                        Cache::find   ◀ its own line
 *       /home/me/main.cpp:19                       worker
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeFrame LodeFrame;
typedef struct LodeLocation LodeLocation;
typedef struct LodeMemorySample LodeMemorySample;
typedef struct LodeOwnLines LodeOwnLines;
typedef struct LodeProfile LodeProfile;

/* The profile is borrowed. Files that match one of the globs (NULL-terminated, or NULL) are the
 * user's own, wherever they are. */
LodeOwnLines *lode_own_lines_new(const LodeProfile *profile, const char *const *globs);
void lode_own_lines_free(LodeOwnLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOwnLines, lode_own_lines_free)

/* The location that names an instruction: its own line, or where no line is own, its innermost one;
 * LODE_NONE: not known. */
uint32_t lode_own_lines_find(const LodeOwnLines *self, uint32_t instruction);

/* The same for the access of a sample of data addresses. */
uint32_t lode_own_lines_find_access(const LodeOwnLines *self, const LodeMemorySample *sample);

/* Whether a location is in a file of the user's own. */
bool lode_own_lines_is_own(const LodeOwnLines *self, uint32_t location);

/* Whether lines of a source file are the user's own: not those of an interpreter, wherever it was
 * built. */
bool lode_own_lines_is_own_file(const LodeOwnLines *self, const char *path);

/* Whether a frame of a stack is of the user's own code: not of the kernel, of a system library or
 * of a run-time environment's program. */
bool lode_own_lines_is_own_frame(const LodeOwnLines *self, const LodeFrame *frame);

/* The same by the frame's paths alone, as far as they say it. */
bool lode_is_own_frame(const LodeFrame *frame);

/* A line of an instruction, and of the calls that it was inlined by. */
typedef struct {
	const LodeLocation *location; /* borrowed from the profile */
	const char *function;         /* that the line is of; "?" if not known; borrowed likewise */
	bool is_own;                  /* the one that lode_own_lines_find() gives */
} LodeInlinedLine;

/* The lines from the function that the instruction is of to the innermost one; none without a
 * location. The caller unrefs the array of LodeInlinedLine. */
GArray *lode_own_lines_chain(const LodeOwnLines *self, uint32_t instruction);

/* Whether a source file is of the toolchain, of the system's headers, of Node.js itself, or of a
 * package that Cargo or Go downloaded, by its path as debug information has it. */
bool lode_is_toolchain_file(const char *path);

/* Whether the image of this path is a shared library of the system, or one of ours that programs
 * are recorded with. */
bool lode_is_system_library(const char *path);

/* Whether an image is the program of a run-time environment, whose code without lines is not the
 * user's: Node.js. */
bool lode_is_run_time_program(const char *path);

/* Whether code without lines in an image of this path is not the user's: that of such a program, or
 * of an interpreter. */
bool lode_is_run_time_code(const char *path);

/* Whether a file of this name is the program or the library of an interpreter or a virtual machine
 * that few build themselves: "python3.11", "libjvm.so", but not "python_bindings.so". */
bool lode_is_interpreter(const char *base);

/* Whether a library is a module for Python that is not the interpreter's own: no interpreter
 * executes what it does. */
bool lode_is_python_extension(const char *path);

/* Whether an image is a program or library that the system's packages have, or an interpreter
 * wherever it is: not what a user of lode builds, but for few. */
bool lode_is_of_others(const char *path);

/* Whether a path is in one of the toolchain's folders, which are root's on any machine. */
bool lode_is_toolchain_folder(const char *path);
