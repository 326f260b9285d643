/* SPDX-License-Identifier: MIT */
/* A program whose instructions a test lets a process execute in windows: where they lie, and places
 * that know it. */
#pragma once

#include "../../sources/windows/window_log_writer.h"
#include "../sampled_program.h"
#include "ingest/windows/window_reading.h"

enum { STEPPED_PID = 7, STEPPED_MAPPED_NS = 1000 };

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places; /* of one recording, in which STEPPED_PID executes the program from
	                       STEPPED_MAPPED_NS on; frozen */
	LodeThreads threads;
	SampledProgram program;
} SteppedProgram;

void stepped_program_open(SteppedProgram *self, const char *path);
void stepped_program_close(SteppedProgram *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SteppedProgram, stepped_program_close)

/* The n-th instruction of a function, from 0: its run-time address. */
uint64_t stepped_program_at(const SteppedProgram *self, const char *function, unsigned n);

/* A step without registers at each of the addresses, of one window. */
void stepped_program_run(
	WindowLogWriter *log, const LodeWindowHead *head, const uint64_t *addresses, size_t n);
