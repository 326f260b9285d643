/* SPDX-License-Identifier: MIT */
#include "images/elf/binary_image.h"
#include "images/elf/python_functions.h"

#include <string.h>

/* Functions rarely call each other in chains as long as this. */
enum { MAX_ROUNDS = 100 };

#define OF_MODULE "PyInit_"

typedef struct {
	guint from, to;
} Reference;

/* A name as far as `length`; NULL: nobody is known yet. */
typedef struct {
	const char *text;
	size_t length;
	bool is_term; /* it is Python's */
} Owner;

/* Of functions that C refers to by several names, or data. A term takes its place. */
static const Owner nobody = {"", 0, false};
/* Of functions that Python knows by names that have nothing in common. */
static const Owner everybody = {"", 0, true};

typedef struct {
	const LodeElfFile *file;
	GArray *functions;    /* LodeBinaryFunction */
	GArray *references;   /* Reference */
	Owner *owners;        /* of each function */
	bool *is_settled;     /* data refers to it: anybody may call it */
	GHashTable *starts;   /* addresses of functions without a name → their index + 1 */
	uint64_t first, last; /* of these addresses */
} Search;

static LodeBinaryFunction *function_at(const Search *self, guint i)
{
	return &g_array_index(self->functions, LodeBinaryFunction, i);
}

/* The number of functions where there is none. */
static guint unnamed_at(const Search *self, uint64_t address)
{
	if (address < self->first || address > self->last)
		return self->functions->len;
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->starts, &address));
	return found > 0 ? found - 1 : self->functions->len;
}

static void refer(Search *self, guint from, uint64_t address)
{
	const Reference reference = {from, unnamed_at(self, address)};

	if (reference.to < self->functions->len && reference.to != from)
		g_array_append_val(self->references, reference);
}

/* Whether what stands before a displacement is the beginning of a call, a jump, or the address of
 * something in a register. */
static bool is_before_displacement(const uint8_t *bytes, uint64_t i)
{
	uint8_t last = i > 0 ? bytes[i - 1] : 0, before = i > 1 ? bytes[i - 2] : 0;

	return last == 0xe8 || last == 0xe9 || (before == 0x0f && (last & 0xf0) == 0x80) ||
	       (before == 0x8d && (last & 0xc7) == 0x05);
}

static void search_code(Search *self, guint from)
{
	const LodeBinaryFunction *function = function_at(self, from);
	const LodeElfRange *range = lode_elf_file_find_range(self->file, function->address);
	const uint8_t *bytes = range->bytes + (function->address - range->address);
	int32_t number;

	for (uint64_t i = 0; i + sizeof number <= function->size; i++) {
		memcpy(&number, bytes + i, sizeof number);
		if (is_before_displacement(bytes, i))
			refer(self, from,
				function->address + i + sizeof number + (uint64_t)(int64_t)number);
		if (self->file->is_fixed)
			refer(self, from, (uint32_t)number);
	}
}

static void take_data(Search *self, uint64_t address)
{
	guint function = unnamed_at(self, address);

	if (function < self->functions->len) {
		self->owners[function] = nobody;
		self->is_settled[function] = true;
	}
}

static void search_data(Search *self)
{
	for (guint i = 0; i < self->file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(
			self->file->sections, LodeElfSection, i);
		bool is_relocations = section->type == SHT_RELA;
		bool is_data = (section->flags & SHF_ALLOC) != 0 &&
		               (section->flags & SHF_EXECINSTR) == 0;
		const uint8_t *bytes = (is_relocations || is_data) && section->place != NULL &&
		                                       !(section->flags & SHF_COMPRESSED)
		                               ? lode_elf_section_bytes(section)
		                               : NULL;
		for (uint64_t at = 0; bytes != NULL && at + 8 <= section->size; at += 8)
			take_data(self, lode_elf_file_number(self->file, bytes + at, 8));
	}
}

static Owner join(Owner left, Owner right)
{
	size_t n = 0, length = 0, shorter = MIN(left.length, right.length);

	if (left.text == NULL || right.text == NULL)
		return left.text == NULL ? right : left;
	/* functions of the interface for C use what belongs to a type, too */
	if (left.is_term != right.is_term)
		return left.is_term ? left : right;
	for (; n < shorter && left.text[n] == right.text[n]; n++)
		length = left.text[n] == '.' ? n : length;
	if (n == left.length && n == right.length)
		return left;
	if (n == shorter && (left.length > n ? left : right).text[n] == '.')
		length = n;
	if (length > 0)
		return (Owner){left.text, length, left.is_term};
	return left.is_term ? everybody : nobody;
}

