/* SPDX-License-Identifier: MIT */
#include "analyses/calls/special_members.h"

#include "model/code.h"
#include "model/lines/own_lines.h"

#include <string.h>

/* --- names --- */

typedef struct {
	const char *begin;
	size_t length;
} Piece;

/* The last "::" outside of template arguments and brackets; NULL: there is none. */
static const char *last_separator(const char *begin, const char *end)
{
	int depth = 0;

	for (const char *at = end; at-- > begin + 1;) {
		depth += *at == '>' || *at == ')';
		depth -= *at == '<' || *at == '(';
		if (depth == 0 && at[0] == ':' && at[-1] == ':')
			return at - 1;
	}
	return NULL;
}

/* Where the parameters begin; NULL: there are none. */
static const char *find_parameters(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	int depth = 0;

	for (const char *at = name; *at != '\0'; at++) {
		if (g_str_has_prefix(at, anonymous)) {
			at += strlen(anonymous) - 1;
			continue;
		}
		depth += *at == '<';
		depth -= *at == '>';
		if (depth == 0 && *at == '(')
			return at + 1;
	}
	return NULL;
}

static bool is_text(Piece piece, const char *text)
{
	return piece.length == strlen(text) && memcmp(piece.begin, text, piece.length) == 0;
}

static bool is_piece(Piece piece, Piece other)
{
	return piece.length == other.length && memcmp(piece.begin, other.begin, piece.length) == 0;
}

typedef enum { NO_MEMBER, DEFAULT, COPY, MOVE, DESTRUCTOR } Member;

static Member member_of(const char *name)
{
	const char *parameters = find_parameters(name);
	const char *end = parameters != NULL ? parameters - 1 : NULL;
	const char *before = end != NULL ? last_separator(name, end) : NULL;

	if (before == NULL)
		return NO_MEMBER;
	const Piece class = {name, (size_t)(before - name)};
	const Piece member = {before + 2, (size_t)(end - before - 2)};
	const char *outer = last_separator(name, before);
	Piece own = {outer != NULL ? outer + 2 : name, 0}; /* the class's name alone */
	own.length = (size_t)(before - own.begin);
	const char *arguments = memchr(own.begin, '<', own.length);
	own.length = arguments != NULL ? (size_t)(arguments - own.begin) : own.length;
	if (member.length > 1 && member.begin[0] == '~' &&
		is_piece((Piece){member.begin + 1, member.length - 1}, own))
		return DESTRUCTOR;
	if (!is_piece(member, own) && !is_text(member, "operator="))
		return NO_MEMBER;
	if (parameters[0] == ')')
		return is_piece(member, own) ? DEFAULT : NO_MEMBER;
	if (strncmp(parameters, class.begin, class.length) != 0)
		return NO_MEMBER;
	const char *rest = parameters + class.length;
	return g_str_has_prefix(rest, " const&)") ? COPY
	       : g_str_has_prefix(rest, "&&)")    ? MOVE
	                                          : NO_MEMBER;
}

static bool is_any_of(const char *function, const char *const *patterns)
{
	bool is_any = false;

	for (; *patterns != NULL && !is_any; patterns++)
		is_any = g_pattern_match_simple(*patterns, function);
	return is_any;
}

static bool is_clone(const char *function)
{
	return strstr(function, " as core::clone::Clone>::clone") != NULL;
}

LodeObjectWork lode_object_work_of(const char *function)
{
	/* Recursive functions of containers, which the compiler does not inline. */
	static const char *const copies[] = {
		"*std::_Rb_tree<*>::_M_copy*", "*std::_Hashtable<*>::_M_assign*", NULL};
	static const char *const ends[] = {"*std::_Rb_tree<*>::_M_erase(*",
		"*std::_Hashtable<*>::clear(*", "core::ptr::drop_in_place*",
		"<* as core::ops::drop::Drop>::drop", NULL};
	Member member = member_of(function);

	if (member == COPY || is_clone(function) || is_any_of(function, copies))
		return LODE_OBJECT_WORK_COPY;
	return member == DESTRUCTOR || is_any_of(function, ends) ? LODE_OBJECT_WORK_END
	                                                         : LODE_OBJECT_WORK_NONE;
}

bool lode_is_special_member(const char *function)
{
	return member_of(function) != NO_MEMBER;
}

/* --- lines --- */

/* Stands for several lines. */
enum { SEVERAL = G_MAXINT };

static bool is_followed(const char *function)
{
	return lode_is_special_member(function) || is_clone(function);
}

/* Adds the own lines of an instruction to those of their functions. */
static void add_lines(GHashTable *line_of, const LodeOwnLines *own, uint32_t instruction)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(own, instruction);

	for (guint i = 0; i < chain->len; i++) {
		const LodeInlinedLine *one = &g_array_index(chain, LodeInlinedLine, i);
		void *known = g_hash_table_lookup(line_of, one->function);
		void *line = GINT_TO_POINTER(MIN(one->location->line, SEVERAL));
		if (one->location->file == NULL ||
			!lode_own_lines_is_own_file(own, one->location->file) ||
			!is_followed(one->function))
			continue;
		if (known != NULL && known != line && !is_clone(one->function))
			line = GINT_TO_POINTER(SEVERAL);
		g_hash_table_insert(line_of, (char *)one->function, line);
	}
}

/* Most programs have none. */
static bool has_members(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	bool has = false;

	for (guint i = 0; i < code->functions->len && !has; i++)
		has = is_followed(lode_profile_function(profile, i)->name);
	for (guint i = 0; i < code->locations->len && !has; i++) {
		const char *inlined = LODE_AT(code->locations, LodeLocation, i).inlined;
		has = inlined != NULL && is_followed(inlined);
	}
	return has;
}

GHashTable *lode_implicit_members(const LodeProfile *profile, const LodeOwnLines *own)
{
	GHashTable *line_of = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTableIter each;
	void *line;

	guint n = has_members(profile) ? lode_code_of(profile)->instructions->len : 0;
	for (uint32_t i = 0; i < n; i++)
		add_lines(line_of, own, i);
	g_hash_table_iter_init(&each, line_of);
	while (g_hash_table_iter_next(&each, NULL, &line))
		if (line == GINT_TO_POINTER(SEVERAL))
			g_hash_table_iter_remove(&each);
	return line_of;
}
