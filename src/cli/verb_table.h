/* SPDX-License-Identifier: MIT */
/* The verbs from recording to viewing, and their options in the order of --help. */
#pragma once

#include "cli/verb.h"

/* NULL-terminated. */
extern const LodeVerb *const lode_verbs[];

/*
 * The verb at the beginning of a command line (NULL-terminated), or NULL. A verb of two words,
 * "memory record", is preferred to one of its first word. *out_n_words: the number of words of the
 * verb.
 */
const LodeVerb *lode_verb_find(char *const *words, size_t *out_n_words);

/* Its name with `separator` between the words: "memory-record" in the name of its man page. Free
 * with g_free().
 */
char *lode_verb_name(const LodeVerb *self, char separator);

/* The verb's options under their headings, --help last; parameters of the page are included. The
 * caller frees the list with g_free(). */
LodeParameterGroup *lode_verb_groups(const LodeVerb *self);
