/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses of the time in the kernel, by what entered it and from which line of the user's:
 *
 *   kernel sampled     its events (kernel:syscall:write …), grouped by rules of services.ini
 *   not sampled        one: its share of the processor time by the kernel's accounts. System calls,
 *                      if samples lie at them and the page faults do not take half of it, or if
 *                      half of it went into the start of so many threads; page faults, if they do
 *                      take half, or where no samples lie there can take a quarter; else not known
 *                      which
 *
 * A page fault is taken to cost 0.5 to 2 µs: 1.6 µs on a virtual machine of Zen 5 (Linux 6.1, pages
 * of 4 KiB, 524,288 faults). One of a huge page costs hundreds.
 *
 * The time of a C library's function that enters the kernel, as write, is added where the user's
 * code calls it and no diagnosis of services has it.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"

/* Adds them. Those of the code, of the same cause and at the system calls themselves, are part of
 * them, and removed. */
void lode_kernel_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context);
