/* SPDX-License-Identifier: MIT */
/* The places of one sequence by cost, each with its code, source lines and events. */
#pragma once

#include "base/progress.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path; /* for the hints; may be NULL */
	bool names_run;           /* the hints name the run: it is not the one made last */
	uint64_t id;              /* of the sequence, from 1 */
	uint32_t limit;           /* places; 0: the view's default (text 10, JSON and CSV all) */
	bool shows_sampled;       /* text: also the weight where it was sampled */
	uint32_t context;         /* instructions before and after the matched ones */
} LodeAnnotateOptions;

/* Text, three instructions around. */
void lode_annotate_options_init(LodeAnnotateOptions *self);

/* Writes to `out`. Errors: _NOT_FOUND (no such sequence in the run, no such attribute in the
 * profile), _USAGE (a run whose occurrences cannot be found again), _IO. */
bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out,
	GError **error);
