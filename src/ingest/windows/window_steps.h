/* SPDX-License-Identifier: MIT */
/*
 * Walks over the windows of a log, step by step: each with the code that it executed.
 *
 *   log ─▶ window ─▶ step ─(pid, time)─▶ place ─▶ LodeSteppedCode: decoded once, numbered
 *                      └─────────────────────────────────┴─▶ visitors, in the order of execution
 *
 * A window is resolved as a whole before its first step is visited. A visitor keeps its facts of an
 * instruction by the code's number: in an array, without a search.
 *
 * The log lacks the instruction after a system call, which is never trapped: it is inserted. A
 * repeated string instruction is a step for each of its rounds, but one hit of a breakpoint.
 *
 * Private to ingest/.
 */
#pragma once

#include "base/progress.h"
#include "images/instructions/instruction_decoder.h"
#include "process/places.h"
#include "sources/windows/window_log.h"

/* An instruction that was executed in a window. */
typedef struct {
	LodePlace place;
	uint32_t number;                /* from 0, in the order in which they were first seen */
	LodeDecodedInstruction decoded; /* length 0: not decoded, as of code without its bytes.
	                                   Operands that rbp points to are `pointer`, not `stack` */
	unsigned n_falsified;           /* for so many steps after it branches may depend on how
	                                   long something took */
	const uint8_t *bytes;           /* the image's, borrowed; NULL: not known */
	size_t n_bytes;                 /* that may be read there: more than the instruction has */
} LodeSteppedCode;

/* A step, for visitors; all is valid during the call only. */
typedef struct {
	const LodeWindowHead *window;
	const LodeWindowLogHeader *log;
	uint32_t pid;
	uint32_t n_window; /* of all windows that were walked, with those of hits, from 0 */
	uint32_t index;    /* in the window, from 0 */
	/* The state before the instruction. `address` is the run-time one: its difference to
	 * code->place.address is how far the image is moved. */
	const LodeWindowStep *step;
	const LodeSteppedCode *code; /* NULL: in no code that is known, in the vDSO or in one of
	                                lode's own libraries: nothing is kept of it */
	/* The step executed next; NULL: at the window's end, before a gap, and before a further
	 * round of a string instruction. This instruction raised the flags in `next->raised`. */
	const LodeWindowStep *next;
	const LodeSteppedCode *next_code; /* NULL without `next`, and as `code` */
	bool has_registers; /* false: the window keeps none, or the step is inserted */
	bool is_hit;   /* of a breakpoint, in a window of these: what was executed before it is not
	                  known, but that this instruction was not since its last hit. Where it led is
	                  `next`, which is not visited */
	bool is_round; /* a further round of the string instruction of the step before: not an
	                  execution more */
	bool is_frequent; /* counts for how often ways are taken: it is not among the first steps of
	                     the window, not in a loop that waited for another thread, and not a
	                     branch by a clock or by whether a lock was free */
} LodeVisitedStep;

typedef struct {
	/* In the order of execution; a window begins where index is 0. */
	void (*visit)(void *data, const LodeVisitedStep *step);
	void *data;
} LodeWindowVisitor;

/* How much was walked over, and how much of it is in no code, and why. */
typedef struct {
	uint64_t n_windows, n_steps; /* without hits, and the windows of these */
	uint64_t n_hits;
	uint64_t outcomes[LODE_PLACE_N_OUTCOMES]; /* steps by what their address led to */
	struct {
		uint64_t address;
		uint32_t pid;
	} examples[LODE_PLACE_N_OUTCOMES]; /* the last of each */
	uint64_t n_own;                    /* steps in the vDSO and in lode's own libraries */
	uint64_t n_left;    /* in more instructions than are kept, or more steps than are walked */
	uint64_t n_damaged; /* steps of windows that the log says it has, and cannot be read */
	uint64_t n_cut;     /* after a system call, where what follows it is not known */
} LodeWindowFigures;

typedef struct LodeWindowSteps LodeWindowSteps;

/* Borrows the places, of which all recordings are frozen. */
LodeWindowSteps *lode_window_steps_new(LodePlaces *places);
void lode_window_steps_free(LodeWindowSteps *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowSteps, lode_window_steps_free)

/* Walks from now on only over the windows that `is_wanted`, which is called once for each, in the
 * order of the log; NULL: over all. */
void lode_window_steps_choose(LodeWindowSteps *self,
	bool (*is_wanted)(void *data, const LodeWindowHead *window), void *data);

/* Has each visitor visit all steps of a log, which is of the recording that the places have
 * selected, from its first window. Errors: _CANCELLED. */
bool lode_window_steps_walk(LodeWindowSteps *self, LodeWindowLog *log,
	const LodeWindowVisitor *visitors, size_t n_visitors, const LodeProgress *progress,
	GError **error);

const LodeWindowFigures *lode_window_steps_figures(const LodeWindowSteps *self);

/* The instructions that were executed in the windows so far, by number; valid until the next walk.
 */
uint32_t lode_window_steps_n_codes(const LodeWindowSteps *self);
const LodeSteppedCode *lode_window_steps_code(const LodeWindowSteps *self, uint32_t number);
