/* SPDX-License-Identifier: MIT */
/* The table of thread_times.sql. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;

/* Inserts rows that passed lode_thread_time_table_check(). */
bool lode_thread_time_table_insert(
	const LodeProfile *profile, LodeDatabase *database, GError **error);

/* Appends to profile->thread_times, which stay empty in profiles that have no such table. */
bool lode_thread_time_table_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Whether each thread ends after it begins. _CORRUPT: table and row. */
bool lode_thread_time_table_check(const LodeProfile *profile, GError **error);
