/* SPDX-License-Identifier: MIT */
/*
 * Profiles whose samples are drawn from a model with known costs: functions of straight blocks,
 * each of random instructions, of which some cost more by what they are or what comes before them.
 */
#pragma once

#include "model/profile.h"

typedef struct {
	guint32 seed;
	bool is_counted;
	unsigned n_functions;
	double base;        /* samples per execution */
	double div;         /* of an execution of kind:div, above the base */
	double blocked;     /* of a kind:load directly after a kind:store, above the base */
	unsigned n_started; /* further functions that executed once and have one sample */
} PlantedCosts;

typedef struct {
	LodeProfile *profile;
	unsigned n_div, n_blocked;       /* places */
	double div_share, blocked_share; /* expected shares of all weight */
} PlantedProfile;

/* A sample weighs 100,000. The caller frees the profile. */
PlantedProfile planted_profile_new(const PlantedCosts *costs);
