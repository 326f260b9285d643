/* SPDX-License-Identifier: MIT */
/* A program that is traced by valgrind's lackey, and packed with a description made up for it. */
#pragma once

#include "traces/trace_description.h"
#include "traces/trace_writer.h"

typedef struct {
	char *directory;
	char *trace;     /* .rps */
	char *callgrind; /* of the same program; "" where it was not asked for */
} TracedProgram;

void traced_program_clear(TracedProgram *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TracedProgram, traced_program_clear)

/* A program without libraries, at fixed addresses. False where there is no valgrind: then the test
 * is marked as skipped. */
bool traced_program_record(TracedProgram *self, const char *program);

/* An empty place for traces. */
void traced_program_init(TracedProgram *self);

/* The segments of a program at fixed addresses as mappings. */
void traced_program_describe(LodeTraceDescription *description, const char *program);

/* Writes references with a description. */
void traced_program_write(TracedProgram *self, const LodeReference *references, size_t n,
	const LodeTraceDescription *description);

/* The same in frames of at most so many references. */
void traced_program_write_frames(TracedProgram *self, const LodeReference *references, size_t n,
	uint64_t frame_references, const LodeTraceDescription *description);
