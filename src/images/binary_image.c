/* SPDX-License-Identifier: MIT */
/* Puts the parts together: file, separate debug file, functions, and source lines when asked. */
#include "images/binary_image.h"

#include "images/debug_file.h"
#include "images/elf_file.h"
#include "images/function_table.h"
#include "images/source_lines.h"
#include "images/symbol_table.h"
#include "images/unwind_functions.h"

struct LodeBinaryImage {
	LodeElfFile *file;
	LodeElfFile *debug; /* NULL: none */
	GArray *functions;  /* LodeBinaryFunction */
	GStringChunk *names;
	char *warning;
	char *debug_directory;
	LodeSourceLines *lines; /* opened by the first look-up */
	bool is_lines_tried;
};

static void warn(LodeBinaryImage *self, const char *message)
{
	if (self->warning == NULL && message != NULL)
		self->warning = g_strdup_printf("%s: %s", self->file->path, message);
}

static void read_symbols(LodeBinaryImage *self, GArray *symbols)
{
	uint32_t type = lode_elf_file_find_type(self->file, SHT_SYMTAB) != NULL ? SHT_SYMTAB
	                                                                        : SHT_DYNSYM;

	if (!lode_symbol_table_read(self->file, type, symbols))
		warn(self, "the symbol table is broken");
	if (self->debug != NULL && !lode_symbol_table_read(self->debug, SHT_SYMTAB, symbols))
		warn(self, "the symbol table of the separate debug file is broken");
	lode_symbol_table_sort(symbols);
	lode_symbol_table_add_plt(self->file, symbols, self->names);
}

static void read_functions(LodeBinaryImage *self)
{
	g_autoptr(GArray) symbols = g_array_new(FALSE, FALSE, sizeof(LodeSymbol));
	g_autoptr(GArray) unwind = g_array_new(FALSE, FALSE, sizeof(LodeUnwindRange));

	read_symbols(self, symbols);
	if (!lode_unwind_functions_read(self->file, unwind))
		warn(self, "the unwind table .eh_frame is broken");
	self->functions = lode_function_table_build(self->file, symbols, unwind, self->names);
}

/* Whether a separate file could add anything. */
static bool is_stripped(const LodeElfFile *file)
{
	return lode_elf_file_find_type(file, SHT_SYMTAB) == NULL || !lode_source_lines_exist(file);
}

LodeBinaryImage *lode_binary_image_open(
	const char *path, const LodeBinaryImageOptions *options, GError **error)
{
	LodeElfFile *file = lode_elf_file_open(path, error);
	LodeBinaryImage *self;

	if (file == NULL)
		return NULL;
	self = g_new0(LodeBinaryImage, 1);
	self->file = file;
	self->names = g_string_chunk_new(1 << 16);
	if (options != NULL)
		self->debug_directory = g_strdup(options->debug_directory);
	if (is_stripped(file))
		self->debug = lode_debug_file_find(file, options);
	warn(self, file->warning);
	if (self->debug != NULL)
		warn(self, self->debug->warning);
	read_functions(self);
	return self;
}

void lode_binary_image_close(LodeBinaryImage *self)
{
	if (self == NULL)
		return;
	lode_source_lines_free(self->lines);
	g_array_unref(self->functions);
	g_string_chunk_free(self->names);
	lode_elf_file_close(self->debug);
	lode_elf_file_close(self->file);
	g_free(self->debug_directory);
	g_free(self->warning);
	g_free(self);
}

const char *lode_binary_image_build_id(const LodeBinaryImage *self)
{
	return self->file->build_id;
}

const char *lode_binary_image_warning(const LodeBinaryImage *self)
{
	return self->warning;
}

/* The file that line tables are read from; NULL: none has any. */
static const LodeElfFile *file_with_lines(const LodeBinaryImage *self)
{
	if (lode_source_lines_exist(self->file))
		return self->file;
	if (self->debug != NULL && lode_source_lines_exist(self->debug))
		return self->debug;
	return NULL;
}

bool lode_binary_image_has_lines(const LodeBinaryImage *self)
{
	return file_with_lines(self) != NULL;
}

const LodeBinaryFunction *lode_binary_image_functions(const LodeBinaryImage *self, size_t *out_n)
{
	*out_n = self->functions->len;
	return (const LodeBinaryFunction *)(const void *)self->functions->data;
}

const uint8_t *lode_binary_image_bytes(const LodeBinaryImage *self, uint64_t address, size_t *out_n)
{
	const LodeElfRange *range = lode_elf_file_find_range(self->file, address);
	uint64_t offset;

	if (range == NULL)
		return NULL;
	offset = address - range->address;
	*out_n = (size_t)(range->size - offset);
	return range->bytes + offset;
}

static LodeSourceLines *open_lines(LodeBinaryImage *self)
{
	const LodeElfFile *file = file_with_lines(self);
	const char *warning = NULL;

	if (self->is_lines_tried || file == NULL)
		return self->lines;
	self->is_lines_tried = true;
	self->lines = lode_source_lines_new(file, self->debug_directory, &warning);
	warn(self, warning);
	return self->lines;
}

void lode_binary_image_locate(LodeBinaryImage *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations)
{
	LodeSourceLines *lines = open_lines(self);

	if (lines != NULL) {
		lode_source_lines_locate(lines, addresses, n, out_locations);
		warn(self, lode_source_lines_warning(lines));
		return;
	}
	for (size_t i = 0; i < n; i++)
		out_locations[i] = (LodeBinaryLocation){0};
}
