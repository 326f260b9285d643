/* SPDX-License-Identifier: MIT */
/*
 * The tables are found by what they hold, as their own names are stripped, too:
 *
 *   PyModuleDef    name, methods ─────────────────┐
 *   PyTypeObject   name, methods ─────────────────┼─▶ PyMethodDef[]  name, function, flags, text
 *                  slots; number, sequence,       │
 *                  mapping ─▶ slots               │
 *   PyType_Spec    name, PyType_Slot[] ─ methods ─┘
 *
 * In a file that can be loaded anywhere the words of a table are relocations.
 */
#include "images/elf/python_functions.h"

#include "images/elf/symbol_table.h"

#include <string.h>

enum {
	WORD = 8,
	TYPE_WORDS = 51, /* of a PyTypeObject */
	TYPE_NAME = 3,
	TYPE_BASIC_SIZE = 4,
	TYPE_ITEM_SIZE = 5,
	TYPE_CALL_OFFSET = 7, /* where its objects have the function that is called; 0: nowhere */
	TYPE_NUMBER = 12,
	TYPE_SEQUENCE = 13,
	TYPE_MAPPING = 14,
	TYPE_METHODS = 29,
	MODULE_NAME = 5,
	MODULE_TEXT = 6,
	MODULE_SIZE = 7,
	MODULE_METHODS = 8,
	SPEC_SIZES = 1,
	SPEC_SLOTS = 3,
	METHOD_WORDS = 4,
	METHOD_FLAGS = 0x3ff,  /* those that exist */
	SLOT_METHODS = 64,     /* Py_tp_methods */
	LAST_SLOT = 100,       /* there are 81 in 3.12 */
	MAX_OBJECT = 1 << 20,  /* bytes of an object that are believed */
	MAX_METHODS = 1 << 18, /* of a file; an interpreter has some thousands */
	MAX_NAME = 128,
	MAX_FILE = 1 << 28, /* larger ones are libraries with little of Python */
};

typedef struct {
	unsigned word; /* of the structure; as PyType_Slot its number */
	const char *name;
} Slot;

/* Of a PyTypeObject. */
static const Slot type_slots[] = {{6, "dealloc"}, {10, "__repr__"}, {15, "__hash__"},
	{16, "__call__"}, {17, "__str__"}, {18, "__getattribute__"}, {19, "__setattr__"},
	{23, "traverse"}, {24, "clear"}, {25, "comparison"}, {27, "__iter__"}, {28, "__next__"},
	{34, "__get__"}, {37, "__init__"}, {39, "__new__"}, {49, "finalize"}, {50, "vectorcall"}};

/* Of PyNumberMethods, PySequenceMethods, PyMappingMethods. */
static const Slot number_slots[] = {{0, "__add__"}, {1, "__sub__"}, {2, "__mul__"}, {3, "__mod__"},
	{4, "__divmod__"}, {5, "__pow__"}, {6, "__neg__"}, {8, "__abs__"}, {9, "__bool__"},
	{11, "__lshift__"}, {12, "__rshift__"}, {13, "__and__"}, {14, "__xor__"}, {15, "__or__"},
	{16, "__int__"}, {18, "__float__"}, {19, "__iadd__"}, {20, "__isub__"}, {21, "__imul__"},
	{29, "__floordiv__"}, {30, "__truediv__"}};
static const Slot sequence_slots[] = {{0, "__len__"}, {1, "__add__"}, {2, "__mul__"},
	{3, "__getitem__"}, {5, "__setitem__"}, {7, "__contains__"}, {8, "__iadd__"}};
static const Slot mapping_slots[] = {{0, "__len__"}, {1, "__getitem__"}, {2, "__setitem__"}};

/* Of PyType_Slot. */
static const Slot numbered_slots[] = {{5, "__getitem__"}, {7, "__add__"}, {41, "__contains__"},
	{50, "__call__"}, {52, "dealloc"}, {58, "__getattribute__"}, {59, "__hash__"},
	{60, "__init__"}, {62, "__iter__"}, {63, "__next__"}, {65, "__new__"}, {66, "__repr__"},
	{67, "comparison"}};

