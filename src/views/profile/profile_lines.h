/* SPDX-License-Identifier: MIT */
/* The lines above and below every text view: the profile in two lines, and the unresolved part. */
#pragma once

#include "views/form/table.h"

typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;
typedef struct LodeTerminal LodeTerminal;

/* Two lines: program, creator, kind of counts; totals, sizes, and the hottest function's share. A
 * third where much of the time was in the kernel, and one where executions are inferred. */
void lode_profile_lines_head(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out);

/* The same without the hottest function, above functions by cost. */
void lode_profile_lines_head_of_functions(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out);

/* Seconds of processor time below which the kernel's share is not shown: times below some ticks of
 * the scheduler may be counted wholly on the wrong side. */
#define LODE_LEAST_ACCOUNTED 0.02

/* The same above diagnoses: of a sampled program, processor time in its own code and in the kernel
 * in place of the figures. */
void lode_profile_lines_head_of_diagnoses(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out);

/* Says that executions are estimates, where they are: for views that show some. */
void lode_profile_lines_inferred(
	const LodeProfile *profile, const LodeTerminal *terminal, FILE *out);

/* "unresolved:" and a line for each reason, or that there is nothing unresolved. */
void lode_profile_lines_unresolved(
	const LodeProfile *profile, const LodeTerminal *terminal, FILE *out);

/* A warning when the run stopped early, else nothing. */
void lode_profile_lines_incomplete(
	const LodeMiningRun *run, const LodeTerminal *terminal, FILE *out);
