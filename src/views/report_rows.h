/* SPDX-License-Identifier: MIT */
/*
 * The list of sequences for programs, with fields that stay:
 *
 *   id, sequence (list of lists), weight, frequency, maximal, differential, places, functions,
 *   executions, events{…}                          instruction runs: id, sequence, count, events{…}
 *
 * CSV has the sequence as JSON text and a column event:NAME for each event. With a baseline the
 * supports are differences from its own, and a last field `baseline` has its id.
 */
#pragma once

#include "model/profile.h"
#include "views/report_values.h"

/* The JSON document: profile, run, unresolved, sequences. `indices` are those to list. */
void lode_report_rows_json(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, FILE *out);

void lode_report_rows_csv(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, FILE *out);
