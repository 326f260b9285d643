/* SPDX-License-Identifier: MIT */
/* The mining options of `lode mine` and `lode run`, and the mining itself. */
#pragma once

#include "base/parameter.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "model/mining_run.h"

#include <stdio.h>

typedef struct {
	/* min_support below 0: derived from the number of samples. `exclude` is not set. */
	LodeMiningParameters parameters;
	const char *name; /* of the run */
	const char *const *exclude;
	/* An option that selects sequences is given; options such as --weight select findings, too.
	 */
	bool asks_for_sequences;
} LodeMiningOptions;

/* Rows for a LodeMiningOptions, which lode_mining_options_init() has set. */
extern const LodeParameter lode_mining_threshold_rows[], lode_mining_shape_rows[],
	lode_mining_graph_rows[], lode_mining_instruction_rows[], lode_mining_work_rows[];

/* clang-format off */
/* Their groups, for a field of a verb's struct. */
#define LODE_MINING_GROUPS(type, field, rare) \
	{"What is reported", lode_mining_threshold_rows, offsetof(type, field), rare}, \
	{"What a sequence is", lode_mining_shape_rows, offsetof(type, field), rare}, \
	{"What is mined", lode_mining_graph_rows, offsetof(type, field), rare}, \
	{"Instruction sequences", lode_mining_instruction_rows, offsetof(type, field), rare}, \
	{"The run", lode_mining_work_rows, offsetof(type, field), rare}
/* clang-format on */

/* The defaults. */
void lode_mining_options_init(LodeMiningOptions *self);

/* Mines `profile` with these options. The caller owns the run, and stores it. */
LodeMiningRun *lode_mining_options_mine(const LodeMiningOptions *self, const LodeProfile *profile,
	const LodeProgress *progress, GError **error);

/*
 * The same by several ranks, which all call it. The first one gets the run; the others get runs
 * that must not be stored. NULL without an error: a different rank has the error.
 */
LodeMiningRun *lode_mining_options_mine_shared(const LodeMiningOptions *self,
	const LodeProfile *profile, LodeRanks *ranks, const LodeProgress *progress, GError **error);

/* One line on the messages between ranks. */
void lode_mining_options_write_traffic(const LodeRanks *ranks, FILE *out);

/*
 * Mines the sequences of a run that has only findings yet, with its own parameters. The result is
 * the whole run, with the findings taken from `run`. It replaces the stored one, unless `path` is
 * NULL; if storing fails, a message is printed on standard error. The caller owns the result.
 * Errors: as lode_miner_run().
 */
LodeMiningRun *lode_mining_options_mine_rest(const char *path, const LodeProfile *profile,
	LodeMiningRun *run, const LodeProgress *progress, GError **error);

/* Prints on standard error how much the bound on memory left out of the findings of a new run, if
 * anything. */
void lode_mining_options_warn(const LodeMiningRun *run, const char *verb);

/* One line on a run: the number of sequences, the time, and the sequences left out. */
void lode_mining_options_write_summary(const LodeMiningRun *run, const char *path, FILE *out);
