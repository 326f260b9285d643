/* SPDX-License-Identifier: MIT */
/*
 * The ranks that mpirun or srun started, by Open MPI's library, which is opened only then. What a
 * program needs beside LodeRanks: that all know when one of them failed, and that the first
 * one speaks for all.
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
 * Meets the other ranks. NULL: there is no MPI in this build, or its library cannot be opened
 * (_UNSUPPORTED). Once in a process; to be closed by lode_mpi_close().
 */
LodeRanks *lode_mpi_open(GError **error);

/*
 * For each rank to call once it has done a piece of work that may fail on it alone: whether it went
 * well on all, and all have the same `fingerprint` (numbers below 2^32). When not, the error of one
 * rank is left, with its number where the others do not have it too; all others' are cleared.
 */
bool lode_mpi_agree(LodeRanks *self, bool is_ok, uint32_t fingerprint, GError **error);

/* Waits, without a processor, until all ranks are here. */
void lode_mpi_close(LodeRanks *self);
