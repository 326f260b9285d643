/* SPDX-License-Identifier: MIT */
/* What was measured of the machine that a program ran on, as recordings and profiles keep it. */
#pragma once

typedef enum {
	LODE_RATE_L1,
	LODE_RATE_L2,
	LODE_RATE_L3,
	LODE_RATE_MEMORY,
	LODE_N_RATES,
} LodeRateLevel;

/* Bytes per nanosecond; 0: the machine has no such level, or it is not known. */
typedef struct LodeMemoryRates {
	double read[LODE_N_RATES], write[LODE_N_RATES];
} LodeMemoryRates;

/* See machine_speed.h. */
typedef struct LodeMachineSpeed {
	double runs; /* 0: not measured */
	/* Medians of the time of an addition and of a step of the walk; the scatter is the standard
	 * deviation of the logarithm of a run, estimated by the median too. */
	double chain_ns, chain_scatter, walk_ns, walk_scatter;
	/* Shares of the machine's processor time: given to other machines by the hypervisor, and
	 * to programs beside the recorded one and lode. */
	double steal, others;
} LodeMachineSpeed;
