/* SPDX-License-Identifier: MIT */
/* Profiles from flow files that a test writes, and made-up ones. */
#pragma once

#include <glib.h>

typedef struct LodeProfile LodeProfile;

/* The profile of such a text. */
LodeProfile *flow_text_read(const char *text);

/*
 * Appends a graph of `n` instructions in a loop with some branches, executed about `count` times:
 * opcodes are PREFIX0 … PREFIX(opcodes − 1).
 */
void flow_text_append_graph(GString *text, const char *name, const char *prefix, unsigned opcodes,
	unsigned n, double count);
