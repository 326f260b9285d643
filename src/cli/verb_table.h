/* SPDX-License-Identifier: MIT */
/* The verbs in the order of the data's way, and their options in the order of --help. */
#pragma once

#include "cli/verb.h"

/* NULL-terminated. */
extern const LodeVerb *const lode_verbs[];

/* The verb of that name, or NULL. */
const LodeVerb *lode_verb_find(const char *name);

/* The verb's n-th option through all its groups, --help last; NULL behind the end. */
const GOptionEntry *lode_verb_option(const LodeVerb *self, size_t n);

/* What stands behind "--gap=" in help: "NUMBER", "FILE", "text|json|csv"; NULL: takes no value. */
const char *lode_option_value(const GOptionEntry *option);
