/* SPDX-License-Identifier: MIT */
/* "Did you mean": the word nearest to one that is unknown. */
#pragma once

#include <stddef.h>

/* Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. */
size_t lode_edit_distance(const char *a, const char *b);

/* The nearest candidate (NULL-terminated), NULL when none is near enough; the first of equals. */
const char *lode_suggestion(const char *word, const char *const *candidates);
