/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the log of a process that is watched from outside, in memory, in the form of
 * windows (docs/reference/formats/windows.md). A window holds the hits of breakpoints, each with
 * where its instruction led, or instructions that were executed one by one.
 */
#pragma once

#include "sources/windows/window_log_format.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct LodeProbeLog LodeProbeLog;

LodeProbeLog *lode_probe_log_new(pid_t pid);
void lode_probe_log_free(LodeProbeLog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProbeLog, lode_probe_log_free)

/* The state just before an instruction. */
typedef struct {
	uint64_t address;
	uint64_t registers[LODE_WINDOW_REGISTERS];
	uint64_t time_ns; /* in a window with times: since its first step */
	uint8_t raised;   /* flags of MXCSR by the instruction before */
	bool is_gap;      /* something else was executed in between */
} LodeProbeStep;

/* Begins a window; of the head, thread, flags, begin and thread pointer count. */
void lode_probe_log_begin(LodeProbeLog *self, const LodeWindowHead *head);

/* False: the window, or the log, is full. */
bool lode_probe_log_add(LodeProbeLog *self, const LodeProbeStep *step);

/* Ends it. A window without a step is left out. */
void lode_probe_log_end(LodeProbeLog *self, uint64_t end_ns, LodeWindowEnd end);

/* Adds processor time that the program lost. */
void lode_probe_log_charge(LodeProbeLog *self, uint64_t user_ns, uint64_t system_ns);

/* The log as it stands, with its header; borrowed, valid until the next call. */
const uint8_t *lode_probe_log_bytes(LodeProbeLog *self, size_t *out_size);
