/* SPDX-License-Identifier: MIT */
#include "views/form/function_name.h"

#include "model/code.h"
#include "views/form/display_text.h"

#include <glib.h>
#include <string.h>

enum { LONG_NAME = 48, MAX_DEPTH = 256 };

/* So many bytes between brackets are kept, as in "visit<66>" and "f(int)"; more become "…". */
enum { MAX_KEPT_ARGUMENTS = 8 };

/* An open bracket. Positions are those of the result. */
typedef struct {
	char closer;
	bool has_parameters; /* they are shown as "…" when they are long */
	size_t begin;        /* after the bracket */
	size_t argument;     /* where the last argument begins, with blanks before it */
	size_t end;          /* of the last argument that is kept; of none: begin */
	size_t first_end;    /* of the first argument; 0: it is not complete */
	size_t last_begin;   /* after the last template bracket inside this one; 0: none */
} Bracket;

static bool is_of_word(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

/* The length of text at `at` that has brackets which are part of a name; 0: none. */
static size_t literal_length(const char *name, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)", keyword[] = "operator";
	static const char *const java[] = {"<init>", "<clinit>"};
	/* Those that begin with one of the others first. */
	static const char *const operators[] = {
		"()", "<=>", "<<=", "<<", "<=", "<", "->*", "->", ">>=", ">>", ">=", ">", ","};
	size_t n = sizeof(keyword) - 1;

	if (*at == '(' && g_str_has_prefix(at, anonymous))
		return sizeof(anonymous) - 1;
	/* Java's constructors and initializers: "java.lang.Object.<init>()". */
	for (size_t i = 0; i < G_N_ELEMENTS(java) && *at == '<' && at > name && at[-1] == '.'; i++)
		if (g_str_has_prefix(at, java[i]))
			return strlen(java[i]);
	if (strncmp(at, keyword, n) != 0 || (at > name && is_of_word(at[-1])))
		return 0;
	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
		if (g_str_has_prefix(at + n, operators[i]))
			return n + strlen(operators[i]);
	return n;
}

/* The length of text at `at` that a short name leaves out: namespaces of a version of the library,
 * tags of its ABI, and the hash at the end of a name of Rust. */
static size_t version_length(const char *name, const char *at)
{
	static const char *const namespaces[] = {"__cxx11::", "__1::", "__ndk1::", "_V2::"};
	static const char tag[] = "[abi:cxx11]", hash[] = "::h0123456789abcdef";
	size_t n = strlen("::h");

	if (*at == '_' && at > name && at[-1] == ':')
		for (size_t i = 0; i < G_N_ELEMENTS(namespaces); i++)
			if (g_str_has_prefix(at, namespaces[i]))
				return strlen(namespaces[i]);
	if (*at == '[' && g_str_has_prefix(at, tag))
		return strlen(tag);
	if (*at != ':' || strncmp(at, hash, n) != 0)
		return 0;
	while (n < strlen(hash) && g_ascii_isxdigit(at[n]))
		n++;
	return n == strlen(hash) && !is_of_word(at[n]) ? n : 0;
}

/* Whether an argument that is not the first is what the standard library puts there by default. */
static bool is_default(const GString *out, const Bracket *bracket, size_t argument)
{
	/* The second ones are defaults if they are of the type that is the first argument. */
	static const char *const any[] = {"std::allocator<", "std::char_traits<"};
	static const char *const same[] = {
		"std::less<", "std::hash<", "std::equal_to<", "std::default_delete<"};
	const char *text = out->str + argument;
	size_t begin = bracket->last_begin, first = bracket->first_end - bracket->begin;

	if (begin <= argument || out->str[out->len - 1] != '>')
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(any); i++)
		if (begin - argument == strlen(any[i]) && g_str_has_prefix(text, any[i]))
			return true;
	for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
		if (begin - argument == strlen(same[i]) && g_str_has_prefix(text, same[i]))
			return out->len - 1 - begin == first &&
			       memcmp(out->str + begin, out->str + bracket->begin, first) == 0;
	return false;
}

