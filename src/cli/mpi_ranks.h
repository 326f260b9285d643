/* SPDX-License-Identifier: MIT */
/*
 * The ranks that mpirun or srun started, through Open MPI's library, which is opened only then.
 * Adds to LodeRanks that all ranks learn of a failure of one, and that only the first one prints.
 */
#pragma once

#include "base/ranks.h"

#include <glib.h>
#include <stdbool.h>

/* Whether this build has MPI. */
bool lode_mpi_is_built(void);

/* This process among those that mpirun or srun started, as far as its environment says. */
typedef struct {
	unsigned rank, size; /* 0 of 1: it was started alone; size 0: of an unknown number */
} LodeMpiPlace;

LodeMpiPlace lode_mpi_place(void);

/*
 * Connects to the other ranks. NULL: there is no MPI in this build, or its library cannot be opened
 * (_UNSUPPORTED). Once in a process; to be closed by lode_mpi_close().
 */
LodeRanks *lode_mpi_open(GError **error);

/*
 * Each rank calls it after a piece of work that may fail on one rank only. Gives whether the work
 * succeeded on all ranks, with the same `fingerprint` (below 2^32). Otherwise the error is kept on
 * one rank, with the rank's number unless all have the same error; on all others it is cleared.
 */
bool lode_mpi_agree(LodeRanks *self, bool is_ok, uint32_t fingerprint, GError **error);

/* Closes it after all ranks have called this; the wait uses no processor. */
void lode_mpi_close(LodeRanks *self);
