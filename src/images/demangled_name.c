/* SPDX-License-Identifier: MIT */
/*
 * libiberty's demangler writes in pieces through a callback and allocates nothing. A symbol of some
 * hundred bytes can stand for a name of gigabytes (back references double it again and again), so
 * the callback leaves by a jump when the name grows too long; the symbol then stays as it is.
 */
#include "images/demangled_name.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

enum {
	MAX_SYMBOL = 4096, /* the demangler's stack is proportional to it */
	MAX_NAME = 16384,
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

static gboolean is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

static gboolean demangle(const char *symbol, Output *output)
{
	int options = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;

	output->n = 0;
	if (setjmp(output->too_long) != 0)
		return FALSE;
	if (!rust_demangle_callback(symbol, DMGL_PARAMS, append, output)) {
		output->n = 0;
		if (symbol[1] != 'Z' ||
			!cplus_demangle_v3_callback(symbol, options, append, output))
			return FALSE;
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
	if (is_mangled(symbol) && strlen(symbol) < MAX_SYMBOL && demangle(symbol, &output))
		return intern_valid(output.text, names);
	return g_utf8_validate(symbol, -1, NULL) ? symbol : intern_valid(symbol, names);
}
