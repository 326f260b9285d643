/* SPDX-License-Identifier: MIT */
/*
 * The summary of a run as rows of table `summary_line`. Like the profile's arrays it is checked
 * before it is written and after it has been read, so that what was written can be read.
 */
#pragma once

#include "model/mining_run.h"
#include "store/database.h"

/* Lines that exist below lines that exist. _CORRUPT with the row (from 1) of the first that does
 * not; a run without summary has nothing to check. */
bool lode_summary_lines_check(const LodeMiningRun *run, GError **error);

/* Inserts the lines of a checked run, which has `id` in the file. */
bool lode_summary_lines_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);

/* Reads and checks the summary of `run`, whose sequences have been read. _CORRUPT. */
bool lode_summary_lines_read(
	LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error);
