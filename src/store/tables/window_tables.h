/* SPDX-License-Identifier: MIT */
/* The tables of what windows observed. Private to store/. */
#pragma once

#include "store/database.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeWindows LodeWindows;

/* How many rows the tables have. */
double lode_window_tables_count(const LodeWindows *windows);

bool lode_window_tables_insert(const LodeWindows *windows, LodeDatabase *database, GError **error);

/* Reads and checks them; the profile's instructions are there. profile->windows stays NULL where
 * there were none, as in profiles of schema versions 3 and 4. */
bool lode_window_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/* Whether references exist, rows are in order and each part is at most its whole. _CORRUPT. */
bool lode_window_tables_check(const LodeProfile *profile, GError **error);
