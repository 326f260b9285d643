/* SPDX-License-Identifier: MIT */
/* The facts of a profile as rows, which `lode info` shows in every format. */
#pragma once

#include "model/profile.h"
#include "views/fact_rows.h"

/* GArray of LodeFactRow, in the order of the view; the caller unrefs it. */
GArray *lode_info_rows(const LodeProfile *profile, const GPtrArray *runs);
