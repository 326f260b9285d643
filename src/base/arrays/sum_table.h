/* SPDX-License-Identifier: MIT */
/* Sums by key: a GHashTable of `double *` that frees its values. A sum is 0 until it is added to.
 */
#pragma once

#include <glib.h>
#include <stddef.h>

/* The sum of a key that lives as long as the table, or is a number. */
static inline double *lode_sum_at(GHashTable *sums, const void *key)
{
	double *sum = g_hash_table_lookup(sums, key);

	if (sum == NULL) {
		sum = g_new0(double, 1);
		g_hash_table_insert(sums, (void *)key, sum);
	}
	return sum;
}

/* The same for a key of so many bytes, of which a table that frees its keys keeps a copy. */
static inline double *lode_sum_at_copy(GHashTable *sums, const void *key, size_t size)
{
	double *sum = g_hash_table_lookup(sums, key);

	return sum != NULL ? sum : lode_sum_at(sums, g_memdup2(key, size));
}

/* The same for text. */
static inline double *lode_sum_at_text(GHashTable *sums, const char *key)
{
	double *sum = g_hash_table_lookup(sums, key);

	return sum != NULL ? sum : lode_sum_at(sums, g_strdup(key));
}
