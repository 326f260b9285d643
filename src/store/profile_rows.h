/* SPDX-License-Identifier: MIT */
/* The arrays of a profile as rows of its tables. */
#pragma once

#include "model/profile.h"
#include "store/database.h"

/* Fills the empty tables, but those of runs. The profile must have passed lode_profile_check(). */
bool lode_profile_rows_insert(const LodeProfile *profile, LodeDatabase *database, GError **error);
