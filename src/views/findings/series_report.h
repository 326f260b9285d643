/* SPDX-License-Identifier: MIT */
/*
 * What changed between two versions of a program that ran by turns, as text, JSON, CSV and
 * Markdown:
 *
 *   B takes 39.4 % less processor time (38.8 to 40.1 %), and no other time by the clock: no
 *   difference above 2.1 %.
 *
 *        A       B   change          between  what
 *   2.31 s  1.40 s  −39.4 %   −40.1 … −38.8 %  processor time
 *   0.90 s     0 s  −38.9 %   −39.9 … −38.0 %  function parse
 */
#pragma once

#include "analyses/compare/run_series.h"
#include "views/form/format.h"

typedef enum {
	LODE_SERIES_TEXT,
	LODE_SERIES_JSON,
	LODE_SERIES_CSV,
	LODE_SERIES_MARKDOWN,
} LodeSeriesFormat;

typedef struct {
	LodeSeriesFormat format;
	LodeTerminal terminal;
	const char *commands[2]; /* as a user would type them */
	bool is_all;             /* what did not change, too */
} LodeSeriesReportOptions;

/* Errors: _IO. */
bool lode_series_report_write(const LodeRunSeries *series, const LodeSeriesReportOptions *options,
	FILE *out, GError **error);
