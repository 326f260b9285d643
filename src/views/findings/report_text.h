/* SPDX-License-Identifier: MIT */
/* The list of sequences for people, as a table. Private to views/. */
#pragma once

#include "views/findings/report.h"
#include "views/findings/report_values.h"
#include "views/form/table.h"

/* A table of sequences; the sort key has a column in any case. */
void lode_report_list_write(const LodeProfile *profile, const LodeReportValues *values,
	const GArray *indices, const LodeReportKey *key, const LodeReportOptions *options,
	FILE *out);

/* The first screen: the recording, the patterns that cost most, and the hottest single places; the
 * same facts as JSON and CSV. Writes the findings of a run that has them; run->findings is not
 * NULL. Errors: _IO is the caller's to look for. */
void lode_finding_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, FILE *out);
