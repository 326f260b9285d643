/* SPDX-License-Identifier: MIT */
/*
 * Private to sources/. The command line of perf that a recording has, of which only a part is the
 * program that ran:
 *
 *     perf record -F 999 -e cycles:u ./program argument
 */
#pragma once

#include <glib.h>

/*
 * The number of the word that the program begins with; 0: there is none, or it was not recorded, as
 * in 'perf record -p 4711 sleep 10'. As of perf 6.1; an unknown option is taken to have no word of
 * its own after it.
 */
guint lode_perf_command_line_program(const char *const *words, guint n_words);
