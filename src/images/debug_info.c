/* SPDX-License-Identifier: MIT */
/*
 * libdw is given a file descriptor of its own, so that it finds split and supplementary files
 * beside the image as it always does.
 */
#include "images/debug_info.h"

#include "base/partition_point.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	MAX_UNITS = 4 * 1000 * 1000,
	MAX_UNIT_RANGES = 16 * 1000 * 1000,
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
	self->supplement_fd = open(path->str, O_RDONLY | O_CLOEXEC);
	if (self->supplement_fd < 0)
		return;
	self->supplement = dwarf_begin(self->supplement_fd, DWARF_C_READ);
	if (self->supplement != NULL)
		dwarf_setalt(self->dwarf, self->supplement);
}

LodeDebugInfo *lode_debug_info_open(
	const LodeElfFile *file, const char *debug_directory, const char **out_warning)
{
	g_autoptr(LodeDebugInfo) self = g_new0(LodeDebugInfo, 1);

	self->supplement_fd = -1;
	self->fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (file->has_compressed_bomb) {
		*out_warning = "a compressed debug section claims an absurd size";
		return NULL;
	}
	elf_version(EV_CURRENT);
	if (self->fd >= 0)
		self->elf = elf_begin(self->fd, ELF_C_READ_MMAP, NULL);
	if (self->elf != NULL)
		self->dwarf = dwarf_begin_elf(self->elf, DWARF_C_READ, NULL);
	if (self->dwarf == NULL) {
		*out_warning = "the debug information cannot be read";
		return NULL;
	}
	set_supplement(self, debug_directory);
	return g_steal_pointer(&self);
}

void lode_debug_info_close(LodeDebugInfo *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->ranges, g_array_unref);
	if (self->dwarf != NULL)
		dwarf_end(self->dwarf);
	if (self->supplement != NULL)
		dwarf_end(self->supplement);
	if (self->elf != NULL)
		elf_end(self->elf);
	if (self->supplement_fd >= 0)
		close(self->supplement_fd);
	if (self->fd >= 0)
		close(self->fd);
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

static int compare_ranges(const void *a, const void *b)
{
	const LodeUnitRange *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

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

bool lode_debug_info_unit_die(Dwarf_CU *unit, Dwarf_Die *out_die)
{
	Dwarf_Die die, split;
	uint8_t type = 0;

	if (dwarf_cu_info(unit, NULL, &type, &die, NULL, NULL, NULL, NULL) != 0)
		return false;
	if (type == DW_UT_skeleton &&
		dwarf_cu_info(unit, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		dwarf_tag(&split) == DW_TAG_compile_unit)
		die = split;
	*out_die = die;
	return true;
}
