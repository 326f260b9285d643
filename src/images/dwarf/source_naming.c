/* SPDX-License-Identifier: MIT */
#include "images/dwarf/source_naming.h"

#include "images/dwarf/debug_file.h"
#include "images/dwarf/debug_info.h"
#include "images/dwarf/source_lines.h"
#include "images/elf/binary_image.h"
#include "images/elf/elf_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <string.h>

/* The files of a compile unit. */
typedef struct {
	GHashTable *files; /* the paths that it names, as a set */
	const char *folder;
} Unit;

struct LodeSourceNaming {
	LodeElfFile *file, *separate; /* the second: NULL, or the one with the debug information */
	LodeDebugInfo *info;
	GHashTable *units; /* Dwarf_CU → Unit */
};

static void unit_free(void *data)
{
	Unit *self = data;

	g_hash_table_unref(self->files);
	g_free(self);
}

static bool has_build_id(const LodeElfFile *file, const char *build_id)
{
	return file->build_id != NULL && strcmp(file->build_id, build_id) == 0;
}

LodeSourceNaming *lode_source_naming_open(const char *path, const char *build_id)
{
	g_autoptr(LodeSourceNaming) self = g_new0(LodeSourceNaming, 1);
	const LodeBinaryImageOptions local = {.allow_debuginfod = false};
	const char *warning;

	self->file = lode_elf_file_open(path, NULL);
	if (self->file == NULL || !has_build_id(self->file, build_id))
		return NULL;
	const LodeElfFile *with_lines = self->file;
	if (!lode_source_lines_exist(self->file)) {
		self->separate = lode_debug_file_find(self->file, &local);
		with_lines = self->separate;
	}
	self->info = with_lines != NULL
	                     ? lode_debug_info_open(with_lines, self->file, NULL, &warning)
	                     : NULL;
	self->units = g_hash_table_new_full(NULL, NULL, NULL, unit_free);
	return self->info != NULL ? g_steal_pointer(&self) : NULL;
}

void lode_source_naming_close(LodeSourceNaming *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->units, g_hash_table_unref);
	lode_debug_info_close(self->info);
	lode_elf_file_close(self->separate);
	lode_elf_file_close(self->file);
	g_free(self);
}

static Unit *read_unit(Dwarf_CU *cu)
{
	Unit *self = g_new0(Unit, 1);
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Die die;
	size_t n = 0;

	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (dwarf_cu_info(cu, NULL, NULL, &die, NULL, NULL, NULL, NULL) != 0)
		return self;
	self->folder = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
	if (dwarf_getsrcfiles(&die, &files, &n) != 0)
		return self;
	for (size_t i = 0; i < n; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);
		if (path != NULL)
			g_hash_table_add(self->files, g_utf8_make_valid(path, -1));
	}
	return self;
}

const char *lode_source_naming_folder(LodeSourceNaming *self, uint64_t address, const char *file)
{
	const LodeUnitRange *range = lode_debug_info_find(self->info, address);

	if (range == NULL)
		return NULL;
	Unit *unit = g_hash_table_lookup(self->units, range->unit);
	if (unit == NULL) {
		unit = read_unit(range->unit);
		g_hash_table_insert(self->units, range->unit, unit);
	}
	if (!g_hash_table_contains(unit->files, file))
		return NULL;
	return unit->folder != NULL ? unit->folder : "";
}
