/* SPDX-License-Identifier: MIT */
/* What happens when there is no memory left: a line that says so, and an orderly end. */
#pragma once

/*
 * From now on an allocation that GLib cannot do without, and a thread that it cannot start, end the
 * program with LODE_EXIT_FAILED, without temporary files, where GLib alone would abort it.
 */
void lode_out_of_memory_catch(void);
