/* SPDX-License-Identifier: MIT */
/*
 * Latencies that were measured on a core, in place of those of its family's table.
 *
 *   measured   integer to double and back: 12       table   convert-from-integer 7, to-integer 7
 *                                                   taken                        6,            6
 */
#pragma once

#include "images/cores/core.h"
#include "machine/machine_figures.h"

/*
 * Sets the latencies of the classes that measured chains go through. Where a chain has several that
 * no other chain tells apart they keep the table's, or if their sum is less each gets its part of
 * it: a bound must be a least time. A figure next to a whole number is that number, as latencies
 * are whole cycles. Gives how many figures there were; 0: the table is unchanged.
 */
unsigned lode_core_calibrate(LodeCore *self, const LodeCoreFigures *figures);

/* The sum that the table has for a chain. */
double lode_core_table_cycles(const LodeCore *self, LodeCoreFigure figure);
