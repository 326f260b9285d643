/* SPDX-License-Identifier: MIT */
/*
 * A profile as one HTML file: the page of lode serve with the answers it would request, as far as
 * they fit. It opens from disk, and needs no server and no network.
 */
#pragma once

#include "base/progress.h"
#include "store/profile_store.h"
#include "views/code/source_text.h"

#include <stdio.h>

typedef struct {
	const char *path; /* of the profile */
	const char *run;  /* NULL: the run made last */
	/* The source files that may be in the file. Its tables, which must exist, get the files
	 * that are included and those refused. */
	const LodeSourceAccess *source;
} LodeHtmlReportOptions;

/*
 * Writes a profile to `out`. The file says which parts did not fit. Errors: _UNSUPPORTED (lode was
 * built without the page), those of reading, _IO.
 */
bool lode_html_report_write(const LodeHtmlReportOptions *options, const LodeProgress *progress,
	FILE *out, GError **error);
