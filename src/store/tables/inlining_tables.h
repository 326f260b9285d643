/* SPDX-License-Identifier: MIT */
/* The inlinings of a profile as tables of its file, both ways. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;

/* Rows that will be inserted, for progress. */
double lode_inlining_tables_count(const LodeProfile *profile);

/* Fills the empty tables, which must have passed lode_inlining_tables_check(). */
bool lode_inlining_tables_insert(
	const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Reads the tables, if the file has them, after its locations and instructions. */
bool lode_inlining_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* As lode_profile_check(), for them: each outer one stands before its inner ones. */
bool lode_inlining_tables_check(const LodeProfile *profile, GError **error);
