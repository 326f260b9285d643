/* SPDX-License-Identifier: MIT */
#include "sources/code/kernel_symbols.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list says where functions begin, not where they end; few are longer. */
enum { LONGEST_FUNCTION = 1 << 16 };

/* Some hundred thousand are usual. */
enum { MAX_SYMBOLS = 1 << 24 };

typedef struct {
	uint64_t address;
	char *name;
} Symbol;

struct LodeKernelSymbols {
	GStringChunk *strings;
	GArray *symbols; /* Symbol, by address, each address once */
	uint64_t text;
};

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/*
 * A line such as "ffffffff81000000 T _text", or with the name of a module at its end. sscanf()
 * takes five times as long, and there are a hundred thousand lines. "_text" and its like stand
 * for a place, and have the address of a function.
 */
static void add_line(LodeKernelSymbols *self, const char *line)
{
	static const char blanks[] = " \t\n";
	char *type;
	uint64_t address = g_ascii_strtoull(line, &type, 16);

	if (address == 0 || type[0] != ' ' || !is_code(type[1]) || type[2] != ' ')
		return;
	const char *name = type + 3, *end = name + strcspn(name, blanks);
	const char *module = end + strspn(end, blanks);
	g_autofree char *text = *module == '\0'
	                                ? g_strndup(name, (gsize)(end - name))
	                                : g_strdup_printf("%.*s %.*s", (int)(end - name), name,
						  (int)strcspn(module, blanks), module);
	if (text[0] == '\0')
		return;
	if (strcmp(text, "_text") == 0)
		self->text = address;
	if (strcmp(text, "_text") == 0 || strcmp(text, "_stext") == 0 ||
		self->symbols->len >= MAX_SYMBOLS)
		return;
	const Symbol symbol = {address, g_string_chunk_insert(self->strings, text)};
	g_array_append_val(self->symbols, symbol);
}

LODE_ORDER(compare, Symbol, LODE_ASCENDING(address), strcmp(left->name, right->name))

static void sort(LodeKernelSymbols *self)
{
	guint kept = 0;

	g_array_sort(self->symbols, compare);
	for (guint i = 0; i < self->symbols->len; i++) {
		const Symbol symbol = g_array_index(self->symbols, Symbol, i);
		if (kept == 0 ||
			g_array_index(self->symbols, Symbol, kept - 1).address != symbol.address)
			g_array_index(self->symbols, Symbol, kept++) = symbol;
	}
	g_array_set_size(self->symbols, kept);
}

LodeKernelSymbols *lode_kernel_symbols_read(const char *path)
{
	g_autoptr(LodeKernelSymbols) self = g_new0(LodeKernelSymbols, 1);
	FILE *file = fopen(path, "re");
	char line[1024];

	self->strings = g_string_chunk_new(1 << 16);
	self->symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		add_line(self, line);
	if (file != NULL)
		fclose(file);
	sort(self);
	return self->symbols->len > 0 && self->text != 0 ? g_steal_pointer(&self) : NULL;
}

void lode_kernel_symbols_free(LodeKernelSymbols *self)
{
	if (self == NULL)
		return;
	g_string_chunk_free(self->strings);
	g_array_unref(self->symbols);
	g_free(self);
}

uint64_t lode_kernel_symbols_text(const LodeKernelSymbols *self)
{
	return self->text;
}

const char *lode_kernel_symbols_find(
	const LodeKernelSymbols *self, uint64_t address, uint64_t *out_start)
{
	const Symbol *symbols = (const Symbol *)self->symbols->data;
	guint n = LODE_PARTITION_POINT(self->symbols->len, i, symbols[i].address <= address);

	if (n == 0 || address - symbols[n - 1].address >= LONGEST_FUNCTION)
		return NULL;
	*out_start = symbols[n - 1].address;
	return symbols[n - 1].name;
}
