/* SPDX-License-Identifier: MIT */
/* The programs of a profile, as 'lode report --programs' and the page ask for them. */
#pragma once

#include "questions/asking.h"
#include "views/parts/program_list.h"

#define LODE_PROGRAMS_BY_SUMMARY                                                                   \
	"rows for each command (default), process or thread, by their samples"

/* Answers for a part. Errors: those of reading, _UNSUPPORTED: there are no samples. */
bool lode_programs_answer(LodeAsking *asking, LodeProgramListOptions *options,
	const LodePartChoice *part, GError **error);
