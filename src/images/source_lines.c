/* SPDX-License-Identifier: MIT */
/* Addresses of one unit are looked up together: its line table once, its tree once. */
#include "images/source_lines.h"

#include "images/inlined_functions.h"

struct LodeSourceLines {
	LodeDebugInfo *info;
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

LodeSourceLines *lode_source_lines_new(LodeDebugInfo *info)
{
	LodeSourceLines *self = g_new0(LodeSourceLines, 1);

	self->info = info;
	self->names = g_string_chunk_new(4096);
	return self;
}

void lode_source_lines_free(LodeSourceLines *self)
{
	if (self == NULL)
		return;
	g_string_chunk_free(self->names);
	g_free(self);
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
	size_t n, LodeBinaryLocation *locations, GArray *calls)
{
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n_lines;

	if (dwarf_cu_info(unit, NULL, NULL, &die, NULL, NULL, NULL, NULL) != 0)
		return;
	if (dwarf_getsrclines(&die, &lines, &n_lines) != 0)
		self->warning = "a line table of the debug information is broken";
	for (size_t i = 0; i < n; i++)
		locate_line(self, &die, addresses[i], &locations[i]);
	if (lode_debug_info_unit_die(unit, &die))
		lode_inlined_functions_find(&die, addresses, n, locations, calls, self->names);
}

/* How many of the addresses, from the first on, are in the same unit. */
static size_t count_same_unit(
	LodeSourceLines *self, const uint64_t *addresses, size_t n, Dwarf_CU **out_unit)
{
	const LodeUnitRange *range = lode_debug_info_find(self->info, addresses[0]);
	Dwarf_CU *unit = range == NULL ? NULL : range->unit;
	size_t count = 1;

	while (count < n) {
		if (range == NULL || addresses[count] < range->low ||
			addresses[count] >= range->high)
			range = lode_debug_info_find(self->info, addresses[count]);
		if ((range == NULL ? NULL : range->unit) != unit)
			break;
		count++;
	}
	*out_unit = unit;
	return count;
}

const char *lode_source_lines_warning(const LodeSourceLines *self)
{
	return self->warning != NULL ? self->warning : self->info->warning;
}

void lode_source_lines_locate(LodeSourceLines *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		out_locations[k] = (LodeBinaryLocation){0};
	while (i < n) {
		Dwarf_CU *unit;
		size_t count = count_same_unit(self, addresses + i, n - i, &unit);

		guint first = calls != NULL ? calls->len : 0;
		if (unit != NULL)
			locate_in_unit(self, unit, addresses + i, count, out_locations + i, calls);
		for (guint k = first; calls != NULL && k < calls->len; k++)
			g_array_index(calls, LodeInlinedCall, k).index += (uint32_t)i;
		i += count;
	}
}
