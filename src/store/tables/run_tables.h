/* SPDX-License-Identifier: MIT */
/* The sequences and findings of a run as tables of the profile file, both ways. Private to store/.
 */
#pragma once

#include "store/database.h"

typedef struct LodeFindings LodeFindings;
typedef struct LodeMiningRun LodeMiningRun;

/*
 * The sequences of a run as rows:
 *
 *   mined_sequence   its elements by number, and the number of its supports
 *   mined_element    a set of attributes, which many sequences have
 *   mined_support    the figures, which sequences of the same places have in common
 *
 * A profile of schema version 3 has them in one table, with names and all figures in each row.
 */

/* Inserts those of a checked run, which has `id` in the file. */
bool lode_sequence_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);

/* Reads items, sequences and event_supports of a run whose attributes and events are there.
 * _CORRUPT.
 */
bool lode_sequence_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);

/*
 * The findings of a run as rows of the tables run_findings, finding and finding_place. They are
 * checked before they are written and after they have been read, so that every written run can be
 * read.
 */

/* Whether elements, attributes and places exist, and figures are in range. `n_instructions` are
 * those of the profile. _CORRUPT with the finding (from 1); NULL has nothing to check. */
bool lode_finding_tables_check(const LodeFindings *findings, size_t n_instructions, GError **error);

/* Removes the findings of the run of this name, and makes the tables if they are missing. */
bool lode_finding_tables_prepare(LodeDatabase *database, const char *name, GError **error);

/* Inserts those of a checked run, which has `id` in the file. */
bool lode_finding_tables_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);

/* Reads run->findings, which stays NULL where the run has none. _CORRUPT. */
bool lode_finding_tables_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);
