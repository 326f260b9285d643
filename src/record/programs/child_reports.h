/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: what wait4(2) says of the children of this thread, which is an end or a stop.
 * A program that calls PTRACE_TRACEME, as a check against debuggers does, makes its parent its
 * tracer, and from then on each signal stops it.
 */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Takes all reports that have come, without waiting, and gives whether the child `pid` has ended.
 * Stopped children are detached from, and go on with the signal. To be called by the thread that
 * started the child. `out_usage`: NULL, not wanted.
 */
bool lode_child_reports_take(pid_t pid, int *out_status, struct rusage *out_usage);
