/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: programs whose events the kernel closes when they are executed, as they
 * get more rights than their caller (set-user-ID, set-group-ID, file capabilities) or must not be
 * read by it. In the records such a process ends before it maps anything:
 *
 *   COMM of an execution ─▶ MMAP2 of the program ─▶ … ─▶ EXIT     sampled
 *   COMM of an execution ─▶ EXIT                                  closed
 *
 * The records of a process may come from several rings, in any order: their times count.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeClosedPrograms LodeClosedPrograms;

LodeClosedPrograms *lode_closed_programs_new(void);
void lode_closed_programs_free(LodeClosedPrograms *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeClosedPrograms, lode_closed_programs_free)

void lode_closed_programs_execute(
	LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns, const char *name);
void lode_closed_programs_map(LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns);
void lode_closed_programs_end(LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns);

/* How many processes were closed, and the name of the first, which is borrowed; NULL: none. */
unsigned lode_closed_programs_count(const LodeClosedPrograms *self, const char **out_name);
