/* SPDX-License-Identifier: MIT */
/* Rows of parameters that are shared by verbs. */
#pragma once

#include "base/parameter.h"

/* clang-format off */
#define LODE_FORMAT_ROW(type, field) \
	{"format", LODE_WORD(type, field), .value = "text|json|csv", \
		.summary = "output format (default: text)"}

#define LODE_FULL_NAMES_ROW(type, field) \
	{"full-names", LODE_FLAG(type, field), .audience = LODE_PARAMETER_FOR_TERMINAL, \
		.summary = "names of functions and types in full, with parameters, default " \
			   "template arguments and hashes"}

#define LODE_OWN_ROW(type, field) \
	{"own", LODE_TEXTS(type, field), .value = "GLOB", \
		.summary = "source files that match are your own, although they are in the " \
			   "toolchain's folders: places are named by the innermost own line; may " \
			   "be repeated"}
/* clang-format on */

/* clang-format off */
#define LODE_EVENT_ROW(type, field) \
	{"weight", LODE_TEXT(type, field), .value = "EVENT", \
		.summary = "weigh by this event: 'waiting' is time that threads waited, " \
			   "'clock' with that in which they ran; 'latency' is time by the " \
			   "clock in which threads ran, of programs of several (default: " \
			   "the profile's, see 'lode info')"}
/* clang-format on */

#define LODE_ORIGIN_SUMMARY                                                                        \
	"of a merged profile, only what the origins gave whose name or host matches, or that "     \
	"have this number in 'lode info'; may be repeated"

#define LODE_SOURCE_SUMMARY                                                                        \
	"also show source files below this folder; without it only those below the folders "       \
	"where the recorded programs were compiled, and the toolchain's; may be repeated"
