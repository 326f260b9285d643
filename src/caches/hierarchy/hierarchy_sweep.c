/* SPDX-License-Identifier: MIT */
/* Many hierarchies in one text. */
#include "caches/hierarchy/hierarchy_sweep.h"

#include "base/error.h"
#include "base/text/byte_size.h"

#include <string.h>

static const uint64_t largest = UINT64_C(1) << 48;

/* "8K" between two places; numbers without a unit too (ways, entries, bytes). */
static bool scan_size(const char *text, size_t n, uint64_t *out_size)
{
	g_autofree char *copy = g_strndup(text, n);
	unsigned shift = n > 1 ? lode_byte_size_shift(copy[n - 1]) : 0;

	if (shift > 0)
		copy[n - 1] = '\0';
	if (!g_ascii_string_to_unsigned(copy, 10, 1, UINT32_MAX, out_size, NULL))
		return false;
	if (*out_size > largest >> shift)
		return false;
	*out_size <<= shift;
	return *out_size <= largest;
}

static size_t word_before(const char *text, const char *end)
{
	size_t n = 0;

	while (end - n > text && g_ascii_isalnum(end[-1 - (ptrdiff_t)n]))
		n++;
	return n;
}

static size_t word_after(const char *text)
{
	size_t n = 0;

	while (g_ascii_isalnum(text[n]))
		n++;
	return n;
}

static bool expand(const char *text, GPtrArray *out, GError **error);

static bool expand_range(const char *text, const char *dots, GPtrArray *out, GError **error)
{
	size_t n_low = word_before(text, dots), n_high = word_after(dots + 2);
	uint64_t low, high;

	if (!scan_size(dots - n_low, n_low, &low) || !scan_size(dots + 2, n_high, &high) ||
		low > high) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': a range is two sizes, the smaller one first: 8K..1M", text);
		return false;
	}
	for (uint64_t size = low; size <= high; size *= 2) {
		g_autoptr(GString) one = g_string_new_len(text, dots - n_low - text);
		lode_byte_size_append(one, size);
		g_string_append(one, dots + 2 + n_high);
		if (!expand(one->str, out, error))
			return false;
	}
	return true;
}

/* A path may have two dots too. */
static bool expand(const char *text, GPtrArray *out, GError **error)
{
	const char *dots = strchr(text, '/') == NULL ? strstr(text, "..") : NULL;

	if (dots != NULL)
		return expand_range(text, dots, out, error);
	if (out->len == LODE_SWEEP_MAX_HIERARCHIES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"'%s': more than %d hierarchies in its ranges", text,
			LODE_SWEEP_MAX_HIERARCHIES);
		return false;
	}
	g_ptr_array_add(out, g_strdup(text));
	return true;
}

char **lode_hierarchy_sweep_expand(const char *text, GError **error)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

	if (!expand(text, texts, error))
		return NULL;
	g_ptr_array_add(texts, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&texts), FALSE);
}
