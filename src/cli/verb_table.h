/* SPDX-License-Identifier: MIT */
/* The verbs from recording to viewing, and their options in the order of --help. */
#pragma once

#include "cli/verb.h"

/* NULL-terminated. */
extern const LodeVerb *const lode_verbs[];

/*
 * The verb that a command line (NULL-terminated) begins with, or NULL. A verb may have two words,
 * "memory record"; it goes before one of its first word. *out_n_words says how many it took.
 */
const LodeVerb *lode_verb_find(char *const *words, size_t *out_n_words);

/* Its name with `separator` between the words: "memory-record" is its page's. Free with g_free().
 */
char *lode_verb_name(const LodeVerb *self, char separator);

/* The verb's options under their headings, --help last; those for the page alone are among them.
 * The caller frees the list with g_free(). */
LodeParameterGroup *lode_verb_groups(const LodeVerb *self);
