/* SPDX-License-Identifier: MIT */
/*
 * libdw maps the file, by whose descriptor it finds split and supplementary files beside the image.
 * It follows a string without an end beyond its section: with libelf's buffer for each section, as
 * the file's own handle has them, that would be beyond the memory of the section.
 */
#include "images/dwarf/debug_info.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <string.h>

enum {
	MAX_UNITS = 4 * 1000 * 1000,
	MAX_UNIT_RANGES = 4 * 1000 * 1000,
};

/* The supplementary file by its build-id; a debug directory of the caller's is unknown to libdw. */
static void set_supplement(LodeDebugInfo *self, const char *directory)
{
	const char *name;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(self->dwarf, &name, &id);
	g_autoptr(GString) path = NULL;

	if (n < 2 || directory == NULL)
		return;
	path = g_string_new(directory);
	g_string_append(path, "/.build-id/");
	for (ssize_t i = 0; i < n; i++)
		g_string_append_printf(path, i == 0 ? "%02x/" : "%02x", ((const uint8_t *)id)[i]);
	g_string_append(path, ".debug");
	self->supplement_file = lode_elf_file_open(path->str, NULL);
	if (self->supplement_file == NULL || self->supplement_file->has_compressed_bomb)
		return;
	self->supplement = dwarf_begin(self->supplement_file->fd, DWARF_C_READ);
	if (self->supplement != NULL)
		dwarf_setalt(self->dwarf, self->supplement);
}

LodeDebugInfo *lode_debug_info_open(const LodeElfFile *file, const LodeElfFile *image,
	const char *debug_directory, const char **out_warning)
{
	g_autoptr(LodeDebugInfo) self = g_new0(LodeDebugInfo, 1);

	if (file->has_compressed_bomb) {
		*out_warning = "the compressed debug sections grow beyond 16 times the file's size";
		return NULL;
	}
	self->dwarf = dwarf_begin(file->fd, DWARF_C_READ);
	if (self->dwarf == NULL) {
		*out_warning = "the debug information cannot be read";
		return NULL;
	}
	self->path = g_strdup(file->path);
	self->image_path = g_strdup(image->path);
	set_supplement(self, debug_directory);
	return g_steal_pointer(&self);
}

void lode_debug_info_close(LodeDebugInfo *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->ranges, g_array_unref);
	lode_split_package_close(self->package);
	g_free(self->path);
	g_free(self->image_path);
	dwarf_end(self->dwarf);
	dwarf_end(self->supplement);
	lode_elf_file_close(self->supplement_file);
	g_free(self);
}

static void add_unit(LodeDebugInfo *self, Dwarf_CU *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		LodeUnitRange range = {.low = low, .high = high, .unit = unit};

		if (self->ranges->len >= MAX_UNIT_RANGES)
			return;
		/* linkers leave discarded functions at address 0 */
		if (low != 0 && low < high)
			g_array_append_val(self->ranges, range);
	}
}

LODE_ORDER(compare_ranges, LodeUnitRange, LODE_ASCENDING(low))

static void read_units(LodeDebugInfo *self)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;

	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodeUnitRange));
	for (int i = 0; i < MAX_UNITS; i++) {
		int status = dwarf_get_units(self->dwarf, unit, &unit, NULL, &type, &die, NULL);

		if (status < 0)
			self->warning = "a compile unit of the debug information is broken";
		if (status != 0)
			break;
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(self, unit, &die);
	}
	if (self->ranges->len > 1)
		qsort(self->ranges->data, self->ranges->len, sizeof(LodeUnitRange), compare_ranges);
}

/* The last range beginning at or before an address, as units of a sound file do not overlap. */
const LodeUnitRange *lode_debug_info_find(LodeDebugInfo *self, uint64_t address)
{
	const LodeUnitRange *ranges;

	if (self->ranges == NULL)
		read_units(self);
	ranges = (const LodeUnitRange *)(const void *)self->ranges->data;
	size_t low = LODE_PARTITION_POINT(self->ranges->len, i, ranges[i].low <= address);
	return low > 0 && address < ranges[low - 1].high ? &ranges[low - 1] : NULL;
}

/* Where gdb looks, too: p.dwp of the program p, p.debug.dwp or p.dwp of p.debug. */
static void open_package(LodeDebugInfo *self)
{
	const char *end = g_str_has_suffix(self->path, ".debug") ? strrchr(self->path, '.') : NULL;
	g_autofree char *whole = g_strconcat(self->path, ".dwp", NULL);
	g_autofree char *of_image = g_strconcat(self->image_path, ".dwp", NULL);
	g_autofree char *plain = end != NULL ? g_strndup(self->path, (gsize)(end - self->path))
	                                     : NULL;
	g_autofree char *without = plain != NULL ? g_strconcat(plain, ".dwp", NULL) : NULL;
	const char *const paths[] = {of_image, whole, without};

	self->is_package_tried = true;
	for (size_t i = 0; i < G_N_ELEMENTS(paths) && self->package == NULL; i++)
		if (paths[i] != NULL)
			self->package = lode_split_package_open(
				paths[i], self->dwarf, &self->warning);
}

/* libdw opens a .dwo file as any other, and would wait for the writer of a FIFO. */
static bool can_open_split(const LodeDebugInfo *self, Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;
	g_autofree char *own = g_path_get_dirname(self->path);
	const char *folder = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
	const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));

	if (name == NULL)
		name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
	const char *const folders[] = {own, folder};
	for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *path = g_path_is_absolute(name) || folders[i] == NULL
		                                ? g_strdup(name)
		                                : g_build_filename(folders[i], name, NULL);
		if (g_file_test(path, G_FILE_TEST_EXISTS) &&
			!g_file_test(path, G_FILE_TEST_IS_REGULAR))
			return false;
	}
	return true;
}

bool lode_debug_info_unit_die(LodeDebugInfo *self, Dwarf_CU *unit, Dwarf_Die *out_die)
{
	Dwarf_Die die, split;
	uint8_t type = 0;
	uint64_t id = 0;

	if (dwarf_cu_info(unit, NULL, &type, &die, NULL, &id, NULL, NULL) != 0)
		return false;
	if (type == DW_UT_skeleton && can_open_split(self, &die) &&
		dwarf_cu_info(unit, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		dwarf_tag(&split) == DW_TAG_compile_unit) {
		die = split;
	} else if (type == DW_UT_skeleton) {
		if (!self->is_package_tried)
			open_package(self);
		if (self->package != NULL && lode_split_package_unit(self->package, id, &split))
			die = split;
	}
	*out_die = die;
	return true;
}
