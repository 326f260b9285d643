/* SPDX-License-Identifier: MIT */
/*
 * libdw is given a file descriptor of its own, so that it finds split and supplementary files
 * beside the image as it always does.
 */
#include "images/source_lines.h"

#include "images/inlined_functions.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	MAX_UNITS = 4 * 1000 * 1000,
	MAX_UNIT_RANGES = 16 * 1000 * 1000,
};

typedef struct {
	uint64_t low, high;
	Dwarf_CU *unit;
} UnitRange;

struct LodeSourceLines {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	int supplement_fd;
	Dwarf *supplement; /* NULL: none, or libdw's own affair */
	GArray *ranges;    /* UnitRange by low; NULL before the first look-up */
	GStringChunk *names;
	const char *warning;
	const char *last_name, *last_valid_name; /* of a source file */
};

bool lode_source_lines_exist(const LodeElfFile *file)
{
	const LodeElfSection *section = lode_elf_file_find_section(file, ".debug_line");

	if (section == NULL)
		section = lode_elf_file_find_section(file, ".zdebug_line");
	return section != NULL && section->size > 0;
}

/* The supplementary file by its build-id; a debug directory of the caller's is unknown to libdw. */
static void set_supplement(LodeSourceLines *self, const char *directory)
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

LodeSourceLines *lode_source_lines_new(
	const LodeElfFile *file, const char *debug_directory, const char **out_warning)
{
	g_autoptr(LodeSourceLines) self = g_new0(LodeSourceLines, 1);

	self->supplement_fd = -1;
	self->names = g_string_chunk_new(4096);
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

void lode_source_lines_free(LodeSourceLines *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->ranges, g_array_unref);
	g_clear_pointer(&self->names, g_string_chunk_free);
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

static void add_unit(LodeSourceLines *self, Dwarf_CU *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		UnitRange range = {.low = low, .high = high, .unit = unit};

		if (self->ranges->len >= MAX_UNIT_RANGES)
			return;
		/* linkers leave discarded functions at address 0 */
		if (low != 0 && low < high)
			g_array_append_val(self->ranges, range);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const UnitRange *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void read_units(LodeSourceLines *self)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;

	self->ranges = g_array_new(FALSE, FALSE, sizeof(UnitRange));
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
		qsort(self->ranges->data, self->ranges->len, sizeof(UnitRange), compare_ranges);
}

/* The last range beginning at or before an address, as units of a sound file do not overlap. */
static const UnitRange *find_unit(const LodeSourceLines *self, uint64_t address)
{
	const UnitRange *ranges = (const UnitRange *)(const void *)self->ranges->data;
	size_t low = 0, high = self->ranges->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < ranges[low - 1].high ? &ranges[low - 1] : NULL;
}

/* The file's name, valid UTF-8. Lines of one file share its name, so mostly it is the last one. */
static const char *file_name(LodeSourceLines *self, const char *name)
{
	if (name == NULL || name == self->last_name)
		return name == NULL ? NULL : self->last_valid_name;
	self->last_name = name;
	self->last_valid_name = name;
	if (!g_utf8_validate(name, -1, NULL)) {
		g_autofree char *valid = g_utf8_make_valid(name, -1);

		self->last_valid_name = g_string_chunk_insert_const(self->names, valid);
	}
	return self->last_valid_name;
}

static void locate_line(
	LodeSourceLines *self, Dwarf_Die *unit, uint64_t address, LodeBinaryLocation *location)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (line == NULL)
		return;
	location->file = file_name(self, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		location->line = (uint32_t)number;
}

/* Addresses of one unit: its line table once, its tree once. */
static void locate_in_unit(LodeSourceLines *self, Dwarf_CU *unit, const uint64_t *addresses,
	size_t n, LodeBinaryLocation *locations)
{
	Dwarf_Lines *lines;
	Dwarf_Die die, split;
	uint8_t type = 0;
	size_t n_lines;

	if (dwarf_cu_info(unit, NULL, &type, &die, NULL, NULL, NULL, NULL) != 0)
		return;
	if (dwarf_getsrclines(&die, &lines, &n_lines) != 0)
		self->warning = "a line table of the debug information is broken";
	for (size_t i = 0; i < n; i++)
		locate_line(self, &die, addresses[i], &locations[i]);
	if (type == DW_UT_skeleton &&
		dwarf_cu_info(unit, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		dwarf_tag(&split) == DW_TAG_compile_unit)
		die = split;
	lode_inlined_functions_find(&die, addresses, n, locations, self->names);
}

/* How many of the addresses, from the first on, are in the same unit. */
static size_t count_same_unit(
	const LodeSourceLines *self, const uint64_t *addresses, size_t n, Dwarf_CU **out_unit)
{
	const UnitRange *range = find_unit(self, addresses[0]);
	Dwarf_CU *unit = range == NULL ? NULL : range->unit;
	size_t count = 1;

	while (count < n) {
		if (range == NULL || addresses[count] < range->low ||
			addresses[count] >= range->high)
			range = find_unit(self, addresses[count]);
		if ((range == NULL ? NULL : range->unit) != unit)
			break;
		count++;
	}
	*out_unit = unit;
	return count;
}

const char *lode_source_lines_warning(const LodeSourceLines *self)
{
	return self->warning;
}

void lode_source_lines_locate(LodeSourceLines *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		out_locations[k] = (LodeBinaryLocation){0};
	if (self->ranges == NULL)
		read_units(self);
	while (i < n) {
		Dwarf_CU *unit;
		size_t count = count_same_unit(self, addresses + i, n - i, &unit);

		if (unit != NULL)
			locate_in_unit(self, unit, addresses + i, count, out_locations + i);
		i += count;
	}
}