typedef struct {
	const LodeElfFile *file;
	GHashTable *relocated; /* address of a word → the value put there */
	GHashTable *named;     /* addresses that have a symbol */
	GHashTable *terms;     /* as returned */
	GArray *symbols;
	GStringChunk *names;
	unsigned n_methods; /* looked at */
} Search;

/* --- words and texts --- */

static bool read_word(const Search *self, uint64_t address, uint64_t *out)
{
	const uint64_t *relocated = g_hash_table_size(self->relocated) > 0
	                                    ? g_hash_table_lookup(self->relocated, &address)
	                                    : NULL;
	size_t n = 0;
	const uint8_t *bytes = lode_elf_file_loaded_bytes(self->file, address, &n);

	*out = 0;
	if (bytes == NULL || n < WORD)
		return false;
	*out = relocated != NULL ? *relocated : lode_elf_file_number(self->file, bytes, WORD);
	return true;
}

static uint64_t word_at(const Search *self, uint64_t address, unsigned word)
{
	uint64_t value;

	read_word(self, address + (uint64_t)word * WORD, &value);
	return value;
}

static bool is_mapped(const Search *self, uint64_t address)
{
	size_t n = 0;

	return lode_elf_file_loaded_bytes(self->file, address, &n) != NULL;
}

static bool is_code(const Search *self, uint64_t address)
{
	return address != 0 && lode_elf_file_find_range(self->file, address) != NULL;
}

/* A name of Python's, with the modules before it; NULL: there is none. */
static const char *name_at(const Search *self, uint64_t address)
{
	size_t n = 0, length = 0;
	const char *text = address == 0 ? NULL
	                                : (const char *)lode_elf_file_loaded_bytes(
						  self->file, address, &n);

	if (text == NULL || g_ascii_isdigit(text[0]) || text[0] == '.')
		return NULL;
	while (length < MIN(n, MAX_NAME) &&
		(g_ascii_isalnum(text[length]) || text[length] == '_' || text[length] == '.'))
		length++;
	return length > 0 && length < MIN(n, MAX_NAME) && text[length] == '\0' ? text : NULL;
}

/* --- functions --- */

static void add_function(Search *self, const char *owner, uint64_t address, const char *name)
{
	LodeSymbol symbol = {.address = address, .rank = LODE_SYMBOL_LOCAL};

	if (!is_code(self, address) || g_hash_table_contains(self->named, &address))
		return;
	g_autofree char *full = strcmp(owner, "builtins") == 0
	                                ? g_strdup(name)
	                                : g_strconcat(owner, ".", name, NULL);
	symbol.symbol = g_string_chunk_insert_const(self->names, full);
	g_hash_table_insert(self->terms, (char *)symbol.symbol, (char *)symbol.symbol);
	g_array_append_val(self->symbols, symbol);
	g_hash_table_add(self->named, g_memdup2(&address, sizeof address));
}

static bool is_method(const Search *self, uint64_t at)
{
	uint64_t flags = word_at(self, at, 2), text = word_at(self, at, 3);

	return name_at(self, word_at(self, at, 0)) != NULL && is_code(self, word_at(self, at, 1)) &&
	       flags != 0 && (flags & ~(uint64_t)METHOD_FLAGS) == 0 &&
	       (text == 0 || is_mapped(self, text));
}

static void add_methods(Search *self, const char *owner, uint64_t at)
{
	for (; self->n_methods < MAX_METHODS && is_method(self, at); at += METHOD_WORDS * WORD) {
		self->n_methods++;
		add_function(
			self, owner, word_at(self, at, 1), name_at(self, word_at(self, at, 0)));
	}
}

static void add_slots(Search *self, const char *owner, uint64_t at, const Slot *slots, size_t n)
{
	for (size_t i = 0; at != 0 && i < n; i++)
		add_function(self, owner, word_at(self, at, slots[i].word), slots[i].name);
}

/* --- tables --- */

static bool is_code_or_none(const Search *self, uint64_t address)
{
	return address == 0 || is_code(self, address);
}

static bool is_mapped_or_none(const Search *self, uint64_t address)
{
	return address == 0 || is_mapped(self, address);
}

