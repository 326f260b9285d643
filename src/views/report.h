/* SPDX-License-Identifier: MIT */
/* The report of a mining run: the summary tree (text) or the list of sequences (text, JSON,
 * CSV). */
#pragma once

#include "analyses/mine/summary.h"
#include "base/progress.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/format.h"

typedef struct {
	double min, max; /* shares; a sequence outside is left out */
} LodeReportRange;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path; /* for the hints below the list */
	bool names_run;           /* the hints name the run: it is not the one made last */
	const char *sort;         /* excess weight … event:NAME sequence; NULL: excess */
	bool is_reversed;
	bool show_all;  /* every sequence instead of the summary tree */
	uint32_t limit; /* lines, in the tree of depth 0; 0: the view's default (tree 15, closed
	                 * list as text 50, else all)
	                 */
	LodeReportRange weight, frequency, maximal, differential;
	uint32_t min_size, max_size; /* max 0: unlimited */
	const char *const *with;     /* globs, NULL-terminated; NULL: none */
	const char *const *without;
	uint64_t baseline;    /* sequence id; 0: none */
	double percent_limit; /* leave out lines whose sort key is below, in percent */
} LodeReportOptions;

/* The defaults: the summary tree as plain text, nothing filtered. */
void lode_report_options_init(LodeReportOptions *self);

/*
 * Writes the report to `out`: the summary tree where text is asked for in one of its orders, with
 * no reversal and no baseline; otherwise the list, of closed sequences unless show_all. Supports
 * are relative to those of the baseline where there is one. A key that is not a share takes no
 * percent_limit.
 * Errors: _IO (write), _USAGE (sort key, glob, percent limit), _NOT_FOUND (baseline).
 */
bool lode_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, const LodeProgress *progress, FILE *out, GError **error);
