/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses of services: functions of libraries and run-time environments that the user's code
 * calls. A sample belongs to one of them, that of the service nearest to it:
 *
 *   services of one rule of services.ini ─┐
 *     malloc  parse.c:12 30 %             ├─▶ service-allocator, 52 %, of malloc and free, called
 *     free    parse.c:19 22 %             │   from parse.c:12 in parse and 1 other line
 *     strlen  words.c:7  60 %, in a loop ─┴─▶ service-string, or repeated-work where the loop does
 *                                             not change the arguments
 *
 * Hash tables whose look-ups go over many nodes of a bucket are colliding-keys.
 *
 * Time in the kernel is in none of them: see kernel_diagnoses.h.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/rules/cause_rules.h"

/* Adds them, by falling time. */
void lode_service_diagnoses_add(LodeDiagnoses *out, const LodeCostedCode *code);

/*
 * Adds the function of a script that has most time of those that open and read a file each time
 * that they are called, if there is one (services/files_again.c):
 *
 *   time ─▶  price_of  load open load load  price_of  load open load …
 *
 * Samples of opening are few, but come again and again, and take turns with others; so do those of
 * the function. What file it is no sample tells.
 */
void lode_files_again_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);