static void end_argument(GString *out, Bracket *bracket)
{
	size_t begin = bracket->argument;

	while (begin < out->len && out->str[begin] == ' ')
		begin++;
	while (out->len > begin && out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	if (bracket->first_end != 0 && is_default(out, bracket, begin))
		g_string_truncate(out, bracket->end);
	bracket->end = out->len;
	if (bracket->first_end == 0)
		bracket->first_end = out->len;
}

/* g_str_has_suffix() would look for the end of the text. */
static bool ends_with(const GString *text, const char *end)
{
	size_t n = strlen(end);

	return text->len >= n && memcmp(text->str + text->len - n, end, n) == 0;
}

/* "std::basic_string<char>" is std::string, and of wchar_t std::wstring; so are streams, views. */
static void use_alias(GString *out)
{
	static const char prefix[] = "std::basic_", narrow[] = "<char>", wide[] = "<wchar_t>";
	bool is_wide = ends_with(out, wide);
	size_t end = out->len, begin;

	if (!is_wide && !ends_with(out, narrow))
		return;
	end -= strlen(is_wide ? wide : narrow);
	for (begin = end; begin > 0 && end - begin < LONG_NAME; begin--)
		if (!is_of_word(out->str[begin - 1]) && out->str[begin - 1] != ':')
			break;
	if (!g_str_has_prefix(out->str + begin, prefix) ||
		memchr(out->str + begin + strlen(prefix), ':', end - begin - strlen(prefix)) !=
			NULL)
		return;
	g_string_truncate(out, end);
	g_string_erase(out, (gssize)(begin + strlen("std::")), strlen("basic_"));
	if (is_wide)
		g_string_insert_c(out, (gssize)(begin + strlen("std::")), 'w');
}

static void close_template(GString *out, GArray *open)
{
	Bracket *bracket = &g_array_index(open, Bracket, open->len - 1);
	size_t begin = bracket->begin;

	end_argument(out, bracket);
	g_string_append_c(out, '>');
	g_array_set_size(open, open->len - 1);
	if (open->len > 0)
		g_array_index(open, Bracket, open->len - 1).last_begin = begin;
	use_alias(out);
}

/* In round brackets "<" may be "less than". */
static void close_parameters(GString *out, GArray *open)
{
	while (g_array_index(open, Bracket, open->len - 1).closer != ')')
		g_array_set_size(open, open->len - 1);
	const Bracket *bracket = &g_array_index(open, Bracket, open->len - 1);
	if (bracket->has_parameters && out->len - bracket->begin > MAX_KEPT_ARGUMENTS) {
		g_string_truncate(out, bracket->begin);
		g_string_append(out, "…");
	}
	g_string_append_c(out, ')');
	g_array_set_size(open, open->len - 1);
}

/* Whether there is a bracket of parameters. In Go the type of a method follows a point:
 * "main.(*Tree).Insert". After a blank come remarks, and the types of pointers to functions. */
static bool begins_parameters(const char *name, const char *at)
{
	return *at == '(' && at > name && at[-1] != '.' && at[-1] != ' ';
}

/* In one pass, the open brackets on a stack. NULL: some of them are never closed. */
static GString *without_defaults(const char *name)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(Bracket));
	size_t n_round = 0;

	for (const char *at = name; *at != '\0';) {
		size_t literal = literal_length(name, at);
		size_t version = literal == 0 ? version_length(name, at) : 0;
		bool is_template = open->len > 0 &&
		                   g_array_index(open, Bracket, open->len - 1).closer == '>';
		bool is_arrow = *at == '>' && at > name && at[-1] == '-';
		if (literal > 0 || version > 0) {
			g_string_append_len(out, at, (gssize)literal);
			at += literal + version;
			continue;
		}
		if (*at == ')' && n_round > 0) {
			close_parameters(out, open);
			n_round--;
		} else if (*at == '>' && is_template && !is_arrow) {
			close_template(out, open);
		} else if (*at == ',' && is_template) {
			Bracket *bracket = &g_array_index(open, Bracket, open->len - 1);
			end_argument(out, bracket);
			g_string_append_c(out, ',');
			bracket->argument = out->len;
		} else {
			g_string_append_c(out, *at);
		}
		if (*at == '(' || *at == '<') {
			Bracket bracket = {.closer = *at == '(' ? ')' : '>',
				.has_parameters = *at == '(' && open->len == n_round &&
			                          begins_parameters(name, at),
				.begin = out->len,
				.argument = out->len,
				.end = out->len};
			n_round += *at == '(';
			g_array_append_val(open, bracket);
		}
		at++;
	}
	return open->len == 0 ? g_steal_pointer(&out) : NULL;
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

