/* SPDX-License-Identifier: MIT */
/* The arrays of LodeMemory as tables of the profile file, both ways. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeMemory LodeMemory;
typedef struct LodeProfile LodeProfile;

/* Rows that will be inserted, for progress. */
double lode_memory_tables_count(const LodeMemory *memory);

/* Fills the empty tables. The memory must have passed lode_memory_check(). */
bool lode_memory_tables_insert(const LodeMemory *memory, LodeDatabase *database, GError **error);

/* Reads all tables into profile->memory, which stays NULL when the file says that it has none. */
bool lode_memory_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* As lode_profile_check(), for its memory. */
bool lode_memory_check(const LodeProfile *profile, GError **error);
