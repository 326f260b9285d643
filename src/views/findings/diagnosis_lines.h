/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses as text, JSON and CSV:
 *
 *   D1  saves 20–35 %  divisions
 *       hash_step (table.c:41) and 39 more functions
 *       36.1 % of the time is at 40 such instructions, 12 times what others around take
 *     → Divide by constants (the compiler multiplies instead); …
 *
 * Private to views/.
 */
#pragma once

#include "analyses/diagnoses/diagnoses.h"
#include "base/text/json_stream.h"
#include "model/lines/own_lines.h"
#include "views/form/format.h"

/* One in brief: four lines at most. */
void lode_diagnosis_lines_write(const LodeDiagnoses *self, const LodeProfile *profile, guint index,
	const LodeTerminal *terminal, FILE *out);

/* The first line of one: its number, what it saves and its title; and below, in at most `room`
 * lines, its place and remedy. Returns how many these are. */
guint lode_diagnosis_lines_brief(const LodeDiagnoses *self, const LodeProfile *profile, guint index,
	guint room, const LodeTerminal *terminal, FILE *out);

/* One with all that is known of it. */
void lode_diagnosis_lines_explain(const LodeDiagnoses *self, const LodeProfile *profile,
	guint index, const LodeTerminal *terminal, FILE *out);

/* A line, cut to the screen; in a pipe to 80 columns, unless full names are wanted. */
void lode_diagnosis_lines_put(const LodeTerminal *terminal, const char *text, FILE *out);

/* The smaller ones: "divisions 3 % and 2 more"; NULL: there are none. */
char *lode_diagnosis_lines_smaller(const LodeDiagnoses *self, const LodeTerminal *terminal);

/* The members "diagnoses" and "smaller_diagnoses" of an object: the one with this number from 1,
 * all for 0, none for LODE_NONE. For the page, each has its costliest places, of the profile
 * `shown`; NULL: for others. */
void lode_diagnosis_lines_json(const LodeDiagnoses *self, guint number, const LodeOwnLines *own,
	const LodeProfile *shown, LodeJsonStream *json);

/* A line of titles, then a row for the one with this number from 1; for 0 for each of the first
 * `limit` ones, 0: all. */
void lode_diagnosis_lines_csv(const LodeDiagnoses *self, guint number, uint32_t limit, FILE *out);
