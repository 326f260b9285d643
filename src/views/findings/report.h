/* SPDX-License-Identifier: MIT */
/* The report of a mining run: its findings, or the list of its sequences, as text, JSON or CSV. */
#pragma once

#include "analyses/diagnoses/diagnoses.h"
#include "base/progress.h"
#include "views/form/format.h"

typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;

typedef struct {
	double min, max; /* shares; a sequence outside is left out */
} LodeReportRange;

/* The sequences that are listed. */
typedef struct {
	LodeReportRange weight, frequency, maximal, differential;
	uint32_t size[2];        /* attributes, at least and at most; most 0: unlimited */
	uint32_t min_functions;  /* that have it */
	const char *const *with; /* globs, NULL-terminated; NULL: none */
	const char *const *without;
	const char *text; /* words: each is part of the name of an attribute, in any case; NULL */
	double percent_limit; /* leave out lines whose sort key is below, in percent */
} LodeSequenceFilter;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path;   /* for the hints below the list */
	const char *const *origins; /* likewise: those that were chosen; NULL: not by an option */
	bool names_run;             /* the hints name the run: it is not the one made last */
	const char *sort;           /* excess weight … event:NAME sequence; NULL: excess */
	bool is_reversed;
	bool show_all;       /* every sequence instead of the findings */
	bool is_explained;   /* diagnoses with all their evidence, findings with what their patterns
	                        usually mean */
	bool shows_findings; /* in place of diagnoses */
	uint32_t diagnosis, finding;    /* this one alone, from 1; 0: all */
	const LodeDiagnoses *diagnoses; /* borrowed; NULL: made, and none is muted */
	const char *muting;             /* the file that muted some, for people; NULL: the default
	                                 */
	uint32_t limit; /* findings or sequences; 0: the view's default (findings as text: what fits
	                 * a screen, closed list as text 50, else all) */
	LodeSequenceFilter filter;
	uint64_t baseline;      /* sequence id; 0: none */
	const char *const *own; /* globs of files, as of lode_own_lines_new(); NULL: none */
	/* JSON for the page of lode serve: the list has `limit` sequences after the first `offset`
	 * ones, and says how many pass the filters ("passed"); findings say which are listed as
	 * patterns ("is_spread") and how many of their places the profile has ("kept"), and their
	 * places which function they are in. */
	bool is_page;
	uint32_t places; /* of each finding, in JSON for the page; 0: all that the profile has */
	/* Results that a caller which shows page after page has kept, borrowed; NULL: they are
	 * computed:
	 */
	const bool *is_closed;   /* [sequences] lode_closed_mark() */
	const GArray *sequences; /* lode_report_choose() */
	uint32_t offset;
} LodeReportOptions;

/* The defaults: the findings as plain text, nothing filtered. */
void lode_report_options_init(LodeReportOptions *self);

/* Whether an option needs a list of sequences, or the run has no findings. */
bool lode_report_lists_sequences(const LodeMiningRun *run, const LodeReportOptions *options);

/*
 * The sequences that a list has by its filters and its order: GArray of uint32_t, indices in the
 * run, which the caller unrefs. Offset, limit and baseline do not count. Errors: as of
 * lode_report_write(), and _CANCELLED.
 */
GArray *lode_report_choose(const LodeMiningRun *run, const LodeReportOptions *options,
	const LodeProgress *progress, GError **error);

/*
 * Writes the report to `out`: the findings where the run has them and there is no order, filter or
 * baseline; otherwise the list of sequences, of closed ones unless show_all. From supports those of
 * the baseline are taken where there is one. A key that is not a share takes no percent_limit.
 * Errors: _IO (write), _USAGE (sort key, glob, percent limit, findings to be explained where none
 * are shown), _NOT_FOUND (baseline).
 */
bool lode_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, const LodeProgress *progress, FILE *out, GError **error);