/* In Rust the type of a method stands in brackets: "<Tree as Iterator>::next", "<impl Tree>". */
static bool is_qualified(const char *name, const char *at)
{
	if (at == name || strchr("&*(,[<", at[-1]) != NULL || g_str_has_prefix(at, "<impl "))
		return true;
	return at[-1] == ' ' && at - 1 > name && at[-2] != '<';
}

/* Long template arguments inside `depth` others become "…". NULL: the brackets do not match. */
static char *without_arguments(const char *name, size_t depth)
{
	g_autoptr(GString) out = g_string_new(NULL);
	size_t n_open = 0;

	for (const char *at = name; *at != '\0';) {
		size_t literal = MAX(literal_length(name, at), 1);
		bool opens = *at == '<' && literal == 1 && !is_qualified(name, at);
		const char *end = opens ? after_closed(name, at) : NULL;
		if (opens && end == NULL)
			return NULL;
		if (opens && n_open == depth && end - at > MAX_KEPT_ARGUMENTS + 2) {
			g_string_append(out, "<…>");
			at = end;
			continue;
		}
		n_open += opens;
		if (*at == '>' && n_open > 0 && (at == name || at[-1] != '-'))
			n_open--;
		g_string_append_len(out, at, (gssize)literal);
		at += literal;
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Whether a name is too long for a column; the member of a type is not part of its name. */
static bool is_long(const char *name)
{
	const char *member = strstr(name, ">.");

	return (member != NULL ? (size_t)(member - name) + 1 : strlen(name)) > LONG_NAME;
}

/* As few of the template arguments as the length demands, the inner ones first. */
static char *shortened(char *name)
{
	enum { MAX_SHOWN_DEPTH = 3 };

	for (size_t depth = MAX_SHOWN_DEPTH + 1; depth-- > 0 && is_long(name);) {
		char *brief = without_arguments(name, depth);
		if (brief == NULL)
			return name;
		if (depth == 0 || !is_long(brief)) {
			g_free(name);
			return brief;
		}
		g_free(brief);
	}
	return name;
}

/* Whether the blank at `at` is inside a phrase: "non-virtual thunk to", "guard variable for". */
static bool is_in_phrase(const char *name, const char *at)
{
	static const char *const words[] = {" to", " for", " in"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		size_t length = strlen(words[i]);
		if ((size_t)(at - name) > length && memcmp(at - length, words[i], length) == 0)
			return true;
	}
	return false;
}

/* Where the name begins: after the type of the result, which functions of a template have. Without
 * parameters there is none. */
static const char *after_result(const char *name)
{
	const char *begin = name;
	bool is_operator = false; /* "operator bool" is one name */

	for (const char *at = name; *at != '\0';) {
		size_t literal = literal_length(name, at);
		if (literal > 0) {
			is_operator |= *at == 'o';
			at += literal;
		} else if (begins_parameters(name, at)) {
			return begin;
		} else if (*at == '<' || *at == '(' || *at == '{') {
			const char *brace = *at == '{' ? strchr(at, '}') : NULL;
			const char *end = *at != '{'      ? after_closed(name, at)
			                  : brace != NULL ? brace + 1
			                                  : NULL;
			if (end == NULL)
				return name;
			at = end;
		} else {
			bool is_blank = *at == ' ' && !is_operator;
			if (is_blank &&
				(is_in_phrase(name, at) ||
					(at[1] == '(' && literal_length(name, at + 1) == 0)))
				return name;
			at++;
			begin = is_blank ? at : begin;
		}
	}
	return name;
}

/* In Go the path of a package is before its name: "encoding/json.(*encodeState).string". A name
 * that may be a file's stays whole: "src/list.c", "src/list.c:31". */
static const char *after_package_path(const char *name)
{
	static const char path[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.~%-/";
	const char *end = name + strspn(name, path);
	const char *slash = g_strrstr_len(name, end - name, "/");
	const char *point = slash != NULL ? strchr(slash, '.') : NULL;

	if (point == NULL || point == slash + 1 || point > end || !g_ascii_isalnum(name[0]) ||
		strpbrk(slash, ": ") != NULL || g_strstr_len(name, slash - name, "..") != NULL)
		return name;
	size_t n_letters = 0;
	while (g_ascii_isalpha(point[1 + n_letters]))
		n_letters++;
	return point[1 + n_letters] == '\0' && n_letters <= 3 ? name : slash + 1;
}

/* Paths without what is before their last part: "core::iter::Map<I,a::b::{{closure}}>" is
 * "Map<I,b::{{closure}}>". */
static void append_without_paths(GString *out, const char *begin, const char *end)
{
	for (const char *at = begin; at < end;) {
		const char *word = at;
		while (at < end && is_of_word(*at))
			at++;
		if (at > word && end - at > 2 && at[0] == ':' && at[1] == ':' && is_of_word(at[2]))
			at += 2;
		else
			g_string_append_len(out, word, MAX(at - word, 1));
		at = MAX(at, word + 1);
	}
}

/* In Rust's "<alloc::vec::Vec<T> as core::clone::Clone>::clone" types and traits have no paths, and
 * "core::slice::<impl [T]>::len" has none before the bracket. */
static char *without_paths(const char *name)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (const char *at = name; *at != '\0';) {
		size_t literal = MAX(literal_length(name, at), 1);
		const char *end = *at == '<' && literal == 1 ? after_closed(name, at) : NULL;
		if (*at == '<' && literal == 1 && end == NULL)
			return g_strdup(name);
		if (end == NULL) {
			g_string_append_len(out, at, (gssize)literal);
			at += literal;
			continue;
		}
		bool is_type = is_qualified(name, at) && g_str_has_prefix(end, "::");
		if (is_type && g_str_has_prefix(at, "<impl "))
			while (out->len > 0 && (is_of_word(out->str[out->len - 1]) ||
						       out->str[out->len - 1] == ':'))
				g_string_truncate(out, out->len - 1);
		if (is_type)
			append_without_paths(out, at, end);
		else
			g_string_append_len(out, at, end - at);
		at = end;
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

/* V8's name of what it compiled of a function of a file: "JS:*name FILE:LINE:COLUMN". Gives where
 * the file begins; NULL: another name. */
static const char *v8_file(const char *name)
{
	static const char *const begins[] = {" /", " file://", " node:"};
	const char *found = NULL;

	for (size_t i = 0; g_str_has_prefix(name, "JS:") && i < G_N_ELEMENTS(begins); i++) {
		const char *at = strstr(name, begins[i]);
		if (at != NULL && (found == NULL || at < found))
			found = at;
	}
	return found != NULL ? found + 1 : NULL;
}

static size_t length_without_tier(const char *name)
{
	const char *tier = g_strrstr(name, " [tier ");

	return tier != NULL ? (size_t)(tier - name) : strlen(name);
}

/* V8's marks of how it compiled: '*' optimised, '^' not, '~' interpreted. */
static const char *after_mark(const char *name)
{
	static const char mark[] = "JS:";

	if (!g_str_has_prefix(name, mark))
		return name;
	name += strlen(mark);
	return *name != '\0' && strchr("*^~+-", *name) != NULL ? name + 1 : name;
}

/* "parse read.js:3" of "JS:*parse /srv/read.js:3:15", whose file is at `file`. */
static char *v8_short(const char *name, const char *file)
{
	const char *begin = after_mark(name);
	bool is_node = g_str_has_prefix(file, "node:");
	const char *base = is_node ? file : strrchr(file, '/') + 1;
	const char *line = base + (is_node ? strlen("node:") : 0);
	const char *column = strrchr(base, ':');
	/* The column of "FILE:LINE:COLUMN" tells a reader nothing more; some names have none, and
	 * "node:internal/events:4:2" has one colon more. */
	bool has_both = column != NULL && column > line &&
	                memchr(line, ':', (size_t)(column - line)) != NULL;
	g_autofree char *place = has_both ? g_strndup(base, (gsize)(column - base))
	                                  : g_strdup(base);
	g_autofree char *called = g_strndup(begin, (gsize)(file - begin));

	return g_strconcat(*g_strchug(called) != '\0' ? called : "(anonymous) ", place, NULL);
}

char *lode_function_name_short(const char *name)
{
	const char *file = v8_file(name);

	/* the parts of Go's maps differ in their arguments alone */
	if (g_str_has_prefix(name, "struct bucket<") || g_str_has_prefix(name, "struct hash<"))
		return g_strdup(name);
	if (file != NULL)
		return v8_short(name, file);
	g_autofree char *plain = g_strndup(after_mark(name), length_without_tier(after_mark(name)));
	g_autoptr(GString) simple = without_defaults(plain);

	if (simple == NULL)
		return g_steal_pointer(&plain);
	return shortened(without_paths(after_package_path(after_result(simple->str))));
}

/* Appends the type: "Iter" of "<Iter<T> as Iterator>", "[T]" of "<impl Clone for [T]>" and "<[T]>".
 */
static void append_type(GString *out, const char *open, const char *end)
{
	static const char as[] = " as ", impl[] = "<impl ", of[] = " for ";
	bool is_impl = g_str_has_prefix(open, impl);
	const char *begin = open + (is_impl ? strlen(impl) : 1);
	const char *of_type = is_impl ? g_strrstr_len(begin, end - begin, of) : NULL;

	begin = of_type != NULL ? of_type + strlen(of) : begin;
	begin = *begin == '<' ? open : begin;
	const char *type_end = is_impl ? NULL : g_strstr_len(begin, end - begin, as);
	type_end = begin == open ? end : type_end != NULL ? type_end : end - 1;
	const char *word_end = begin;
	while (word_end < type_end && is_of_word(*word_end))
		word_end++;
	/* Without its arguments. */
	if (word_end > begin && *word_end == '<')
		type_end = word_end;
	g_string_append_len(out, begin, type_end - begin);
}

char *lode_function_name_bare(const char *name)
{
	g_autofree char *brief = lode_function_name_short(name);
	g_autoptr(GString) out = g_string_new(NULL);
	bool is_operator = false; /* "operator bool" is one name */

	if (v8_file(name) != NULL)
		return g_steal_pointer(&brief);
	for (const char *at = brief; *at != '\0';) {
		size_t literal = literal_length(brief, at);
		const char *end = NULL;
		if (literal == 0 && begins_parameters(brief, at))
			break;
		if (literal > 0) {
			is_operator = *at == 'o';
			g_string_append_len(out, at, (gssize)literal);
			at += literal;
			continue;
		}
		bool is_bracket = *at == '{' || *at == '<';
		if (*at == '{')
			end = strchr(at, '}') != NULL ? strchr(at, '}') + 1 : NULL;
		else if (is_bracket)
			end = after_closed(brief, at);
		/* One that does not match is not looked for again and again. */
		if (is_bracket && end == NULL)
			return g_steal_pointer(&brief);
		bool is_template = *at == '<' && !is_qualified(brief, at);
		if (end != NULL && *at == '<' && !is_template)
			append_type(out, at, end);
		else if (end != NULL && !is_template)
			g_string_append_len(out, at, end - at);
		else if (end == NULL && *at == ' ' && !is_operator)
			g_string_truncate(out, 0);
		else if (end == NULL)
			g_string_append_c(out, *at);
		at = end != NULL ? end : at + 1;
	}
	g_strchomp(out->str);
	return out->str[0] != '\0' ? g_string_free(g_steal_pointer(&out), FALSE)
	                           : g_steal_pointer(&brief);
}

char *lode_function_name_text(const char *name, const LodeTerminal *terminal)
{
	return terminal->has_full_names ? g_strdup(name) : lode_function_name_short(name);
}

void lode_function_name_append(GString *out, const char *name, const LodeTerminal *terminal)
{
	g_autofree char *text = lode_function_name_text(name, terminal);

	lode_display_append(out, text, terminal->is_ascii);
}

void lode_function_name_json_short(LodeJsonStream *json, const char *member, const char *name)
{
	g_autofree char *brief = name != NULL ? lode_function_name_short(name) : NULL;

	if (g_strcmp0(brief, name) == 0)
		return;
	g_autofree char *short_member = g_strconcat("short_", member, NULL);
	lode_json_member_string(json, short_member, brief);
}

void lode_function_name_json(LodeJsonStream *json, const char *member, const char *name)
{
	lode_json_member_string(json, member, name);
	lode_function_name_json_short(json, member, name);
}

bool lode_function_name_is_version(const char *name, const char *other)
{
	const char *rest = after_mark(name), *other_rest = after_mark(other);
	size_t n = length_without_tier(rest);

	return (rest == name) == (other_rest == other) && n == length_without_tier(other_rest) &&
	       memcmp(rest, other_rest, n) == 0;
}

bool lode_function_is_version(
	const LodeProfile *profile, const LodeFunction *function, const LodeFunction *other)
{
	return function->image == other->image &&
	       lode_profile_image(profile, function->image)->kind == LODE_IMAGE_JIT &&
	       lode_function_name_is_version(function->name, other->name);
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
