/* SPDX-License-Identifier: MIT */
/* The arrays of LodeStacks as tables of the profile file, both ways. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeStacks LodeStacks;

/* Rows that will be inserted, for progress. */
double lode_stack_tables_count(const LodeStacks *stacks);

/* Fills the empty tables. The stacks must have passed lode_stack_tables_check(). */
bool lode_stack_tables_insert(const LodeStacks *stacks, LodeDatabase *database, GError **error);

/* Reads all tables into profile->stacks, which stays NULL when the file has no samples in them. */
bool lode_stack_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* As lode_profile_check(), for its stacks. */
bool lode_stack_tables_check(const LodeProfile *profile, GError **error);
