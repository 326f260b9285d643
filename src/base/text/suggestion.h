/* SPDX-License-Identifier: MIT */
/* "Did you mean": the word nearest to one that is unknown. */
#pragma once

/* The nearest candidate (NULL-terminated), NULL when none is near enough; the first of equals. */
const char *lode_suggestion(const char *word, const char *const *candidates);
