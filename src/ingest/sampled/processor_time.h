/* SPDX-License-Identifier: MIT */
/*
 * How a program's processor time divides between its own code and the kernel. The sum is exact, but
 * the kernel divides it by who was interrupted at its ticks, 250 a second (cputime_adjust() in
 * Linux's kernel/sched/cputime.c), and so also the time of windows, most of which is in the kernel.
 * The recording's own timer says it more often: what it did not find in user mode was in the
 * kernel. Private to ingest/.
 */
#pragma once

#include <stdbool.h>

/* Samples of a timer that runs with the threads, those of windows left out; of all programs. */
typedef struct {
	double period_ns;          /* mean; 0: there is none, or samples were lost */
	double user_ns, kernel_ns; /* the samples' weight */
	bool has_kernel;           /* it also samples there */
	double n_threads;          /* each may end just before its next sample */
	double steal;              /* share of time that others took from the virtual machine */
	double windows_seconds;    /* time that windows took, which is taken off the accounts */
} LodeTimerSamples;

typedef struct {
	double user_seconds, system_seconds;
	double system_error; /* standard error of system_seconds; 0: neither is known */
} LodeProcessorTime;

/*
 * Divides the time that the accounts have, by them or by the samples, whichever has the smaller
 * error. The sum stays.
 */
void lode_processor_time_divide(LodeProcessorTime *self, const LodeTimerSamples *samples);
