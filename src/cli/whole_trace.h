/* SPDX-License-Identifier: MIT */
/* Whether what a verb made of a trace is of all of it. */
#pragma once

#include "model/profile.h"

/* False when the file is a trace that is cut short or damaged; then standard error says so, with
 * the verb's name before and `consequence` ("what is whole was imported") after it. */
bool lode_whole_trace_check(
	const char *verb, const char *path, const LodeProfile *profile, const char *consequence);
