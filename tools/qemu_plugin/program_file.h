/* SPDX-License-Identifier: MIT */
/* The kind of a file that a program wants to execute: see execve(2). */
#pragma once

#include <stdbool.h>

enum { SCRIPT_LINE_BYTES = 256 };

typedef enum {
	PROGRAM_FILE_OTHER, /* for the kernel to execute, or to refuse */
	PROGRAM_FILE_ELF,   /* for x86-64, with a loader where it needs one */
	PROGRAM_FILE_SCRIPT,
} ProgramFileKind;

typedef struct {
	ProgramFileKind kind;
	char line[SCRIPT_LINE_BYTES + 1]; /* of a script: what the two are in */
	const char *interpreter;
	const char *argument; /* NULL: none */
} ProgramFile;

void program_file_read(ProgramFile *self, const char *path);
