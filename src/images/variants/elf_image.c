/* SPDX-License-Identifier: MIT */
/* An ELF file: itself, a separate debug file, functions, and source lines when asked. */
#include "images/variants/elf_image.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/code/function_starts.h"
#include "images/dwarf/debug_file.h"
#include "images/dwarf/source_lines.h"
#include "images/dwarf/unwind_functions.h"
#include "images/elf/binary_image.h"
#include "images/elf/demangled_name.h"
#include "images/elf/elf_file.h"
#include "images/elf/go_functions.h"
#include "images/elf/packed_symbols.h"
#include "images/elf/python_functions.h"
#include "images/elf/symbol_table.h"
#include "images/elf/thread_block.h"
#include "images/instructions/instruction_decoder.h"
#include "images/variants/data_symbols.h"

#include <stdlib.h>
#include <string.h>

/* --- functions --- */

/*
 * All functions of an image, sorted and disjoint.
 *
 *   symbols (best one of an address) ─▶ unwind ranges no symbol covers ─▶ code nothing covers, cut
 */

/*
 * Sized symbols keep their size but for overlaps: of two that overlap the first ends where the
 * second begins. A label (assembly without size) inside a sized function is part of it; elsewhere
 * it reaches to the next symbol, unwind range or the section's end.
 */

typedef struct {
	const LodeElfFile *file;
	const LodeUnwindRange *unwind; /* sorted, disjoint */
	size_t n_unwind;
	GArray *functions; /* LodeBinaryFunction; names set last */
	GStringChunk *names;
} Table;

static LodeBinaryFunction *function_at(const Table *table, size_t i)
{
	return &g_array_index(table->functions, LodeBinaryFunction, i);
}

static void add_function(Table *table, uint64_t address, uint64_t end, const char *symbol)
{
	LodeBinaryFunction function = {.address = address, .size = end - address, .symbol = symbol};

	if (end > address)
		g_array_append_val(table->functions, function);
}

LODE_ORDER(compare_functions, LodeBinaryFunction, LODE_ASCENDING(address))

static void sort_functions(Table *table)
{
	if (table->functions->len > 1)
		qsort(table->functions->data, table->functions->len, sizeof(LodeBinaryFunction),
			compare_functions);
}

LODE_ORDER(compare_unwind, LodeUnwindRange, LODE_ASCENDING(address), LODE_DESCENDING(size))

/* Keeps the ranges in code other than PLT entries, each ending where the next one begins. */
static void clean_unwind(Table *table, GArray *unwind)
{
	guint n = 0;

	if (unwind->len > 1)
		qsort(unwind->data, unwind->len, sizeof(LodeUnwindRange), compare_unwind);
	for (guint i = 0; i < unwind->len; i++) {
		LodeUnwindRange range = g_array_index(unwind, LodeUnwindRange, i);
		const LodeElfRange *code = lode_elf_file_find_range(table->file, range.address);
		LodeUnwindRange *last = n == 0 ? NULL
		                               : &g_array_index(unwind, LodeUnwindRange, n - 1);

		/* one entry covers all of a PLT, whose functions have symbols of their own */
		if (code == NULL || lode_symbol_table_is_plt(code))
			continue;
		if (last != NULL && last->address == range.address)
			continue;
		if (last != NULL && range.address - last->address < last->size)
			last->size = range.address - last->address;
		range.size = MIN(range.size, code->size - (range.address - code->address));
		g_array_index(unwind, LodeUnwindRange, n++) = range;
	}
	g_array_set_size(unwind, n);
	table->unwind = (const LodeUnwindRange *)(const void *)unwind->data;
	table->n_unwind = n;
}

/* The beginning of the first unwind range after `address`, or `limit`. */
static uint64_t next_unwind(const Table *table, uint64_t address, uint64_t limit)
{
	size_t low = LODE_PARTITION_POINT(table->n_unwind, i, table->unwind[i].address <= address);
	return low < table->n_unwind ? MIN(table->unwind[low].address, limit) : limit;
}

