/* SPDX-License-Identifier: MIT */
/*
 * The tables of origins.sql: the origins of a profile, and what each gave to a merged one.
 *
 * Private to store/.
 */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;

/* Rows that lode_origin_tables_insert() writes, for progress. */
double lode_origin_tables_count(const LodeProfile *profile);

/* Inserts origins that passed lode_origin_tables_check(). */
bool lode_origin_tables_insert(const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Appends to profile->origins, which stay empty in profiles that have no such table. */
bool lode_origin_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Makes profile->origin_parts; it stays NULL where nothing was merged. */
bool lode_origin_tables_read_parts(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Whether all references exist, and rows stand in their order. _CORRUPT: table and row. */
bool lode_origin_tables_check(const LodeProfile *profile, GError **error);
