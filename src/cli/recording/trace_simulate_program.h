/* SPDX-License-Identifier: MIT */
/* lode trace simulate -- PROGRAM: the part of the question that only the command line has. */
#pragma once

#include "questions/trace_simulate.h"

/* Runs the program after "--", and simulates its processes: each by itself, or misses by place of
 * all together. The exit status is the program's. Errors: _USAGE, those of
 * lode_trace_recording_run(), _IO, _NOT_FOUND where nothing was simulated. */
int lode_trace_simulate_program(LodeSimulateOptions *options, char **arguments, GError **error);
