/* SPDX-License-Identifier: MIT */
/* A small profile and run made by hand, and what tests do with the text of a view. */
#pragma once

#include "model/mining_run.h"

#include <stdio.h>

typedef struct LodeProfile LodeProfile;

/*
 * One image, two functions of real code:
 *
 *   hot   0x1000  mov eax,[rdi]  (load, 40 l1d-miss)    100 executions
 *         0x1002  add eax,1                             100
 *         0x1005  ret                                   100
 *   cold  0x2000  mov eax,[rdi]                          10
 *         0x2002  add eax,1                              10
 *         0x2005  nop                                     0   never executed
 *         0x2006  ret                                    10
 *
 * cycles = executions + 10 · l1d-miss: 330 + 400 = 730, and 20 unresolved.
 */
LodeProfile *sample_profile(void);

/* Sequences 1 ⟨load⟩ 2 ⟨load l1d-miss⟩ 3 ⟨load⟩ → ⟨add⟩ 4 ⟨load l1d-miss⟩ → ⟨add⟩ 5 ⟨add⟩; 2 has
 * the supports of 4, so that it is not closed; they are made up, not those of the profile. The
 * event is l1d-miss. */
LodeMiningRun *sample_run(void);

/* The same with two findings: F1 ⟨load⟩ → ⟪add⟫ → ⟨·⟩ at both adds, F2 the first load of hot. */
LodeMiningRun *sample_run_with_findings(void);

/* A sequence from "kind:load ev:l1d-miss > op:add"; adds attributes in the order of first use. */
void sample_add_sequence(
	LodeMiningRun *run, const char *text, double weight, double frequency, uint32_t places);

/* A temporary file to write a view to, and what was written; frees and closes. */
FILE *sample_open(void);
char *sample_close(FILE *file);

/* Rows of cells by RFC 4180: GPtrArray of GPtrArray of char *. Fails the test where a row does
 * not end with CR LF or has another number of cells than the first. */
GPtrArray *sample_parse_csv(const char *text);
const char *sample_cell(const GPtrArray *rows, guint row, const char *column);
