/* SPDX-License-Identifier: MIT */
/* The first screen: the recording, the patterns that cost most, and the hottest single places; the
 * same facts as JSON and CSV. Private to views/. */
#pragma once

#include "views/findings/report.h"

typedef struct LodeProfile LodeProfile;

/* Writes the findings of a run that has them; run->findings is not NULL. Errors: _IO is the
 * caller's to look for. */
void lode_finding_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, FILE *out);
