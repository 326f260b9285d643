/* SPDX-License-Identifier: MIT */
/* The rows of table `run`, and which of them has a name. */
#pragma once

#include "store/database.h"

/* All runs in the order they were made: GPtrArray of LodeRunSummary, freed with it; their ids go
 * to `out_ids` (int64_t), which may be NULL. */
GPtrArray *lode_run_list_read(LodeDatabase *database, GArray *out_ids, GError **error);
