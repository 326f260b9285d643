/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: one process of a traced program, as lode follows it. A new program in a
 * process is a new one here, as its addresses mean something else. Each has a file of its own.
 */
#pragma once

#include "record/trace_mappings.h"
#include "record/trace_ring.h"
#include "record/trace_run.h"

typedef struct {
	uint32_t number; /* as the ring numbers them */
	pid_t pid;
	int descriptor; /* by which its end is noticed; −1: none */
	bool is_recorded;
	bool has_ended;
	uint64_t end_stamp; /* chunks with lower ones may be its */
	char *path;         /* its file; NULL: the run's own */

	/* Those of the run where it has no file of its own. */
	LodeTraceWriter *writer; /* NULL: closed */
	LodeTraceDescription *description;
	LodeTraceIntake *intake;
	LodeTraceMappings *mappings;

	void *code;     /* g_malloc()ed, what `mappings` gives back of it */
	char *executed; /* what it is about to become without us; NULL: nothing */
	uint64_t n_bytes;
	GError *error; /* of its file */
} LodeTracedProcess;

/* Whether the kernel has it still. */
bool lode_traced_process_is_alive(LodeTracedProcess *self);

/* Ends its file, which is left out where nothing is in it. What went wrong is in `error`. */
void lode_traced_process_finish(LodeTracedProcess *self, const LodeTraceRecordingOptions *options);

/*
 * "x.rps" ─▶ "x.2.rps". The caller frees it.
 */
char *lode_traced_process_path(const char *output, unsigned number);

LodeTracedProcess *lode_traced_process_new(uint32_t number, pid_t pid);
void lode_traced_process_free(LodeTracedProcess *self);

/* Gives it a file of its own. Errors: _IO. */
bool lode_traced_process_open(LodeTracedProcess *self, const LodeTraceRecordingOptions *options,
	const char *command, unsigned share, GError **error);
