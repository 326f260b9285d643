/* SPDX-License-Identifier: MIT */
/*
 * Functions of scripts that open and read a file each time that they are called:
 *
 *   time ─▶  price_of  load open load load  price_of  load open load …
 *
 * Samples of opening are few, but come again and again, and take turns with others; so do those of
 * the function. What file it is no sample tells. Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/* Adds the diagnosis of the function that has most time of these, if there is one. */
void lode_files_again_add(LodeDiagnoses *out, const LodeCostedCode *code);
