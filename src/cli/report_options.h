/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode report`. */
#pragma once

#include "views/report.h"

/* For LodeVerb.options. */
extern const GOptionEntry lode_report_option_table[];

/* To be called once they are parsed: what they say; profile_path and names_run are left to the
 * caller. *out_html is the page to write instead, or NULL, and *out_source the folders of its
 * source. Strings are borrowed from the options. Errors: _USAGE. */
bool lode_report_options_read(LodeReportOptions *report, const char **out_html,
	const char *const **out_source, GError **error);
