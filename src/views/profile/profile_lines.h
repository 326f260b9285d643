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

/* Names the columns of a table that a narrow terminal had no room for, as lode_table_write() gives
 * them; nothing when there are none. */
void lode_profile_lines_left_out(
	const LodeTable *table, uint32_t left_out, const LodeTerminal *terminal, FILE *out);

/* Writes words made with printf's rules as one paragraph, wrapped at " · " and blanks to the
 * terminal's width; lode's own signs fit the charset. */
void lode_profile_lines_print(const LodeTerminal *terminal, FILE *out, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* The same, each line after `indent` blanks. */
void lode_profile_lines_print_indented(const LodeTerminal *terminal, unsigned indent, FILE *out,
	const char *format, ...) G_GNUC_PRINTF(4, 5);
