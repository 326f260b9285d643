/* SPDX-License-Identifier: MIT */
/* Parameters that choose a part of a profile by its samples: --thread, --command, --pid, --time,
 * --where. */
#pragma once

#include "analyses/parts/part_choice.h"
#include "base/parameter.h"

/* Rows for a LodePartChoice. */
extern const LodeParameter lode_part_rows[];

/* Their names, for .excludes. */
#define LODE_PART_NAMES "thread command pid time where"

/* The parameters that say which run an answer is from, the stored one or one mined for a part: for
 * lode_asking_key(); NULL-terminated. */
extern const char *const lode_run_parameters[];

/* "--thread worker --time 1.5..2", as words of a shell; "" for the whole. Equal for equal choices.
 * The caller frees it. */
char *lode_part_options(const LodePartChoice *choice);
