/* SPDX-License-Identifier: MIT */
/* The facts of a profile as rows, which `lode info` shows in every format. */
#pragma once

#include "views/info.h"

typedef struct {
	const char *section; /* "profile", "contents", "quality", "event", "image", "data address",
	                        "unresolved", "run" */
	char *name;
	char *text;    /* the value when it is no number; else NULL */
	double number; /* no number: none */
	double share;  /* no number: none */
	char *detail;  /* may be NULL */
} LodeInfoRow;

/* GArray of LodeInfoRow, in the order of the view; the caller unrefs it. */
GArray *lode_info_rows(const LodeProfile *profile, const GPtrArray *runs);