static bool is_type(const Search *self, uint64_t at)
{
	uint64_t basic = word_at(self, at, TYPE_BASIC_SIZE);
	size_t n_functions = 0;

	if (name_at(self, word_at(self, at, TYPE_NAME)) == NULL || word_at(self, at, 2) != 0 ||
		basic < WORD || basic > MAX_OBJECT ||
		word_at(self, at, TYPE_ITEM_SIZE) > MAX_OBJECT)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(type_slots); i++) {
		uint64_t function = word_at(self, at, type_slots[i].word);
		if (!is_code_or_none(self, function))
			return false;
		n_functions += function != 0;
	}
	return n_functions > 0 && is_mapped_or_none(self, word_at(self, at, TYPE_NUMBER)) &&
	       is_mapped_or_none(self, word_at(self, at, TYPE_SEQUENCE)) &&
	       is_mapped_or_none(self, word_at(self, at, TYPE_MAPPING)) &&
	       is_mapped_or_none(self, word_at(self, at, TYPE_METHODS));
}

static void add_type(Search *self, uint64_t at)
{
	const char *name = name_at(self, word_at(self, at, TYPE_NAME));

	if (word_at(self, at, TYPE_CALL_OFFSET) != 0)
		g_hash_table_insert(self->terms, (char *)name, (char *)name);
	add_methods(self, name, word_at(self, at, TYPE_METHODS));
	add_slots(self, name, word_at(self, at, TYPE_SEQUENCE), sequence_slots,
		G_N_ELEMENTS(sequence_slots));
	add_slots(self, name, word_at(self, at, TYPE_MAPPING), mapping_slots,
		G_N_ELEMENTS(mapping_slots));
	add_slots(self, name, word_at(self, at, TYPE_NUMBER), number_slots,
		G_N_ELEMENTS(number_slots));
	add_slots(self, name, at, type_slots, G_N_ELEMENTS(type_slots));
}

static bool is_module(const Search *self, uint64_t at)
{
	int64_t size = (int64_t)word_at(self, at, MODULE_SIZE);

	return word_at(self, at, 0) != 0 && word_at(self, at, 1) == 0 &&
	       word_at(self, at, 2) == 0 && word_at(self, at, 3) == 0 &&
	       word_at(self, at, 4) == 0 && size >= -1 && size < MAX_OBJECT &&
	       name_at(self, word_at(self, at, MODULE_NAME)) != NULL &&
	       is_mapped_or_none(self, word_at(self, at, MODULE_TEXT)) &&
	       is_method(self, word_at(self, at, MODULE_METHODS));
}

/* The name of a type as it is written, and the first of its slots. */
static bool is_spec(const Search *self, uint64_t at)
{
	uint64_t sizes = word_at(self, at, SPEC_SIZES), slots = word_at(self, at, SPEC_SLOTS);
	uint64_t slot = word_at(self, slots, 0);

	return slots != 0 && name_at(self, word_at(self, at, 0)) != NULL &&
	       (sizes & UINT32_MAX) < MAX_OBJECT && sizes >> 32 < MAX_OBJECT && slot > 0 &&
	       slot <= LAST_SLOT && is_mapped(self, word_at(self, slots, 1));
}

static void add_spec(Search *self, uint64_t at)
{
	const char *name = name_at(self, word_at(self, at, 0));
	uint64_t slots = word_at(self, at, SPEC_SLOTS);

	for (int i = 0; i < LAST_SLOT; i++, slots += 2 * WORD) {
		uint64_t number = word_at(self, slots, 0), value = word_at(self, slots, 1);
		if (number == 0 || number > LAST_SLOT)
			return;
		if (number == SLOT_METHODS)
			add_methods(self, name, value);
		for (size_t k = 0; k < G_N_ELEMENTS(numbered_slots); k++)
			if (numbered_slots[k].word == number)
				add_function(self, name, value, numbered_slots[k].name);
	}
}

/* --- the file --- */

