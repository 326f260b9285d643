/* SPDX-License-Identifier: MIT */
/*
 * The costliest functions for the first screen, a line each:
 *
 *   Functions  inclusive
 *      60.2 %     60.2 %  work, from often
 *      18.0 %     22.1 %  allocator (malloc, _int_malloc, free +3), from parse
 *
 * Functions of a family are one line, unless one of them has nearly all of its time.
 *
 * Private to views/.
 */
#pragma once

#include "analyses/calls/costed_functions.h"
#include "base/text/json_stream.h"
#include "views/form/format.h"

typedef struct {
	const LodeCostedFunctions *functions; /* borrowed */
	GArray *rows;                         /* private; as many as there will be lines */
	double total;
} LodeTopFunctions;

/* `event` is that of the costs; the shares are of what these are the part `user` of, as of all
 * processor time where only the program's own code was sampled. */
void lode_top_functions_init(
	LodeTopFunctions *self, const LodeCostedFunctions *functions, uint32_t event, double user);
void lode_top_functions_clear(LodeTopFunctions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTopFunctions, lode_top_functions_clear)

/* Keeps the first `n` rows. */
void lode_top_functions_keep(LodeTopFunctions *self, guint n);

/* Writes a blank line and a table of at most 80 columns, neither without rows, and whether stacks
 * are short. */
void lode_top_functions_write(
	const LodeTopFunctions *self, const LodeTerminal *terminal, FILE *out);

/*
 * The lines of scripts that cost most, with the native code that they lead to, of the user's own
 * code: each sample counts for the innermost. At most `n`; writes a blank line and a table, neither
 * without such lines.
 */
void lode_script_lines_write(
	const LodeTopFunctions *top, guint n, const LodeTerminal *terminal, FILE *out);

/* Likewise a member "script_lines" of the object that is open, where there are any. */
void lode_script_lines_json(const LodeTopFunctions *top, guint n, LodeJsonStream *json);

/* For the page and scripts, members of the object that is open: "top_functions", an array of the
 * rows, and "notes", of the sentences below them. */
void lode_top_functions_json(const LodeTopFunctions *self, LodeJsonStream *json);
