/* SPDX-License-Identifier: MIT */
/* Private to record/: what a way of tracing a program is given, and one row for each. */
#pragma once

#include "record/programs/child.h"
#include "record/qemu/trace_recording.h"

typedef struct LodeTakerQueue LodeTakerQueue;
typedef struct LodeTraceIntake LodeTraceIntake;

typedef struct {
	const LodeTraceRecordingOptions *options;
	const LodeProgress *progress;
	char *program;                     /* path of argv[0] */
	LodeTakerQueue *queue;             /* NULL: each process has a file */
	LodeTraceIntake *intake;           /* of the first */
	LodeTraceDescription *description; /* its; the way adds tool and mappings */
	LodeChildEnd end;
	GArray *processes; /* LodeTraceRecordedProcess, but for the first */
	GError *error;     /* of the files of those; NULL: none */
} LodeTraceRun;

typedef enum {
	LODE_TRACE_RUN_DONE,   /* the program has run */
	LODE_TRACE_RUN_FAILED, /* with an error; the program may have run */
	LODE_TRACE_RUN_UNFIT,  /* with an error; the program has not run: another way may do */
} LodeTraceRunOutcome;

typedef struct {
	const char *name;
	LodeTraceRunOutcome (*run)(LodeTraceRun *run, GError **error);
} LodeTraceRunWay;

/* Opens a process's trace, which has a file of that path unless the run has a queue; the caller
 * owns it. Errors: _IO. */
LodeTraceIntake *lode_trace_run_open(
	const LodeTraceRun *run, const char *path, const char *command, GError **error);

/* Sets the program in the description, which a file has if the recording is killed. */
void lode_trace_run_describe_program(LodeTraceDescription *description, const char *command);

/* Adds what it says at its end, and ends it. */
bool lode_trace_run_finish(const LodeTraceRecordingOptions *options, LodeTraceIntake *intake,
	bool is_kept, GError **error);

extern const LodeTraceRunWay lode_qemu_trace, lode_lackey_trace;

/* "7.2.22" of "qemu-x86_64 version 7.2.22 (Debian …)", by asking the tool itself; NULL: it does not
 * say. The caller frees it. */
char *lode_trace_run_version(const char *tool);
