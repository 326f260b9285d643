/* SPDX-License-Identifier: MIT */
/* Where the time by the clock went, in words: of the head, and of tables of waits. */
#pragma once

#include "analyses/waits/wait_groups.h"
#include "views/form/format.h"

/*
 * "12.3 s by the clock: 4 % running, 61 % waiting for log_lock, 27 % in fsync (note.log)", of the
 * critical path where there is one and it waits, else of the time of all threads, which is said.
 * NULL: no waits are known, or a tenth of that time is not waiting that counts
 * (lode_wait_group_counts()). The caller frees it.
 */
char *lode_waits_head(const LodeProfile *profile, const LodeTerminal *terminal);

/* "post (ledger.c:31)"; nothing is appended where nothing is known. */
void lode_wait_append_place(GString *out, const LodeWaitPlace *place, const LodeTerminal *terminal);
