/* SPDX-License-Identifier: MIT */
/*
 * The sequences of a run as rows:
 *
 *   mined_sequence   its elements by number, and the number of its supports
 *   mined_element    a set of attributes, which many sequences have
 *   mined_support    the figures, which sequences of the same places have in common
 *
 * A profile of schema version 3 has them in one table, with names and all figures in each row.
 * Private to store/.
 */
#pragma once

#include "store/database.h"

typedef struct LodeMiningRun LodeMiningRun;

/* Inserts those of a checked run, which has `id` in the file. */
bool lode_sequence_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);

/* Reads items, sequences and event_supports of a run whose attributes and events are there.
 * _CORRUPT.
 */
bool lode_sequence_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);
