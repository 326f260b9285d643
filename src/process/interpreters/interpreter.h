/* SPDX-License-Identifier: MIT */
/*
 * The interpreters of scripts whose frames are read from outside while they run: a row each.
 *
 *   /proc/PID/maps ─▶ the program, files named as an interpreter's ─▶ symbols ─▶ its row
 *                                                                                  │ open
 *                                                                   frames ◀───────┘
 *
 * What a row reads is another process' memory, which changes meanwhile: it checks all, and what
 * does not hold is torn.
 */
#pragma once

#include "sources/perf_data/script_look.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
	uint64_t address;
	void *to;
	size_t size;
} LodeForeignPart;

/* How the other process' memory is read: as much from `address` on as there is, at most `size`; and
 * several parts as nearly at once as can be: false where one of them is not there as a whole. */
typedef struct {
	size_t (*read)(void *data, uint64_t address, void *to, size_t size);
	void *data;
	bool (*read_parts)(void *data, const LodeForeignPart *parts, size_t n);
} LodeForeignMemory;

typedef enum {
	LODE_FRAMES_NONE, /* the thread runs no script */
	LODE_FRAMES_TORN,
	LODE_FRAMES_FOUND,
} LodeFramesOutcome;

/* A thread at a moment. */
typedef struct {
	pid_t pid, tid;
	uint64_t now_ns;
} LodeFramesThread;

enum { LODE_INTERPRETER_MAX_SYMBOLS = 10 };

typedef struct {
	const char *file; /* what the names of its files begin with, after "lib" */
	const char *symbols[LODE_INTERPRETER_MAX_SYMBOLS];
	unsigned n_needed; /* of those one of the files has the first so many; the rest may lack */
	/* Its frames, by the addresses of the symbols, 0 for one that lacks; NULL: of a version
	 * that is not known. Numbers of code are from *next_code on, which is moved. */
	void *(*open)(
		const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code);
	/*
	 * The frames of a thread now, the innermost first: at most LODE_SCRIPT_MAX_FRAMES, where
	 * `out_look` has them. Code that was not seen before is appended to `out_codes`
	 * (LodeScriptCode); its texts are valid until the frames are closed.
	 */
	LodeFramesOutcome (*read)(void *frames, const LodeFramesThread *thread,
		LodeScriptLook *out_look, GArray *out_codes);
	void (*close)(void *frames);
	/* An address in the function that executes the script's instructions, where symbols do not
	 * name that; 0: it is not known yet. NULL: they do. */
	uint64_t (*loop)(const void *frames);
	bool is_of_waits; /* its frames are read of threads that wait: compiled code has places */
} LodeInterpreter;

enum {
	LODE_INTERPRETER_PYTHON,
	LODE_INTERPRETER_PERL,
	LODE_INTERPRETER_RUBY,
	LODE_INTERPRETER_HOTSPOT,
	LODE_N_INTERPRETERS
};
extern const LodeInterpreter lode_interpreters[LODE_N_INTERPRETERS];

/* An interpreter that a process has. */
typedef struct {
	const LodeInterpreter *interpreter; /* NULL: none */
	uint64_t symbols[LODE_INTERPRETER_MAX_SYMBOLS];
	const char *file; /* that has it; without one, that is named as an interpreter's and lacks
	                   * its symbols; NULL: none. Borrowed from the files. */
	bool is_unread;   /* it is an interpreter whose frames are not read: PyPy */
} LodeFoundInterpreter;

/* The files that were searched, each once: that takes some milliseconds. */
typedef struct {
	GHashTable *known; /* device, inode, path → private */
	uint64_t spent_ns; /* processor time that searches in files took, and tables of interpreters
	                    */
} LodeInterpreterFiles;

void lode_interpreter_files_init(LodeInterpreterFiles *self);
void lode_interpreter_files_clear(LodeInterpreterFiles *self);

/* The interpreter of a running process: in its program, or in a library that is mapped. */
LodeFoundInterpreter lode_interpreter_find(LodeInterpreterFiles *files, pid_t pid);