static void add_relocations(Search *self, const LodeElfSection *table)
{
	const uint8_t *bytes = lode_elf_section_bytes(table);

	for (uint64_t i = 0; bytes != NULL && i < table->size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela raw;

		memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
		if (ELF64_R_TYPE(raw.r_info) == R_X86_64_RELATIVE)
			g_hash_table_insert(self->relocated,
				g_memdup2(&raw.r_offset, sizeof raw.r_offset),
				g_memdup2(&raw.r_addend, sizeof raw.r_addend));
	}
}

/* Whether the symbols are those of the interpreter or of a module. Adds the types that they name,
 * "PyList_" → "list", to `types`. */
static bool is_python(const Search *self, GHashTable *types)
{
	static const char of_type[] = "_Type";
	const LodeElfSection *table = lode_elf_file_find_type(self->file, SHT_DYNSYM);
	bool is_found = false;
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(self->file, table, &symbols))
		return false;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *symbol = &symbols.all[i];
		const char *name = lode_elf_symbol_name(&symbols, symbol);
		if (name == NULL || symbol->st_shndx == SHN_UNDEF)
			continue;
		is_found |= strcmp(name, "_PyRuntime") == 0 || g_str_has_prefix(name, "PyInit_");
		const char *type = g_str_has_prefix(name, "Py") && g_str_has_suffix(name, of_type)
		                           ? name_at(self,
						     word_at(self, symbol->st_value, TYPE_NAME))
		                           : NULL;
		if (type != NULL)
			g_hash_table_insert(types,
				g_strndup(name, strlen(name) - strlen(of_type) + 1), (char *)type);
	}
	return is_found;
}

/* The names of C's functions in Python's terms. */
static void add_terms(Search *self, GHashTable *types)
{
	for (guint i = 0; i < self->symbols->len; i++) {
		const char *symbol = g_array_index(self->symbols, LodeSymbol, i).symbol;
		const char *name = symbol + strspn(symbol, "_"), *rest = strchr(name, '_');
		g_autofree char *prefix = rest != NULL ? g_strndup(name, (size_t)(rest + 1 - name))
		                                       : g_strdup(name);
		const char *type = g_hash_table_lookup(types, prefix);
		if (type == NULL)
			continue;
		g_autofree char *method = g_ascii_strdown(rest + 1, -1);
		g_autofree char *term = g_strconcat(type, ".", method, NULL);
		g_hash_table_insert(self->terms, (char *)symbol,
			g_string_chunk_insert_const(self->names, term));
	}
}

static void search_section(Search *self, const LodeElfSection *section)
{
	for (uint64_t at = 0; at + WORD <= section->size; at += WORD) {
		uint64_t address = section->address + at;

		if (is_module(self, address))
			add_methods(self, name_at(self, word_at(self, address, MODULE_NAME)),
				word_at(self, address, MODULE_METHODS));
		else if (at + (uint64_t)TYPE_WORDS * WORD <= section->size &&
			 is_type(self, address))
			add_type(self, address);
		else if (is_spec(self, address))
			add_spec(self, address);
	}
}

GHashTable *lode_python_functions_add(const LodeElfFile *file, GArray *symbols, GStringChunk *names)
{
	g_autoptr(GHashTable)
		relocated = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g_autoptr(GHashTable)
		named = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GHashTable) types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) terms = g_hash_table_new(g_str_hash, g_str_equal);
	Search self = {file, relocated, named, terms, symbols, names, 0};

	if (file->undecoded != NULL || file->is_32 || file->size > MAX_FILE ||
		!is_python(&self, types))
		return NULL;
	add_terms(&self, types);
	for (guint i = 0; i < symbols->len; i++) {
		uint64_t address = g_array_index(symbols, LodeSymbol, i).address;
		g_hash_table_add(named, g_memdup2(&address, sizeof address));
	}
	for (guint i = 0; i < file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(file->sections, LodeElfSection, i);
		if (section->type == SHT_RELA && !(section->flags & SHF_COMPRESSED))
			add_relocations(&self, section);
	}
	for (guint i = 0; i < file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(file->sections, LodeElfSection, i);
		if (section->type == SHT_PROGBITS && (section->flags & SHF_WRITE) != 0 &&
			section->place != NULL)
			search_section(&self, section);
	}
	return g_steal_pointer(&terms);
}