/* Drops symbols outside of code and all but the best symbol of an address. */
static void clean_symbols(const Table *table, GArray *symbols)
{
	guint n = 0;

	lode_symbol_table_sort(symbols);
	for (guint i = 0; i < symbols->len; i++) {
		LodeSymbol symbol = g_array_index(symbols, LodeSymbol, i);
		LodeSymbol *last = n == 0 ? NULL : &g_array_index(symbols, LodeSymbol, n - 1);

		if (lode_elf_file_find_range(table->file, symbol.address) == NULL)
			continue;
		if (last == NULL || last->address != symbol.address)
			g_array_index(symbols, LodeSymbol, n++) = symbol;
		else if (last->size == 0) /* the better name need not have the size */
			last->size = symbol.size;
	}
	g_array_set_size(symbols, n);
}

static uint64_t end_of_symbol(const Table *table, const LodeSymbol *symbol, uint64_t next)
{
	const LodeElfRange *code = lode_elf_file_find_range(table->file, symbol->address);
	uint64_t limit = code->address + code->size;

	if (symbol->size != 0)
		return symbol->address + MIN(symbol->size, limit - symbol->address);
	return next_unwind(table, symbol->address, MIN(limit, next));
}

static void add_symbols(Table *table, const GArray *symbols)
{
	uint64_t sized_end = 0;

	for (guint i = 0; i < symbols->len; i++) {
		const LodeSymbol *symbol = &g_array_index(symbols, LodeSymbol, i);
		uint64_t next = i + 1 < symbols->len ? symbol[1].address : UINT64_MAX;
		LodeBinaryFunction *last = NULL;

		if (symbol->address < sized_end &&
			(symbol->size == 0 || symbol->rank == LODE_SYMBOL_LABEL))
			continue;
		if (table->functions->len > 0)
			last = function_at(table, table->functions->len - 1);
		if (last != NULL && symbol->address - last->address < last->size)
			last->size = symbol->address - last->address;
		add_function(
			table, symbol->address, end_of_symbol(table, symbol, next), symbol->symbol);
		if (symbol->size != 0)
			sized_end = end_of_symbol(table, symbol, next);
	}
}

/* A no-op by its opcode, but where functions begin that are called indirectly (Intel CET). */
static bool is_endbr(const uint8_t *code, const LodeDecodedInstruction *decoded)
{
	return decoded->length == 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0;
}

/* Bytes of alignment at the beginning of `code`: no-ops, traps, zeros. */
static uint64_t count_padding(const uint8_t *code, uint64_t size)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;
	uint64_t n = 0;

	lode_instruction_decoder_init(&decoder);
	while (n < size) {
		if (code[n] == 0xcc || code[n] == 0x00) {
			n++;
			continue;
		}
		if (!lode_instruction_decoder_decode(
			    &decoder, code + n, (size_t)(size - n), n, &decoded) ||
			!(decoded.kinds & (1U << LODE_KIND_NOP)) || is_endbr(code + n, &decoded))
			break;
		n += decoded.length;
	}
	return n;
}

static bool is_padding(const Table *table, uint64_t address, uint64_t end)
{
	const LodeElfRange *code = lode_elf_file_find_range(table->file, address);

	return table->file->undecoded == NULL &&
	       count_padding(code->bytes + (address - code->address), end - address) ==
	               end - address;
}

static void add_unwind(Table *table)
{
	guint n = table->functions->len, next = 0;
	uint64_t covered = 0;

	for (size_t i = 0; i < table->n_unwind; i++) {
		uint64_t address = table->unwind[i].address;
		uint64_t end = address + table->unwind[i].size;

		for (; next < n && function_at(table, next)->address <= address; next++)
			covered = function_at(table, next)->address +
			          function_at(table, next)->size;
		if (address < covered)
			continue;
		if (next < n && function_at(table, next)->address < end) {
			end = function_at(table, next)->address;
			/* an entry for a signal trampoline begins one no-op before it */
			if (is_padding(table, address, end))
				continue;
		}
		add_function(table, address, end, NULL);
	}
	sort_functions(table);
}

/* Without the padding at its beginning. */
static void add_gap(
	const Table *table, const LodeElfRange *code, uint64_t address, uint64_t end, GArray *gaps)
{
	if (address < end && table->file->undecoded == NULL)
		address += count_padding(code->bytes + (address - code->address), end - address);
	const LodeUnnamedCode gap = {address, end - address};
	if (address < end)
		g_array_append_val(gaps, gap);
}

