/* SPDX-License-Identifier: MIT */
/*
 * Reads callgrind's output files as callgrind 3.19 really writes them (--dump-instr=yes), into one
 * recording. Addresses stay as written, per object; joining them with binaries is ingest's work.
 *
 * Format: https://valgrind.org/docs/manual/cl-format.html, and where the tool differs from it:
 *  - `jcnd=taken/executed target` and `jump=count target` are followed by a bare position line that
 *    repeats the source and has no cost; the target's position is relative to the last position but
 *    does not become it;
 *  - `jfi=`/`jfn=` name the jump target's file and function; `cfn=` may stand without `calls=`;
 *  - the line after `calls=` has inclusive cost, which is not counted here;
 *  - one instruction occurs in several places: costs are summed by (object, address);
 *  - instructions with a REP prefix count iterations.
 */
#pragma once

#include "base/progress.h"
#include "sources/recording.h"

/*
 * Reads the files in order into one recording. Errors (LODE_ERROR_IO, _CORRUPT, _UNSUPPORTED when
 * a file has no instruction addresses) name file and line: `callgrind.out.1: line 12: …`.
 */
LodeRecording *lode_callgrind_read(
	const char *const *paths, size_t n_paths, const LodeProgress *progress, GError **error);
/* Whether the first bytes of a file look like callgrind output. */
bool lode_callgrind_is_format(const char *data, size_t size);
