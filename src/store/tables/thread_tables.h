/* SPDX-License-Identifier: MIT */
/* When threads ran, and where they waited: the tables of thread_times.sql and waits.sql.
 * Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeWaits LodeWaits;

/* Inserts rows that passed lode_thread_time_table_check(). */
bool lode_thread_time_table_insert(
	const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Appends to profile->thread_times, which stay empty in profiles that have no such table. */
bool lode_thread_time_table_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Whether each thread ends after it begins. _CORRUPT: table and row. */
bool lode_thread_time_table_check(const LodeProfile *profile, GError **error);

double lode_wait_tables_count(const LodeWaits *waits);

/* Inserts rows that passed lode_wait_tables_check(). */
bool lode_wait_tables_insert(const LodeWaits *waits, LodeDatabase *database, GError **error);

/* Sets profile->waits; it stays NULL in profiles that have none. Whether stacks that it refers to
 * exist is for lode_wait_tables_check(), when these are read too. */
bool lode_wait_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Whether the rows refer to stacks and causes that exist, and shares are at most 1. _CORRUPT: table
 * and row. */
bool lode_wait_tables_check(const LodeProfile *profile, GError **error);