static void find_gaps(Table *table, GArray *gaps)
{
	guint n = table->functions->len, next = 0;

	for (guint i = 0; i < table->file->executable->len; i++) {
		const LodeElfRange *code = &g_array_index(table->file->executable, LodeElfRange, i);
		uint64_t end = code->address + code->size, covered = code->address;

		for (; next < n && function_at(table, next)->address < end; next++) {
			uint64_t address = function_at(table, next)->address;
			uint64_t size = function_at(table, next)->size;

			add_gap(table, code, covered, address, gaps);
			covered = address + size;
		}
		add_gap(table, code, covered, end, gaps);
	}
}

static void add_gaps(Table *table)
{
	g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(LodeUnnamedCode));
	g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	guint next = 0;

	find_gaps(table, gaps);
	if (table->file->undecoded == NULL)
		lode_function_starts_find(table->file, gaps, starts);
	for (guint i = 0; i < gaps->len; i++) {
		const LodeUnnamedCode *gap = &g_array_index(gaps, LodeUnnamedCode, i);
		uint64_t begin = gap->address, end = gap->address + gap->size;

		for (; next < starts->len && g_array_index(starts, uint64_t, next) < end; next++) {
			add_function(table, begin, g_array_index(starts, uint64_t, next), NULL);
			begin = g_array_index(starts, uint64_t, next);
		}
		add_function(table, begin, end, NULL);
	}
	sort_functions(table);
}

static void name_function(Table *table, LodeBinaryFunction *function)
{
	char name[32];

	if (function->symbol != NULL && !g_utf8_validate(function->symbol, -1, NULL)) {
		g_autofree char *valid = g_utf8_make_valid(function->symbol, -1);

		function->symbol = g_string_chunk_insert_const(table->names, valid);
	}
	if (function->symbol != NULL && g_str_has_suffix(function->symbol, "@plt")) {
		g_autofree char *plain = g_strndup(function->symbol, strlen(function->symbol) - 4);
		g_autofree char *full = g_strconcat(
			lode_demangled_name(plain, table->names), "@plt", NULL);

		function->name = g_string_chunk_insert_const(table->names, full);
		return;
	}
	if (function->symbol != NULL) {
		function->name = lode_demangled_name(function->symbol, table->names);
		return;
	}
	g_snprintf(name, sizeof name, "fn_%" G_GINT64_MODIFIER "x", function->address);
	function->name = g_string_chunk_insert(table->names, name);
}

/*
 * `terms` is that of lode_python_functions_name_parts(), or NULL: parts get no names.
 * Consumes nothing: `symbols` (LodeSymbol) and `unwind` (LodeUnwindRange) are sorted in place, the
 * result (LodeBinaryFunction) borrows their symbols' text, other names are kept in `names`.
 */
static GArray *build_function_table(const LodeElfFile *file, GArray *symbols, GArray *unwind,
	GStringChunk *names, GHashTable *terms)
{
	Table table = {.file = file, .names = names};

	table.functions = g_array_new(FALSE, FALSE, sizeof(LodeBinaryFunction));
	clean_unwind(&table, unwind);
	clean_symbols(&table, symbols);
	add_symbols(&table, symbols);
	add_unwind(&table);
	add_gaps(&table);
	if (terms != NULL)
		lode_python_functions_name_parts(file, table.functions, terms, names);
	for (guint i = 0; i < table.functions->len; i++)
		name_function(&table, function_at(&table, i));
	return table.functions;
}

/* --- the image --- */

static void warn(LodeElfImage *self, const char *message)
{
	if (self->image.warning == NULL && message != NULL)
		self->image.warning = g_strdup_printf("%s: %s", self->file->path, message);
}

static bool has_symbol_table(const LodeElfFile *file)
{
	return lode_elf_file_find_type(file, SHT_SYMTAB) != NULL;
}

