/* SPDX-License-Identifier: MIT */
/*
 * Counts files of one or several processes → a recording with exact counts and every change of
 * control, as a trace of the same run would give it.
 *
 *   block, its executions ─▶ executions of its instructions, fewer where it was left in its middle
 *   exit                  ─▶ transfer from the last instruction of the one to the first of the
 * other
 */
#pragma once

#include "base/progress.h"
#include "process/images/code_images.h"
#include "sources/code/jit_code_set.h"
#include "sources/recording.h"

/* The caller owns the result. Errors: those of lode_count_file_read(), _LIMIT, _NOT_FOUND where
 * nothing was executed. */
LodeRecording *lode_counted_recording_read(const char *const *paths, size_t n_paths,
	LodeCodeImages *images, LodeJitCodeSet *jit, const LodeProgress *progress, GError **error);
