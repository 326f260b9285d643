/* SPDX-License-Identifier: MIT */
/* What 'lode report' is asked. */
#pragma once

#include "views/findings/report.h"

typedef struct {
	LodeReportOptions report;
	const char *run; /* NULL: the one that was made last */
	bool lists_sequences;
	/* The page to write in place of an answer, or NULL, and the folders of its source. */
	const char *html;
	const char *const *source;
} LodeReportQuestion;