/* The terms of Python's functions; NULL: there are none. */
static GHashTable *read_symbols(LodeElfImage *self, bool has_symbols, GArray *symbols)
{
	/* .symtab has what .dynsym has, and the local symbols too; .gnu_debugdata has not */
	uint32_t type = has_symbol_table(self->file) ? SHT_SYMTAB : SHT_DYNSYM;

	if (!lode_symbol_table_read(self->file, type, self->file, symbols))
		warn(self, "the symbol table is broken");
	if (self->debug != NULL &&
		!lode_symbol_table_read(self->debug, SHT_SYMTAB, self->file, symbols))
		warn(self, "the symbol table of the separate debug file is broken");
	if (self->packed_symbols != NULL &&
		!lode_symbol_table_read(self->packed_symbols, SHT_SYMTAB, self->file, symbols))
		warn(self, "the symbol table in .gnu_debugdata is broken");
	if (self->go != NULL && !has_symbols)
		lode_go_functions_add(self->go, symbols);
	GHashTable *terms = has_symbols
	                            ? NULL
	                            : lode_python_functions_add(self->file, symbols, self->names);
	lode_symbol_table_sort(symbols);
	if (self->file->undecoded == NULL)
		lode_symbol_table_add_plt(self->file, symbols, self->names);
	return terms;
}

static void read_functions(LodeElfImage *self, bool has_symbols)
{
	g_autoptr(GArray) symbols = g_array_new(FALSE, FALSE, sizeof(LodeSymbol));
	g_autoptr(GArray) unwind = g_array_new(FALSE, FALSE, sizeof(LodeUnwindRange));

	g_autoptr(GHashTable) terms = read_symbols(self, has_symbols, symbols);
	if (!lode_unwind_functions_read(self->file, unwind))
		warn(self, "the unwind table .eh_frame is broken");
	self->image.functions = build_function_table(
		self->file, symbols, unwind, self->names, terms);
}

/* Whether a separate file could add anything. */
static bool is_stripped(const LodeElfFile *file)
{
	return !has_symbol_table(file) || !lode_source_lines_exist(file);
}

/* The file that line tables are read from; NULL: none has any. */
static const LodeElfFile *file_with_lines(const LodeElfImage *self)
{
	if (lode_source_lines_exist(self->file))
		return self->file;
	if (self->debug != NULL && lode_source_lines_exist(self->debug))
		return self->debug;
	return NULL;
}

