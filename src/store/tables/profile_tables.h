/* SPDX-License-Identifier: MIT */
/* The arrays of a profile as tables of its file, both ways, and their rules. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;

/* Fills the empty tables, but those of runs. The profile must have passed lode_profile_check(). */
bool lode_profile_tables_insert(const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Reads all tables into the empty profile, but those of its memory and of runs, and checks them. */
bool lode_profile_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/*
 * The rules that model/profile.h sets for a profile's arrays: references inside bounds, ranges that
 * follow each other, sorted orders, numbers that are numbers. The writer checks before it writes
 * and the reader after it has read, so that every written profile can be read. _CORRUPT with table
 * and row (from 1) of the first broken rule.
 */
bool lode_profile_check(const LodeProfile *profile, GError **error);