static bool spread(Search *self)
{
	bool has_changed = false;

	for (guint i = 0; i < self->references->len; i++) {
		const Reference *one = &g_array_index(self->references, Reference, i);
		if (self->is_settled[one->to])
			continue;
		Owner joined = join(self->owners[one->to], self->owners[one->from]);
		const Owner *known = &self->owners[one->to];
		has_changed |= joined.text != known->text || joined.length != known->length ||
		               joined.is_term != known->is_term;
		self->owners[one->to] = joined;
	}
	return has_changed;
}

static bool refers(const Search *self, const char *symbol, guint to)
{
	for (guint i = 0; i < self->references->len; i++) {
		const Reference *one = &g_array_index(self->references, Reference, i);
		if (one->to == to && g_strcmp0(function_at(self, one->from)->symbol, symbol) == 0)
			return true;
	}
	return false;
}

/* The collector is part of each function that allocates, as calls of it are inlined there: it is
 * what both PyGC_Collect and PyType_GenericAlloc refer to. */
static void find_collector(Search *self)
{
	for (guint i = 0; i < self->references->len; i++) {
		const Reference *one = &g_array_index(self->references, Reference, i);
		if (g_strcmp0(function_at(self, one->from)->symbol, "PyGC_Collect") != 0 ||
			!refers(self, "PyType_GenericAlloc", one->to))
			continue;
		self->owners[one->to] = (Owner){"gc.collect", strlen("gc.collect"), true};
		self->is_settled[one->to] = true;
	}
}

static void set_names(Search *self, GStringChunk *names)
{
	for (guint i = 0; i < self->functions->len; i++) {
		LodeBinaryFunction *function = function_at(self, i);
		const Owner *owner = &self->owners[i];
		if (function->symbol != NULL || owner->length == 0)
			continue;
		g_autofree char *name = g_strdup_printf("%.*s.part.%" G_GINT64_MODIFIER "x",
			(int)owner->length, owner->text, function->address);
		function->symbol = g_string_chunk_insert_const(names, name);
	}
}

/* The name of the module that the file is; NULL: it is none. */
static const char *module_of(const GArray *functions)
{
	for (guint i = 0; i < functions->len; i++) {
		const char *symbol = g_array_index(functions, LodeBinaryFunction, i).symbol;
		if (symbol != NULL && g_str_has_prefix(symbol, OF_MODULE))
			return symbol + strlen(OF_MODULE);
	}
	return NULL;
}

/* Whether a function makes the module's objects: what it refers to is the module's. */
static bool is_beginning(const char *symbol)
{
	return g_str_has_prefix(symbol, OF_MODULE) || g_str_has_prefix(symbol, "init");
}

/* Without the method of a type that is called by no table. */
static size_t owner_length(GHashTable *terms, const char *owner)
{
	const char *dot = strrchr(owner, '.');
	g_autofree char *type = dot != NULL ? g_strndup(owner, (size_t)(dot - owner)) : NULL;

	return type != NULL && g_hash_table_contains(terms, type) ? strlen(type) : strlen(owner);
}

void lode_python_functions_name_parts(
	const LodeElfFile *file, GArray *functions, GHashTable *terms, GStringChunk *names)
{
	g_autoptr(GHashTable) starts = g_hash_table_new(g_int64_hash, g_int64_equal);
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(Reference));
	g_autofree Owner *owners = g_new0(Owner, functions->len + 1);
	g_autofree bool *is_settled = g_new0(bool, functions->len + 1);
	Search self = {.file = file,
		.functions = functions,
		.references = references,
		.owners = owners,
		.is_settled = is_settled,
		.starts = starts,
		.first = UINT64_MAX};

	const char *module = module_of(functions);
	for (guint i = 0; i < functions->len; i++) {
		LodeBinaryFunction *function = function_at(&self, i);
		if (function->symbol != NULL) {
			const char *term = g_hash_table_lookup(terms, function->symbol);
			const char *owner = term != NULL ? term
			                    : module != NULL && is_beginning(function->symbol)
			                            ? module
			                            : function->symbol;
			owners[i] = (Owner){owner, owner_length(terms, owner), term != NULL};
			continue;
		}
		g_hash_table_insert(starts, &function->address, GUINT_TO_POINTER(i + 1));
		self.first = MIN(self.first, function->address);
		self.last = MAX(self.last, function->address);
	}
	search_data(&self);
	for (guint i = 0; i < functions->len; i++)
		search_code(&self, i);
	find_collector(&self);
	bool has_changed = true;
	for (int i = 0; has_changed && i < MAX_ROUNDS; i++)
		has_changed = spread(&self);
	if (!has_changed)
		set_names(&self, names);
}