static bool is_elf(const char *path, const char *head, size_t head_size)
{
	(void)path;
	return head_size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static LodeBinaryImage *open_elf(
	const char *path, const LodeBinaryImageOptions *options, GError **error)
{
	LodeElfFile *file = lode_elf_file_open(path, error);
	const char *warning = NULL;
	LodeElfImage *self;

	if (file == NULL)
		return NULL;
	self = g_new0(LodeElfImage, 1);
	self->file = file;
	self->image.build_id = file->build_id;
	self->image.undecoded = file->undecoded;
	self->image.is_go = lode_elf_file_find_section(file, ".go.buildinfo") != NULL ||
	                    lode_elf_file_find_section(file, ".note.go.buildid") != NULL;
	self->names = g_string_chunk_new(1 << 16);
	if (options != NULL)
		self->debug_directory = g_strdup(options->debug_directory);
	if (is_stripped(file))
		self->debug = lode_debug_file_find(file, options);
	warn(self, file->warning);
	if (self->debug != NULL)
		warn(self, self->debug->warning);
	bool has_symbols = has_symbol_table(file) ||
	                   (self->debug != NULL && has_symbol_table(self->debug));
	if (!has_symbols)
		self->packed_symbols = lode_packed_symbols_open(file, &warning);
	if (!has_symbols || file_with_lines(self) == NULL)
		self->go = lode_go_functions_open(file);
	warn(self, warning);
	read_functions(self, has_symbols);
	return &self->image;
}

static void close_elf(LodeBinaryImage *image)
{
	LodeElfImage *self = (LodeElfImage *)image;

	lode_source_lines_free(self->lines);
	for (int i = 0; i < LODE_N_SYMBOL_KINDS; i++)
		lode_data_symbols_free(self->variables[i]);
	lode_debug_info_close(self->info);
	if (self->unwind != NULL)
		dwarf_cfi_end(self->unwind);
	lode_thread_block_free(self->thread_block);
	g_string_chunk_free(self->names);
	lode_go_functions_free(self->go);
	lode_elf_file_close(self->packed_symbols);
	lode_elf_file_close(self->debug);
	lode_elf_file_close(self->file);
	g_free(self->debug_directory);
}

static bool has_lines(const LodeBinaryImage *image)
{
	const LodeElfImage *self = (const LodeElfImage *)image;

	return file_with_lines(self) != NULL || self->go != NULL;
}

static const uint8_t *bytes_at(const LodeBinaryImage *image, uint64_t address, size_t *out_n)
{
	const LodeElfImage *self = (const LodeElfImage *)image;
	const LodeElfRange *range = lode_elf_file_find_range(self->file, address);
	uint64_t offset;

	if (range == NULL || self->file->undecoded != NULL)
		return NULL;
	offset = address - range->address;
	*out_n = (size_t)(range->size - offset);
	return range->bytes + offset;
}

LodeDebugInfo *lode_elf_image_debug_info(LodeElfImage *self)
{
	const LodeElfFile *file = file_with_lines(self);
	const char *warning = NULL;

	if (self->is_info_tried || file == NULL)
		return self->info;
	self->is_info_tried = true;
	self->info = lode_debug_info_open(file, self->file, self->debug_directory, &warning);
	warn(self, warning);
	return self->info;
}

static void open_unwind(LodeElfImage *self)
{
	static const char *const NAMES[] = {".debug_frame", ".zdebug_frame"};
	const LodeElfFile *file = file_with_lines(self);

	self->is_unwind_tried = true;
	if (self->file->has_compressed_bomb || self->file->undecoded != NULL)
		return;
	self->unwind = dwarf_getcfi_elf(self->file->elf);
	for (size_t i = 0; file != NULL && i < G_N_ELEMENTS(NAMES); i++) {
		LodeDebugInfo *info = lode_elf_file_find_section(file, NAMES[i]) != NULL
		                              ? lode_elf_image_debug_info(self)
		                              : NULL;
		if (info != NULL)
			self->debug_unwind = dwarf_getcfi(info->dwarf);
	}
}

Dwarf_CFI *lode_elf_image_unwind(LodeElfImage *self, uint64_t address)
{
	Dwarf_Frame *frame = NULL;

	if (!self->is_unwind_tried)
		open_unwind(self);
	if (self->unwind == NULL || self->debug_unwind == NULL)
		return self->unwind != NULL ? self->unwind : self->debug_unwind;
	if (dwarf_cfi_addrframe(self->unwind, address, &frame) != 0)
		return self->debug_unwind;
	free(frame);
	return self->unwind;
}

const LodeThreadBlock *lode_elf_image_thread_block(LodeElfImage *self)
{
	if (!self->is_thread_block_tried && self->file->undecoded == NULL)
		self->thread_block = lode_thread_block_new(self->file);
	self->is_thread_block_tried = true;
	return self->thread_block;
}

static LodeSourceLines *open_lines(LodeElfImage *self)
{
	LodeDebugInfo *info = lode_elf_image_debug_info(self);

	if (self->lines == NULL && info != NULL)
		self->lines = lode_source_lines_new(info);
	return self->lines;
}

static void locate(LodeBinaryImage *image, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	LodeElfImage *self = (LodeElfImage *)image;
	LodeSourceLines *lines = open_lines(self);

	if (lines != NULL) {
		lode_source_lines_locate(lines, addresses, n, out_locations, calls);
		warn(self, lode_source_lines_warning(lines));
		return;
	}
	if (self->go != NULL) {
		lode_go_functions_locate(self->go, addresses, n, out_locations);
		return;
	}
	for (size_t i = 0; i < n; i++)
		out_locations[i] = (LodeBinaryLocation){0};
}

const LodeImageVariant lode_image_elf = {is_elf, open_elf, close_elf, bytes_at, has_lines, locate};

LodeElfImage *lode_elf_image_of(LodeBinaryImage *image)
{
	return image->variant == &lode_image_elf ? (LodeElfImage *)image : NULL;
}

void lode_binary_image_scopes(
	LodeBinaryImage *image, const uint64_t *addresses, size_t n, GArray *out_scopes)
{
	LodeElfImage *self = lode_elf_image_of(image);
	LodeSourceLines *lines = self != NULL ? open_lines(self) : NULL;

	if (lines != NULL)
		lode_source_lines_scopes(lines, addresses, n, out_scopes);
}

bool lode_binary_image_thread_local_offset(
	LodeBinaryImage *image, int64_t from_thread_pointer, uint64_t *out_offset)
{
	LodeElfImage *self = lode_elf_image_of(image);
	const LodeThreadBlock *block = self == NULL ? NULL : lode_elf_image_thread_block(self);

	return block != NULL &&
	       lode_thread_block_at_pointer(block, from_thread_pointer, out_offset);
}
