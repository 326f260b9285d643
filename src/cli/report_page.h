/* SPDX-License-Identifier: MIT */
/* lode report --html: the report as the page of lode serve, in one file. */
#pragma once

#include "questions/report.h"

/* Writes options->html. Gives the exit status. Errors: those of lode_html_report_write(), _IO. */
int lode_report_page_write(const LodeReportQuestion *options, const char *path, GError **error);
