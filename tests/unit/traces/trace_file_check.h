/* SPDX-License-Identifier: MIT */
/* Writes references to a file and reads them again, for the tests of .rps files. */
#pragma once

#include "traces/trace_reader.h"
#include "traces/trace_writer.h"

/* Of a file to be made in a folder of its own; the caller owns it. */
char *lode_new_trace_path(void);

/* With its folder, which has nothing else in it. */
void lode_remove_trace(const char *path);

/* Fails the test when writing fails. Describes the trace early, too, when there are several frames.
 */
void lode_write_trace(
	const char *path, const GArray *references, const LodeTraceWriterOptions *options);

/* All references of all frames up to the end or an error; the caller owns them. */
GArray *lode_read_trace(LodeTraceReader *reader, GError **error);

/* Fails the test unless `part` is references of `whole` from `first` on. */
void lode_assert_references(const GArray *part, const GArray *whole, uint64_t first);
