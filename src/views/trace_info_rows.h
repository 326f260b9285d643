/* SPDX-License-Identifier: MIT */
/* The facts of a packed trace as rows, which `lode trace info` shows as text and CSV. */
#pragma once

#include "traces/trace_summary.h"
#include "views/fact_rows.h"

/* GArray of LodeFactRow, in the order of the view; the caller unrefs it. */
GArray *lode_trace_info_rows(
	const LodeTraceSummary *summary, const LodeTraceDescription *description);

/* "r-x"; the caller frees it. */
char *lode_trace_info_protection(uint32_t protection);
