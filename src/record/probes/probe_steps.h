/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: executes some instructions of a running thread one by one, from outside
 * (ptrace(2), PTRACE_SEIZE), for what only a path shows: which instructions follow each other, what
 * was stored before it is loaded, denormal numbers.
 *
 *   seize ─▶ interrupt ─▶ stop in user code ─▶ step, step … ─▶ detach
 *                 └─ stop in a system call: begun again, detach
 *
 * Nothing is left in the program: a thread that blocks, ignores or handles SIGTRAP is let go before
 * the first step; no system call is stepped into, nor an instruction that would show the trap flag;
 * a signal ends the steps and is passed on. A system call that the interruption ended with EINTR is
 * begun again, with its time-out, unless a handler of the program's runs.
 */
#pragma once

#include "record/probes/probe_log.h"
#include "record/probes/probe_places.h"
#include "record/ptrace/interrupted_call.h"
#include "record/ptrace/stop_user.h"

typedef enum {
	LODE_STEPS_TAKEN,   /* at least one */
	LODE_STEPS_NONE,    /* the thread was in a system call, or another signal came */
	LODE_STEPS_TRAP,    /* it blocks, ignores or handles SIGTRAP */
	LODE_STEPS_REFUSED, /* by the kernel: Yama, a debugger, other rights */
	LODE_STEPS_LATE,    /* it did not stop in time, for something else, or moves the rest of a
	                       call's bytes: lode_probe_steps_let_go() is due */
	LODE_STEPS_ENDED,   /* the thread has ended */
} LodeStepsOutcome;

typedef struct {
	pid_t pid, tid;
	pid_t child;       /* of lode's, whose end is left for lode to wait for */
	unsigned n;        /* steps wanted */
	uint64_t spent_ns; /* out: of the thread's processor time */
	unsigned n_stops;  /* out: each takes it off its processor */
	/* Private: sticky flags of MXCSR and x87 that were cleared, to be set again. */
	uint8_t mxcsr, x87;
	/* Private: a call of which the interruption left a part to be done. */
	LodePartedCall parted;
	bool is_parted;
	bool has_stepped; /* private: a trap may be that of a step */
	bool is_kept;     /* private: who traces it takes all stops but those of steps */
} LodeProbeSteps;

/* Adds a window to the log; SIGCHLD must be blocked, and may be taken. */
LodeStepsOutcome lode_probe_steps_run(
	LodeProbeSteps *self, LodeProbePlaces *places, LodeProbeLog *log);

struct user_regs_struct;

/*
 * Likewise, of a thread that is traced already, and stopped in its own code with these registers.
 * It stays stopped; only if it is late, lode_probe_steps_take_late() is due at its next stop.
 */
LodeStepsOutcome lode_probe_steps_run_in_stop(LodeProbeSteps *self, LodeProbePlaces *places,
	LodeProbeLog *log, const struct user_regs_struct *registers);

/* See LodeStopUser. */
LodeLateStop lode_probe_steps_take_late(LodeProbeSteps *self, int signal);

/* Lets a thread go that did not stop in time, or has a call to complete. False: not yet. */
bool lode_probe_steps_let_go(LodeProbeSteps *self);
