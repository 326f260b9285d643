/* SPDX-License-Identifier: MIT */
/*
 * libiberty's demanglers of C++ and Rust write in pieces through a callback and allocate nothing. A
 * symbol of some hundred bytes can stand for a name of gigabytes (back references double it again
 * and again), so the callback leaves by a jump when the name grows too long; the symbol then stays
 * as it is. The one of D has no callback, so that a symbol is looked at before.
 */
#include "images/elf/demangled_name.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SYMBOL = 4096, /* the demangler's stack is proportional to it */
	MAX_NAME = 16384,
	MAX_D_SYMBOL = 1024,  /* the work before that grows with its square */
	MAX_D_WORK = 1 << 20, /* characters read, at worst */
};

typedef struct {
	char text[MAX_NAME];
	size_t n;
	jmp_buf too_long;
} Output;

static void append(const char *piece, size_t n, void *opaque)
{
	Output *output = opaque;

	if (n >= MAX_NAME - output->n)
		longjmp(output->too_long, 1);
	memcpy(output->text + output->n, piece, n);
	output->n += n;
}

static bool is_of_d(const char *symbol)
{
	return g_str_has_prefix(symbol, "_D") &&
	       (g_ascii_isdigit(symbol[2]) || strcmp(symbol, "_Dmain") == 0);
}

bool lode_is_mangled_name(const char *symbol)
{
	return symbol[0] == '_' &&
	       (symbol[1] == 'Z' || is_of_d(symbol) ||
		       (symbol[1] == 'R' &&
			       (g_ascii_isupper(symbol[2]) || g_ascii_isdigit(symbol[2]))));
}

/* --- D --- */

/* How the text at a position in a mangled name may be read (D's ABI, "Name Mangling"). */
typedef struct {
	bool is_end;  /* an identifier may end before it */
	bool is_type; /* a function's type may begin here, after its name */
	guint target; /* of a back reference to a type; 0: none */
	guint depth;  /* then: how many such functions are read inside each other by it */
	guint64 work; /* and how many characters */
} Place;

static void find_ends(const char *symbol, guint n, Place *places)
{
	for (guint i = 0; i < n; i++) {
		guint64 number = 0;
		guint end = i;

		for (; g_ascii_isdigit(symbol[end]) && number < n; end++)
			number = number * 10 + (guint64)(symbol[end] - '0');
		if (end > i && end + number < n)
			places[end + number].is_end = true;
		if (symbol[i] == 'Z')
			places[i + 1].is_end = true;
		if (symbol[i] != 'Q')
			continue;
		for (number = 0, end = i + 1; g_ascii_isupper(symbol[end]) && number < n; end++)
			number = number * 26 + (guint64)(symbol[end] - 'A');
		if (!g_ascii_islower(symbol[end]))
			continue;
		number = number * 26 + (guint64)(symbol[end] - 'a');
		places[end + 1].is_end = true;
		/* one to an identifier, which begins by a digit, is read without more */
		if (number > 0 && number < i && !g_ascii_isdigit(symbol[i - number]))
			places[i].target = i - (guint)number;
	}
}

/* Where the type ends that begins at `at`, if it is a simple one; else `limit`. */
static guint end_of_type(const char *symbol, guint at, guint limit)
{
	/* arrays, pointers and qualifiers of what follows */
	at += (guint)strspn(symbol + at, "APxyO");
	if (symbol[at] != '\0' && strchr("vghstiklmfdeopjqrcbauw", symbol[at]) != NULL)
		return MIN(at + 1, limit);
	if (symbol[at] == 'Q') {
		for (at++; g_ascii_isupper(symbol[at]);)
			at++;
		return MIN(at + 1, limit);
	}
	if (symbol[at] == '\0' || strchr("SCET", symbol[at]) == NULL)
		return limit;
	/* names of modules and the type's own, without templates and functions */
	do {
		guint64 length = 0;

		for (at++; g_ascii_isdigit(symbol[at]) && length < limit; at++)
			length = length * 10 + (guint64)(symbol[at] - '0');
		if (length == 0 || at + length >= limit || symbol[at] == '_')
			return limit;
		at += (guint)length - 1;
	} while (g_ascii_isdigit(symbol[at + 1]));
	return strchr("FUWVRYMQ_", symbol[at + 1]) == NULL ? at + 1 : limit;
}

