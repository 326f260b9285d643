/* SPDX-License-Identifier: MIT */
#include "views/form/name_test.h"

#include "views/form/function_name.h"

#include <string.h>

static bool is_of_word(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

/* Whether what is before `at` ends as gfortran, GNAT and Free Pascal end the name of a module or
 * package before that of its procedure. */
static bool ends_qualifier(const char *name, const char *at)
{
	static const char *const ends[] = {"_MOD_", "__", "$_"};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t length = strlen(ends[i]);
		if ((size_t)(at - name) > length &&
			g_ascii_strncasecmp(at - length, ends[i], length) == 0)
			return true;
	}
	return false;
}

static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	if (length == 0)
		return false;
	for (const char *at = strstr(name, word); at != NULL; at = strstr(at + 1, word))
		if (!is_of_word(at[length]) &&
			(at == name || !is_of_word(at[-1]) || ends_qualifier(name, at)))
			return true;
	return false;
}

static bool has_short_name(const char *name, const char *text)
{
	g_autofree char *brief = lode_function_name_short(name);

	return strcmp(brief, text) == 0;
}

static bool has_last_word(const char *name, const char *text)
{
	g_autofree char *bare = lode_function_name_bare(name);
	size_t length = strlen(bare), wanted = strlen(text);

	return wanted > 0 && length >= wanted && strcmp(bare + length - wanted, text) == 0 &&
	       (length == wanted || !is_of_word(bare[length - wanted - 1]));
}

bool lode_name_passes(LodeNameTest test, const char *name, const char *symbol, const char *text)
{
	bool has_any_case = test >= LODE_NAME_WORD_IN_ANY_CASE;
	g_autofree char *low = has_any_case ? g_ascii_strdown(name, -1) : NULL;
	g_autofree char *wanted = has_any_case ? g_ascii_strdown(text, -1) : NULL;

	switch (test) {
	case LODE_NAME_WHOLE:
		return strcmp(name, text) == 0 || (symbol != NULL && strcmp(symbol, text) == 0);
	case LODE_NAME_SHORT:
		return has_short_name(name, text);
	case LODE_NAME_LAST_WORD:
		return has_last_word(name, text);
	case LODE_NAME_WORD:
		return has_word(name, text);
	case LODE_NAME_PART:
		return strstr(name, text) != NULL;
	case LODE_NAME_WORD_IN_ANY_CASE:
		return has_word(low, wanted);
	default:
		return strstr(low, wanted) != NULL;
	}
}

char *lode_name_at_address(const char *text, uint64_t *out_address)
{
	const char *at = g_strrstr(text, "@0x");
	guint64 address;

	if (at == NULL || !g_ascii_string_to_unsigned(at + 3, 16, 0, G_MAXUINT64, &address, NULL))
		return NULL;
	*out_address = address;
	return g_strndup(text, (gsize)(at - text));
}
