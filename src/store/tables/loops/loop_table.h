/* SPDX-License-Identifier: MIT */
/* The loops of a profile as a table of its file, both ways. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;

/* Fills the empty table with what has passed lode_loop_table_check(). */
bool lode_loop_table_insert(const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Reads the table, if the file has one, after its instructions. */
bool lode_loop_table_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* As lode_profile_check(), for them: one for each head, in order. */
bool lode_loop_table_check(const LodeProfile *profile, GError **error);
