/* SPDX-License-Identifier: MIT */
/* Runs in a profile of an older schema version. Private to store/. */
#pragma once

#include "store/database.h"

/* Makes the tables of runs of version 3 the present ones, in the transaction of a database that is
 * open for writing. A later profile stays as it is. */
bool lode_run_reader_upgrade(LodeDatabase *database, GError **error);
