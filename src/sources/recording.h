/* SPDX-License-Identifier: MIT */
/*
 * What is left of any recording once its own format is gone: the instructions that executed, with
 * event values by object and address, and the jumps and calls between them. Addresses are as the
 * recording tool wrote them; joining them with binaries is ingest's work.
 */
#pragma once

#include "model/profile.h"

typedef struct {
	char *path;   /* "???" for what valgrind could not name */
	uint32_t pid; /* whose run-time addresses it has, where "???"; else 0 */
} LodeRecordedObject;

/* One executed instruction. Sorted by (object, address), each once. */
typedef struct {
	uint64_t address; /* as written: file virtual address, or run-time address in "???" */
	uint32_t object;
	uint32_t function;    /* index into names; LODE_NONE for none */
	uint32_t file;        /* index into names */
	uint32_t line;        /* 0: unknown */
	uint32_t first_value; /* values of the first events from here in `values`… */
	uint32_t n_values;    /* …so many; the others are 0 */
} LodeRecordedInstruction;

/* Jumps with equal ends are merged. Sorted by (object, source, target object, target). */
typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names; LODE_NONE */
	bool is_conditional;
	double taken;    /* times it went to target */
	double executed; /* times the jump instruction ran, where conditional; else = taken */
} LodeRecordedJump;

typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names */
	double count;
} LodeRecordedCall;

typedef struct {
	GStringChunk *strings;
	LodeFrequency frequency;
	char *creator;     /* "callgrind-3.19.0"; of the first file */
	char *command;     /* of the first file; NULL when not there */
	GPtrArray *events; /* char *: columns of `values`; the union over all files */
	GArray *totals;    /* double × events, summed from the files' own summary/totals lines */
	GArray *objects;   /* LodeRecordedObject */
	GArray *pids;      /* uint32_t: the processes, each once */
	GPtrArray *names;  /* char *: functions and files, no two equal */
	double *values;
	size_t values_room; /* private: bytes, when values are mapped; 0: from g_malloc() */
	GArray *instructions;
	GArray *jumps;
	GArray *calls;
	uint64_t bytes_read;
} LodeRecording;

/* Empty, exact; never NULL. */
LodeRecording *lode_recording_new(void);
void lode_recording_free(LodeRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRecording, lode_recording_free)