/* Numbers in a template's arguments are cut in all ways, at each level of templates. */
static guint64 count_ways(const char *symbol, guint n)
{
	guint n_templates = 0, n_symbols = 0, n_digits = 0;
	guint64 ways = 1;

	for (guint i = 0; i < n; i++) {
		guint digits = symbol[i] == 'S' ? (guint)strspn(symbol + i + 1, "0123456789") : 0;

		n_templates += g_str_has_prefix(symbol + i, "__T") ||
		               g_str_has_prefix(symbol + i, "__U");
		n_symbols += digits > 0;
		n_digits = MAX(n_digits, digits);
	}
	for (guint i = 0; i < MIN(n_templates, n_symbols) && ways <= MAX_D_WORK; i++)
		ways *= n_digits + 1;
	return ways;
}

/*
 * Whether the demangler ends soon. It reads the type of a function after a name, and where that
 * fails reads it again in a different way, so that functions inside each other's types double the
 * work; each reference to a type reads it again. References lead backward.
 */
static bool is_little_work(const char *symbol)
{
	guint n = (guint)strlen(symbol), n_types = 0, deepest = 0;
	guint64 work = n;

	if (n > MAX_D_SYMBOL)
		return false;
	g_autofree Place *places = g_new0(Place, n + 2);
	find_ends(symbol, n, places);
	for (guint i = 0; i < n; i++) {
		Place *place = &places[i];

		place->is_type = place->is_end && strchr("FUWVRYM", symbol[i]) != NULL;
		n_types += place->is_type;
		guint end = place->target > 0 ? end_of_type(symbol, place->target, i) : 0;
		for (guint k = place->target; k < end; k++) {
			place->depth = MAX(place->depth, places[k].depth);
			place->work = MIN(place->work + 1 + places[k].work, MAX_D_WORK);
		}
		for (guint k = place->target; k < end; k++)
			place->depth += places[k].is_type;
		deepest = MAX(deepest, place->depth);
		work += place->work;
	}
	for (guint i = 0; i < n_types + deepest && work <= MAX_D_WORK; i++)
		work *= 2;
	return work <= MAX_D_WORK && work * count_ways(symbol, n) <= MAX_D_WORK;
}

static bool demangle_d(const char *symbol, Output *output)
{
	char *name = is_little_work(symbol) ? dlang_demangle(symbol, DMGL_PARAMS) : NULL;
	bool is_short = name != NULL && g_strlcpy(output->text, name, MAX_NAME) < MAX_NAME;

	free(name);
	return is_short;
}

/* --- all --- */

static bool demangle(const char *symbol, Output *output)
{
	int options = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;

	output->n = 0;
	if (symbol[1] == 'D')
		return demangle_d(symbol, output);
	if (setjmp(output->too_long) != 0)
		return false;
	if (!rust_demangle_callback(symbol, DMGL_PARAMS, append, output)) {
		output->n = 0;
		if (symbol[1] != 'Z' ||
			!cplus_demangle_v3_callback(symbol, options, append, output))
			return false;
	}
	output->text[output->n] = '\0';
	return output->n > 0;
}

static const char *intern_valid(const char *text, GStringChunk *names)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	return g_string_chunk_insert_const(names, valid);
}

const char *lode_demangled_name(const char *symbol, GStringChunk *names)
{
	const char *version = strchr(symbol, '@');
	char plain[MAX_SYMBOL];
	Output output;

	if (version != NULL && version != symbol && (size_t)(version - symbol) < MAX_SYMBOL) {
		memcpy(plain, symbol, (size_t)(version - symbol));
		plain[version - symbol] = '\0';
		symbol = g_string_chunk_insert_const(names, plain);
	}
	if (lode_is_mangled_name(symbol) && strlen(symbol) < MAX_SYMBOL &&
		demangle(symbol, &output))
		return intern_valid(output.text, names);
	return g_utf8_validate(symbol, -1, NULL) ? symbol : intern_valid(symbol, names);
}
