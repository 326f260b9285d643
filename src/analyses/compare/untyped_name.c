/* SPDX-License-Identifier: MIT */
#include "analyses/compare/untyped_name.h"

#include <glib.h>
#include <string.h>

/* The place in `name` after what has brackets or blanks of its own and is no list of types: an
 * operator or an unnamed namespace; NULL: none begins there. */
static const char *after_literal(const char *name, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)", keyword[] = "operator";
	bool begins_word = at == name || !(g_ascii_isalnum(at[-1]) || at[-1] == '_');

	if (g_str_has_prefix(at, anonymous))
		return at + strlen(anonymous);
	if (!begins_word || !g_str_has_prefix(at, keyword))
		return NULL;
	at += strlen(keyword);
	if (g_str_has_prefix(at, "()"))
		return at + strlen("()");
	return at + (*at != '(' ? strspn(at, "<>=-*,") : 0);
}

char *lode_untyped_name(const char *name, bool *out_has_types)
{
	enum { HASH_LENGTH = 19 }; /* "::h0123456789abcdef" */
	g_autoptr(GString) out = g_string_new(NULL);
	size_t depth = 0, length = strlen(name);
	bool has_types = false, has_parameters = false;

	if (length > HASH_LENGTH && g_str_has_prefix(name + length - HASH_LENGTH, "::h") &&
		strspn(name + length - HASH_LENGTH + 3, "0123456789abcdef") == HASH_LENGTH - 3) {
		length -= HASH_LENGTH;
		has_types = true;
	}
	for (const char *at = name; at < name + length;) {
		const char *literal = after_literal(name, at);
		if (literal != NULL) {
			if (depth == 0)
				g_string_append_len(out, at, literal - at);
			at = literal;
			continue;
		}
		bool is_arrow = *at == '>' && at > name && at[-1] == '-';
		if ((*at == '>' || *at == ')') && !is_arrow && depth-- == 0)
			return NULL;
		has_types |= *at == '<' || *at == '(';
		has_parameters |= *at == '(' && depth == 0;
		/* The result stands before the name. */
		if (*at == ' ' && depth == 0 && !has_parameters)
			g_string_truncate(out, 0);
		else if (depth == 0 && strchr("<>()", *at) == NULL)
			g_string_append_c(out, *at);
		depth += *at == '<' || *at == '(';
		at++;
	}
	if (depth > 0 || out->len == 0 || g_str_has_prefix(out->str, "::"))
		return NULL;
	*out_has_types = has_types;
	return g_string_free(g_steal_pointer(&out), FALSE);
}
