/* SPDX-License-Identifier: MIT */
/* The lines of inlined functions as text and in JSON, from what lode_own_lines_chain() gives. */
#pragma once

#include "base/text/json_stream.h"
#include "model/lines/own_lines.h"
#include "views/form/format.h"

/*
 * Appends the lines from the `first` on, each after its function:
 *
 *   worker main.cpp:19 → Cache::find order.hpp:23 → std::operator== basic_string.h:3587
 *
 * Of many, those between the first, the user's own and the last are "…", unless the terminal wants
 * full names.
 */
void lode_inlined_lines_append(
	GString *out, const GArray *chain, guint first, const LodeTerminal *terminal);

/* A list with an object {function, file, line} for each line, the innermost last; an empty one
 * where nothing is inlined. Brief: with short names alone, where there is a chain for each
 * instruction. */
void lode_inlined_lines_json(LodeJsonStream *json, const GArray *chain, bool is_brief);
