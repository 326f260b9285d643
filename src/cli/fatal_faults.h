/* SPDX-License-Identifier: MIT */
/*
 * Faults that libraries cannot report as errors: no memory left, and a mapped file that became
 * shorter. Each ends lode with a line that says so.
 */
#pragma once

/*
 * From now on an allocation that GLib cannot do without, a thread that it cannot start, and an
 * access to a part that a mapped file has lost end the program with LODE_EXIT_FAILED, without
 * temporary files, where they would kill it. Other faults are as they were.
 */
void lode_fatal_faults_catch(void);
