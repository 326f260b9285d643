/* SPDX-License-Identifier: MIT */
#include "base/text/suggestion.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* Longer words are not corrected; the limit keeps the table small. */
enum { MAX_LENGTH = 64 };

/* Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t cost[MAX_LENGTH + 1][MAX_LENGTH + 1];

	if (n > MAX_LENGTH || m > MAX_LENGTH)
		return MAX(n, m);
	for (size_t i = 0; i <= n; i++)
		cost[i][0] = i;
	for (size_t j = 0; j <= m; j++)
		cost[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			best = MIN(best, cost[i - 1][j] + 1);
			best = MIN(best, cost[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, cost[i - 2][j - 2] + 1);
			cost[i][j] = best;
		}
	}
	return cost[n][m];
}

const char *lode_suggestion(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	size_t length = strlen(word), least = length / 3 + 1;

	for (size_t i = 0; candidates[i] != NULL; i++) {
		/* A beginning is as good as one slip: 'anno' is on the way to 'annotate'. */
		bool is_prefix = length >= 2 && g_str_has_prefix(candidates[i], word);
		size_t distance = is_prefix ? 1 : edit_distance(word, candidates[i]);
		if (distance < least || (distance == least && nearest == NULL)) {
			nearest = candidates[i];
			least = distance;
		}
	}
	return nearest;
}
