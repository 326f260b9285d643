/* SPDX-License-Identifier: MIT */
/*
 * Writes jit-PID.dump, record by record, as src/sources/code/jitdump.h reads it. Any thread may
 * write; what cannot be written (a full disk) ends the writing, and the file ends with a whole
 * record.
 *
 * The agent lives in other people's programs: this is plain C, without GLib, and nothing here
 * prints more than one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code that a line is for, as its discriminator, which other readers ignore; see
 * src/sources/code/jitdump.h. */
enum { JITDUMP_LINE_BACK = 0x4c4f4401, JITDUMP_LINE_HERE = 0x4c4f4402 };

enum { JITDUMP_MAX_INLINED = 64 }; /* in each other */
#define JITDUMP_NO_CALL UINT32_MAX

typedef struct {
	const char *name, *file; /* NULL: unknown */
} JitdumpMethod;

/* A method that is inlined, at a line of the method of the outer call. */
typedef struct {
	uint32_t method, line;
	uint32_t outer; /* a call before this one; JITDUMP_NO_CALL: it is inlined into the code's
	                   own */
} JitdumpCall;

typedef struct {
	uint64_t address;
	uint32_t line; /* 0: none is known from here on */
	const char *file;
	uint32_t discriminator;
	uint32_t call; /* that it is inlined by; JITDUMP_NO_CALL: none */
} JitdumpLine;

typedef struct {
	const char *name;
	const void *code;
	size_t size;
	const JitdumpLine *lines; /* by address */
	size_t n_lines;
	const JitdumpMethod *methods; /* the code's own first */
	size_t n_methods;
	const JitdumpCall *calls;
	size_t n_calls;
} JitdumpCode;

/* Makes the file in a directory and maps its first page as perf wants it. False: a line on stderr
 * says why; what is written later goes into a file that is open already, else nowhere. */
bool jitdump_writer_open(const char *directory);

/* Writes the code with its lines. Does nothing once the file is closed. */
void jitdump_writer_add(const JitdumpCode *code);

void jitdump_writer_close(void);
