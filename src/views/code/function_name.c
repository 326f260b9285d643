/* SPDX-License-Identifier: MIT */
#include "views/code/function_name.h"

#include <glib.h>
#include <string.h>

enum { LONG_NAME = 48, MAX_DEPTH = 256 };

/* So many bytes between brackets are kept, as in "visit<66>" and "find<int>"; more become "…". */
enum { MAX_KEPT_ARGUMENTS = 8 };

/* The length of text at `at` that has brackets which are part of a name; 0: none. */
static size_t literal_length(const char *name, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)", keyword[] = "operator";
	size_t n = sizeof(keyword) - 1;

	if (g_str_has_prefix(at, anonymous))
		return sizeof(anonymous) - 1;
	if (strncmp(at, keyword, n) != 0 ||
		(at > name && (g_ascii_isalnum(at[-1]) || at[-1] == '_')))
		return 0;
	if (g_str_has_prefix(at + n, "()"))
		return n + 2;
	return n + strspn(at + n, "<>=-!+*/%^&|~,");
}

/* The byte after the bracket that closes the one at `open`; NULL: there is none. */
static const char *after_closed(const char *name, const char *open)
{
	char closers[MAX_DEPTH];
	unsigned depth = 0;

	for (const char *at = open; *at != '\0'; at++) {
		size_t literal = literal_length(name, at);
		if (literal > 0) {
			at += literal - 1;
		} else if (*at == '(' || *at == '<') {
			if (depth == MAX_DEPTH)
				return NULL;
			closers[depth++] = *at == '(' ? ')' : '>';
		} else if (*at == ')' || (*at == '>' && at[-1] != '-')) {
			if (*at != closers[--depth])
				return NULL;
			if (depth == 0)
				return at + 1;
		}
	}
	return NULL;
}

char *lode_function_name_short(const char *name)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (strlen(name) <= LONG_NAME)
		return g_strdup(name);
	for (const char *at = name; *at != '\0';) {
		size_t literal = literal_length(name, at);
		if (literal > 0 || (*at != '(' && *at != '<')) {
			g_string_append_len(out, at, (gssize)MAX(literal, 1));
			at += MAX(literal, 1);
			continue;
		}
		const char *end = after_closed(name, at);
		if (end == NULL)
			return g_strdup(name);
		if (end - at <= MAX_KEPT_ARGUMENTS + 2)
			g_string_append_len(out, at, end - at);
		else
			g_string_append_printf(out, "%c…%c", *at, end[-1]);
		at = end;
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

char *lode_function_library(const LodeProfile *profile, const LodeFunction *function)
{
	const LodeImage *image = lode_profile_image(profile, function->image);

	if (function->source != LODE_FUNCTION_UNWIND || image->kind != LODE_IMAGE_FILE)
		return NULL;
	char *base = g_path_get_basename(image->path);
	if (g_str_has_suffix(base, ".so") || strstr(base, ".so.") != NULL)
		return base;
	g_free(base);
	return NULL;
}
