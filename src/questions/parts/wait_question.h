/* SPDX-License-Identifier: MIT */
/* What threads waited for, as 'lode report --waits' and the page ask for it. */
#pragma once

#include "questions/asking.h"
#include "views/waits/wait_list.h"

/* Answers for a part of a profile; fills in the terminal of `options`. Errors: those of reading and
 * of lode_wait_list_write(). */
bool lode_waits_answer(LodeAsking *asking, const LodeProfileChoice *choice,
	LodeWaitListOptions *options, GError **error);
