/* SPDX-License-Identifier: MIT */
/*
 * Faults that libraries cannot report as errors: memory is exhausted, or a mapped file was
 * truncated. Each ends lode with a message.
 */
#pragma once

/*
 * Installs handlers: a failed allocation or thread start in GLib, and an access beyond the end of a
 * truncated mapped file, remove the temporary files and exit with LODE_EXIT_FAILED instead of
 * killing the program. Other faults keep their default action.
 */
void lode_fatal_faults_catch(void);
