/* SPDX-License-Identifier: MIT */
/*
 * Reads callgrind's output files as callgrind 3.19 really writes them (--dump-instr=yes), into one
 * recording. Addresses stay as written, per object; joining them with binaries is ingest's work.
 *
 * Format: https://valgrind.org/docs/manual/cl-format.html, and where the tool differs from it:
 *  - `jcnd=taken/executed target` and `jump=count target` are followed by a bare position line that
 *    repeats the source and has no cost; the target's position is relative to the last position but
 *    does not become it;
 *  - `jfi=`/`jfn=` name the jump target's file and function; `cfn=` may stand without `calls=`;
 *  - the line after `calls=` has inclusive cost, which is no self cost;
 *  - one instruction occurs in several places: costs are summed by (object, address);
 *  - instructions with a REP prefix count iterations.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	char *path;   /* "???" for what valgrind could not name */
	uint32_t pid; /* whose run-time addresses it has, where "???"; else 0 */
} LodeCallgrindObject;

/* One executed instruction. Sorted by (object, address), each once. */
typedef struct {
	uint64_t address; /* as written: file virtual address, or run-time address in "???" */
	uint32_t object;
	uint32_t function;    /* index into names; LODE_NONE for none */
	uint32_t file;        /* index into names */
	uint32_t line;        /* 0: unknown */
	uint32_t first_value; /* values of the first events from here in `values`… */
	uint32_t n_values;    /* …so many; the others are 0 */
} LodeCallgrindInstruction;

/* Jumps with equal ends are merged. Sorted by (object, source, target object, target). */
typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names; LODE_NONE */
	bool is_conditional;
	double taken;    /* times it went to target */
	double executed; /* times the jump instruction ran, where conditional; else = taken */
} LodeCallgrindJump;

typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names */
	double count;
} LodeCallgrindCall;

typedef struct {
	GStringChunk *strings;
	char *creator;     /* "callgrind-3.19.0"; of the first file */
	char *command;     /* of the first file; NULL when not there */
	GPtrArray *events; /* char *: columns of `values`; the union over all files */
	GArray *totals;    /* double × events, summed from the files' own summary/totals lines */
	GArray *objects;   /* LodeCallgrindObject */
	GArray *pids;      /* uint32_t: the processes, each once */
	GPtrArray *names;  /* char *: functions and files, no two equal */
	double *values;
	size_t values_room; /* private */
	GArray *instructions;
	GArray *jumps;
	GArray *calls;
	uint64_t bytes_read;
} LodeCallgrindRecording;

/*
 * Reads the files in order into one recording. Errors (LODE_ERROR_IO, _CORRUPT, _UNSUPPORTED when
 * a file has no instruction addresses) name file and line: `callgrind.out.1: line 12: …`.
 */
LodeCallgrindRecording *lode_callgrind_read(
	const char *const *paths, size_t n_paths, const LodeProgress *progress, GError **error);
void lode_callgrind_recording_free(LodeCallgrindRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCallgrindRecording, lode_callgrind_recording_free)

/* Whether the first bytes of a file look like callgrind output. */
bool lode_callgrind_is_format(const char *data, size_t size);
