/* SPDX-License-Identifier: MIT */
/*
 * How long a core of this machine takes for the instructions that loops wait for, measured: chains
 * in which each instruction needs the one before (A. Fog, "Instruction tables"; A. Abel, J.
 * Reineke, "uops.info", ASPLOS 2019), each beside a chain of additions, of which one takes a
 * cycle. A figure is the median of its runs, so that an interrupt or another program changes none;
 * one whose runs differ much is not known.
 *
 *   time ─▶   additions, load · additions, multiplication · … · additions, load · …
 *
 * Only on x86-64.
 */
#pragma once

#include "machine/machine_figures.h"

#include <stdbool.h>

/* "load", "fp-mul" …; as recordings and the kept file name them. */
const char *lode_core_figure_name(LodeCoreFigure figure);

/* Whether the three are in order and not beyond all reason. */
bool lode_core_cycles_are_valid(const LodeCoreCycles *cycles);

/*
 * Measures all that this processor has, in a child process, which takes some milliseconds and at
 * most a third of a second. Where the processor has cores of two kinds, as where the child was
 * ended, nothing is known.
 */
LodeCoreFigures lode_core_figures_measure(void);

/*
 * As measured on this machine within the last week, or measured now and kept in `path` (NULL: in
 * the user's cache directory, lode/core-figures.ini). A file that is damaged, or of a machine with
 * another processor, is as none. Nothing is known where LODE_PROCESSOR names the processor.
 */
LodeCoreFigures lode_core_figures_of_machine(const char *path);
