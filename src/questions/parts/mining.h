/* SPDX-License-Identifier: MIT */
/* The mining of a profile: findings, sequences, or both. */
#pragma once

#include "base/progress.h"
#include "questions/asking.h"

typedef struct LodeMiningParameters LodeMiningParameters;

/* Findings, and sequences unless the parameters want findings alone. The caller owns the run.
 * Errors: _USAGE, _CANCELLED, those of the miner. */
LodeMiningRun *lode_mine(const LodeProfile *profile, const LodeMiningParameters *parameters,
	const char *name, const LodeProgress *progress, GError **error);

/* Sequences alone. Likewise. */
LodeMiningRun *lode_mine_sequences(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const char *name, const LodeProgress *progress,
	GError **error);

/* The costliest sequences: so many or more, at the highest threshold that was tried; fewer if there
 * are no more. Likewise. */
LodeMiningRun *lode_mine_costliest(const LodeProfile *profile,
	const LodeMiningParameters *parameters, uint32_t n, const char *name,
	const LodeProgress *progress, GError **error);

/* Findings by the defaults of 'lode mine', as a run of this name. Likewise. */
LodeMiningRun *lode_mine_by_default(
	const LodeProfile *profile, const char *name, const LodeProgress *progress, GError **error);

/*
 * Mines the chosen part of a profile with the parameters of a run, by the profile's weight where
 * the choice has an event; with `has_sequences` the sequences, too. Likewise.
 */
LodeMiningRun *lode_mine_part(const LodeProfile *profile, const LodeMiningRun *like,
	const LodeProfileChoice *choice, bool has_sequences, const LodeProgress *progress,
	GError **error);
