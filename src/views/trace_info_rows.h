/* SPDX-License-Identifier: MIT */
/* The facts of a packed trace as rows, which `lode trace info` shows as text and CSV. */
#pragma once

#include "traces/trace_summary.h"

typedef struct {
	const char *section; /* "trace", "reference", "structure", "class", "stream", "thread",
	                        "mapping", "total" */
	char *name;
	char *text;    /* the value when it is no number; else NULL */
	double number; /* no number: none */
	double share;  /* no number: none */
	double bits;   /* a reference; no number: none */
	char *detail;  /* may be NULL */
	bool is_alarm;
} LodeTraceInfoRow;

/* GArray of LodeTraceInfoRow, in the order of the view; the caller unrefs it. */
GArray *lode_trace_info_rows(
	const LodeTraceSummary *summary, const LodeTraceDescription *description);

/* "fetch", "load", "store", "modify". */
const char *lode_trace_info_kind(LodeReferenceKind kind);

/* "r-x"; the caller frees it. */
char *lode_trace_info_protection(uint32_t protection);
