/* SPDX-License-Identifier: MIT */
/* The options that say how to mine, shared by `lode mine` and `lode run`, and the mining itself. */
#pragma once

#include "base/progress.h"
#include "base/ranks.h"
#include "cli/verb.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <stdio.h>

/* For LodeVerb.groups. */
extern const LodeOptionGroup lode_mining_groups[];

/*
 * What the options say, once they are parsed; strings are borrowed from them. Errors: _USAGE, also
 * for options that do not go together.
 */
bool lode_mining_options_read(LodeMiningParameters *out_parameters, GError **error);

/* Whether any of them says which sequences to mine; options on what is mined, such as --weight,
 * are of the findings too. */
bool lode_mining_options_ask_for_sequences(void);

/* Mines `profile` by these parameters; the run has the name that the options give. The caller owns
 * it, and stores it. */
LodeMiningRun *lode_mining_options_mine(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const LodeProgress *progress, GError **error);

/*
 * The same by several ranks, which all call it. The first one gets the run; another gets one that
 * is not to be stored. NULL without an error: another rank has the error.
 */
LodeMiningRun *lode_mining_options_mine_shared(const LodeProfile *profile,
	const LodeMiningParameters *parameters, LodeRanks *ranks, const LodeProgress *progress,
	GError **error);

/* One line on what ranks told each other. */
void lode_mining_options_write_traffic(const LodeRanks *ranks, FILE *out);

/*
 * The sequences of a run that has only findings yet, by its own parameters: the whole run, with the
 * findings taken from `run`. It replaces the stored one; where it cannot be stored, standard error
 * says so. The caller owns the result. Errors: as lode_miner_run().
 */
LodeMiningRun *lode_mining_options_mine_rest(const char *path, const LodeProfile *profile,
	LodeMiningRun *run, const LodeProgress *progress, GError **error);

/* Says on standard error what the bound on memory left out of the findings of a new run, if
 * anything. */
void lode_mining_options_warn(const LodeMiningRun *run, const char *verb);

/* One line on a run: how many sequences, how long it took, what was left out. */
void lode_mining_options_write_summary(const LodeMiningRun *run, const char *path, FILE *out);
