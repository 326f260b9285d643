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

/* The verb's n-th option through all its groups, --help last; NULL after the last. */
const GOptionEntry *lode_verb_option(const LodeVerb *self, size_t n);

/* What stands after "--gap=" in help: "NUMBER", "FILE", "text|json|csv"; NULL: takes no value. */
const char *lode_option_value(const GOptionEntry *option);
