/* SPDX-License-Identifier: MIT */
/*
 * Runs a program with its threads and pages where a placement says, by a library that is preloaded:
 *
 *   placement + topology ──▶ orders (a file) ──▶ the program: sched_setaffinity(), mbind()
 *                              └──────────────◀── what could be done
 *
 * Only the started process, and programs that replace it by exec, are placed; processes that it
 * forks run where lode itself may.
 */
#pragma once

#include "machine/topology.h"
#include "model/placement.h"
#include "record/notes.h"

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	const LodePlacement *placement;
	const LodeTopology *topology;
	bool is_strict;     /* a page is not put elsewhere when its memory is full */
	bool is_randomised; /* leave address-space randomisation as it is */
	LodeNotes notes;    /* gets a note when Ctrl-C is not enough to end the program */
} LodePlacementRunOptions;

typedef struct {
	int exit_status;  /* as waitpid() gives it */
	int stop_signal;  /* came meanwhile and is meant for us too, see child.h; 0: none */
	GPtrArray *notes; /* char *: what could not be done, for people; none: all was done */
	uint32_t n_threads, n_bound; /* that were created; that run where they should */
	uint32_t n_policies;         /* given to ranges */
} LodePlacementRun;

/*
 * Runs and waits. On a machine of one memory threads run on its processors and pages are not bound:
 * a note says so. Errors, before anything is started: _UNSUPPORTED where the placement asks for
 * more memories or processors than there are, _NOT_FOUND (the program; the library), _IO, _LIMIT.
 */
LodePlacementRun *lode_placement_run(const LodePlacementRunOptions *options, GError **error);
void lode_placement_run_free(LodePlacementRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacementRun, lode_placement_run_free)
