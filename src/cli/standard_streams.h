/* SPDX-License-Identifier: MIT */
/*
 * Standard input, output and error at the edges of the program: there from the start, so that no
 * file of ours gets their numbers, and checked at the end, so that lost output is not a success.
 */
#pragma once

#include <stdbool.h>

/* Fills closed descriptors 0 … 2, and makes a closed pipe an error instead of a sudden end. */
void lode_standard_streams_open(void);

/* Whether printing failed because the reader of a pipe went away. */
bool lode_standard_output_is_broken_pipe(void);

/*
 * Flushes and closes standard output. Gives `status`, or the status of a failed write, which it
 * reports: a full disk in words, a closed pipe as SIGPIPE's end, which shells do not mention.
 */
int lode_standard_streams_close(int status);
