/* SPDX-License-Identifier: MIT */
/* Questions of the command line: they are about files, and the answers are printed. */
#pragma once

#include "questions/verb.h"

typedef struct LodeReportQuestion LodeReportQuestion;
typedef struct LodeSimulateOptions LodeSimulateOptions;

/*
 * Answers a question whose options are filled; `arguments` are the files. Gives the exit status;
 * with an error it is the status of that error. Errors: _USAGE, those of the question.
 */
int lode_terminal_ask(const LodeVerb *question, void *options, char **arguments, GError **error);

/* Likewise, without a progress: answer and notes go to `out`, and whether something was found that
 * the question checks for is in the answer alone. */
bool lode_terminal_ask_into(
	const LodeVerb *question, void *options, char **arguments, FILE *out, GError **error);

/* lode report --html: the report as the page of lode serve, in one file. Writes options->html.
 * Gives the exit status. Errors: those of lode_html_report_write(), _IO. */
int lode_report_page_write(const LodeReportQuestion *options, const char *path, GError **error);

/* lode trace simulate -- PROGRAM: the part of the question that only the command line has. Runs
 * the program after "--", and simulates its processes: each by itself, or misses by place of all
 * together. The exit status is the program's. Errors: _USAGE, those of lode_trace_recording_run(),
 * _IO, _NOT_FOUND where nothing was simulated. */
int lode_trace_simulate_program(LodeSimulateOptions *options, char **arguments, GError **error);
