/* SPDX-License-Identifier: MIT */
/* An ELF file: itself, a separate debug file, functions, and source lines when asked. */
#include "images/elf_image.h"

#include "images/data_symbols.h"
#include "images/debug_file.h"
#include "images/elf_file.h"
#include "images/function_table.h"
#include "images/source_lines.h"
#include "images/symbol_table.h"
#include "images/unwind_functions.h"

#include <string.h>

static void warn(LodeElfImage *self, const char *message)
{
	if (self->image.warning == NULL && message != NULL)
		self->image.warning = g_strdup_printf("%s: %s", self->file->path, message);
}

static void read_symbols(LodeElfImage *self, GArray *symbols)
{
	/* .symtab has what .dynsym has, and the local symbols too */
	uint32_t type = lode_elf_file_find_type(self->file, SHT_SYMTAB) != NULL ? SHT_SYMTAB
	                                                                        : SHT_DYNSYM;

	if (!lode_symbol_table_read(self->file, type, symbols))
		warn(self, "the symbol table is broken");
	if (self->debug != NULL && !lode_symbol_table_read(self->debug, SHT_SYMTAB, symbols))
		warn(self, "the symbol table of the separate debug file is broken");
	lode_symbol_table_sort(symbols);
	lode_symbol_table_add_plt(self->file, symbols, self->names);
}

static void read_functions(LodeElfImage *self)
{
	g_autoptr(GArray) symbols = g_array_new(FALSE, FALSE, sizeof(LodeSymbol));
	g_autoptr(GArray) unwind = g_array_new(FALSE, FALSE, sizeof(LodeUnwindRange));

	read_symbols(self, symbols);
	if (!lode_unwind_functions_read(self->file, unwind))
		warn(self, "the unwind table .eh_frame is broken");
	self->image.functions = lode_function_table_build(self->file, symbols, unwind, self->names);
}

/* Whether a separate file could add anything. */
static bool is_stripped(const LodeElfFile *file)
{
	return lode_elf_file_find_type(file, SHT_SYMTAB) == NULL || !lode_source_lines_exist(file);
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
	LodeElfImage *self;

	if (file == NULL)
		return NULL;
	self = g_new0(LodeElfImage, 1);
	self->file = file;
	self->image.build_id = file->build_id;
	self->names = g_string_chunk_new(1 << 16);
	if (options != NULL)
		self->debug_directory = g_strdup(options->debug_directory);
	if (is_stripped(file))
		self->debug = lode_debug_file_find(file, options);
	warn(self, file->warning);
	if (self->debug != NULL)
		warn(self, self->debug->warning);
	read_functions(self);
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
	lode_elf_file_close(self->debug);
	lode_elf_file_close(self->file);
	g_free(self->debug_directory);
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

static bool has_lines(const LodeBinaryImage *image)
{
	return file_with_lines((const LodeElfImage *)image) != NULL;
}

static const uint8_t *bytes_at(const LodeBinaryImage *image, uint64_t address, size_t *out_n)
{
	const LodeElfImage *self = (const LodeElfImage *)image;
	const LodeElfRange *range = lode_elf_file_find_range(self->file, address);
	uint64_t offset;

	if (range == NULL)
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
	self->info = lode_debug_info_open(file, self->debug_directory, &warning);
	warn(self, warning);
	return self->info;
}

Dwarf_CFI *lode_elf_image_unwind(LodeElfImage *self)
{
	if (self->is_unwind_tried || self->file->has_compressed_bomb)
		return self->unwind;
	self->is_unwind_tried = true;
	self->unwind = dwarf_getcfi_elf(self->file->elf);
	return self->unwind;
}

const LodeThreadBlock *lode_elf_image_thread_block(LodeElfImage *self)
{
	if (!self->is_thread_block_tried)
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
	for (size_t i = 0; i < n; i++)
		out_locations[i] = (LodeBinaryLocation){0};
}

const LodeImageVariant lode_image_elf = {is_elf, open_elf, close_elf, bytes_at, has_lines, locate};

LodeElfImage *lode_elf_image_of(LodeBinaryImage *image)
{
	return image->variant == &lode_image_elf ? (LodeElfImage *)image : NULL;
}
