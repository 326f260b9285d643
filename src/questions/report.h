/* SPDX-License-Identifier: MIT */
/* Options of 'lode report'. */
#pragma once

#include "analyses/parts/part_choice.h"
#include "views/findings/report.h"
#include "views/parts/program_list.h"

typedef struct LodeReportQuestion {
	LodeReportOptions report;
	bool has_full_names;
	LodePartChoice part;
	LodeProgramListOptions programs;
	bool lists_programs; /* in place of the run */
	const char *run;     /* NULL: the last run */
	const char *weight;  /* the event; NULL: the profile's */
	bool lists_sequences;
	bool lists_functions, lists_lines;
	bool lists_waits;
	const char *callers, *callees; /* the function whose ones are shown, or NULL */
	const char *image;             /* of the list of functions */
	const char *const *fail_on;    /* causes, or globs of them, separated by commas; NULL */
	/* The HTML file to write instead of an answer, or NULL, and the folders of its source
	 * files. */
	const char *html;
	const char *const *source;
} LodeReportQuestion;
