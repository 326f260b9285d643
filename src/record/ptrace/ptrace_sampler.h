/* SPDX-License-Identifier: MIT */
/*
 * Samples a program by ptrace(2) where the kernel refuses perf events: it is told to stop at random
 * times, its registers and the top of its stack are read, and it goes on.
 *
 *   timer ─▶ which threads run? ─▶ PTRACE_INTERRUPT ─▶ stop: registers, stack ─▶ PTRACE_CONT
 *            /proc: state R        of these             └─▶ a record in a ring of our own memory
 *
 * A thread that is stopped in user code gives a sample, whose weight is the time since the last
 * look. One that is stopped in a system call ran in the kernel: that time is counted apart, as the
 * recording is of user code (":u"); but one that stops there sooner than an interruption takes to
 * another processor is stopped again when that has passed. One that waited for a processor gives
 * nothing. Time of page faults cannot be told from that of the instruction that faulted, and is
 * counted as its.
 *
 * A thread that waits is left alone, as PTRACE_INTERRUPT would end some of its system calls by
 * EINTR. One that begins to wait just then is made to call again (ERESTARTNOHAND).
 *
 * lode is the parent of the program and its tracer: only this file may wait() for it. All threads
 * and children are traced from their beginning. Nothing is left in the program: no signal, no
 * handler, no mask, no breakpoint. It can notice that it has a tracer (TracerPid, and its own
 * PTRACE_TRACEME is refused), and set-user-ID programs that it executes do not get their rights
 * unless lode may trace everything (CAP_SYS_PTRACE).
 */
#pragma once

#include "record/events/perf_event_set.h"
#include "record/perf/perf_sampler.h"
#include "record/programs/kept_files.h"
#include "record/ptrace/stop_user.h"

typedef struct LodePtraceSampler LodePtraceSampler;

/*
 * NULL unless the kernel refuses every perf event, by its settings or a filter, and the options can
 * do without them: a program is started, and nothing is wanted that only perf events give. Both are
 * borrowed.
 */
LodePtraceSampler *lode_ptrace_sampler_new(
	const LodePerfKernel *kernel, const LodePerfSamplerOptions *options);
void lode_ptrace_sampler_free(LodePtraceSampler *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePtraceSampler, lode_ptrace_sampler_free)

/* Who has a use for the stops of samples, apart from these. To be called before it begins. */
void lode_ptrace_sampler_set_user(LodePtraceSampler *self, LodeStopUser user);

/* LodePerfChoice, of the one event that is sampled; the caller owns it. */
GPtrArray *lode_ptrace_sampler_choices(
	const LodePtraceSampler *self, GString *note, GError **error);

/*
 * Begins to trace a process that will execute the file `path`. A set-user-ID program is not traced,
 * as it would lose its rights: lode_ptrace_sampler_obstacle() says so then. Errors: _IO when ptrace
 * is refused, too.
 */
bool lode_ptrace_sampler_begin(LodePtraceSampler *self, pid_t pid, const char *path,
	LodePerfEventSet *events, LodeKeptFiles *files, GError **error);

/* Can be read when it is time to look; lode_ptrace_sampler_update() reads it. */
int lode_ptrace_sampler_descriptor(const LodePtraceSampler *self);

/* Starts or stops sampling; tracing goes on. */
void lode_ptrace_sampler_switch(LodePtraceSampler *self, bool is_on);

/* Handles all stops, and looks if it is time to. Never waits for long. */
void lode_ptrace_sampler_update(LodePtraceSampler *self);

/* Whether the records want to be taken from the ring. */
bool lode_ptrace_sampler_is_full(const LodePtraceSampler *self);

/* Before and after work that the program should not wait for: lode is on its processor. */
void lode_ptrace_sampler_step_aside(LodePtraceSampler *self, bool is_aside);

/* As lode_ptrace_sampler_update(), for whom wants to know whether the program has ended: its status
 * and usage then, once. */
bool lode_ptrace_sampler_reap(LodePtraceSampler *self, int *out_status, struct rusage *out_usage);

/* Lets go of all processes, and makes no records any more. */
void lode_ptrace_sampler_end(LodePtraceSampler *self);

/* "perf events are refused here (…): sampled by ptrace, 240 a second"; valid as long as it. */
const char *lode_ptrace_sampler_text(LodePtraceSampler *self);

/* The program's time that samples and all other stops have taken so far. */
double lode_ptrace_sampler_spent_ns(const LodePtraceSampler *self);

/* Why there is no sample of the program; NULL: there is no such reason. */
const char *lode_ptrace_sampler_obstacle(const LodePtraceSampler *self);

/* Appends what is missing from the samples. */
void lode_ptrace_sampler_add_note(const LodePtraceSampler *self, GString *note);
