/* SPDX-License-Identifier: MIT */
/* Which sequences of a run a report shows. */
#pragma once

#include "views/report.h"
#include "views/report_key.h"

/*
 * One flag for each sequence: false = left out by the options' supports, size, attributes or
 * percent limit. The caller frees it. _USAGE: an empty glob, too many of them, or a percent limit
 * on a key that is not a share.
 */
bool *lode_report_filter_apply(const LodeMiningRun *run, const LodeReportOptions *options,
	const LodeReportKey *key, GError **error);
