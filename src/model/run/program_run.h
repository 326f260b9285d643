/* SPDX-License-Identifier: MIT */
/* The run of a program that a profile is of: how long it took, on what, and how it was observed. */
#pragma once

#include "machine/machine_figures.h"
#include "model/kinds.h"

#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

typedef struct LodeProgramRun {
	char *program; /* the command line; NULL when unknown */
	char *creator; /* "callgrind-3.19.0", "flow file" … */
	char *core;    /* the family of processors whose bounds the loops have: "Zen 3"; NULL: of a
	                  flow file, or an earlier lode */
	double cycles_per_ns; /* of the processor when the program had ended; 0: unknown */
	/* How many figures of the core were measured instead of taken from the table of its family;
	 * what a misprediction takes once it is resolved, if that was. 0: none */
	double n_core_figures, mispredict_cycles;
	LodeMemoryRates rates; /* of the machine, by one thread; 0: not known */
	LodeFrequency frequency;
	double n_samples;       /* of the weight's event, also the unresolved; 0: there were none */
	double n_equal_samples; /* lode_profile_equal_samples(); 0: not known */
	/* Processor time of the sampled programs, in their own code and in the kernel; 0 both:
	 * unknown */
	double user_seconds, system_seconds;
	double system_error;    /* lode_profile_system_error(); 0: not known */
	double n_processors;    /* that the program may use; 0: unknown */
	double wall_seconds;    /* from their start to their end; 0: unknown */
	LodeMachineSpeed speed; /* while they ran; runs 0: unknown, as of several recordings */
	bool is_kernel_sampled; /* the time in the kernel too */
	double total_count;     /* Σ of executions, also the unresolved */
	double inflow_checked;  /* executions of instructions whose inflow was compared… */
	double inflow_equal;    /* …and of those where inflow = executions (flow conservation) */
} LodeProgramRun;

/* That of a profile. */
const LodeProgramRun *lode_program_run_of(const LodeProfile *profile);

/* So many samples of equal weight would say as much as those that there are: (Σw)² / Σw², Kish's
 * effective sample size (Survey Sampling, 1965). Where that is not known, their number. */
double lode_profile_equal_samples(const LodeProfile *self);

/* The standard error of system_seconds, and of user_seconds; of a profile that does not say it,
 * that of a proportion of the kernel's ticks of 4 ms. */
double lode_profile_system_error(const LodeProfile *self);
