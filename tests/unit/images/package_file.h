/* SPDX-License-Identifier: MIT */
/*
 * Makes a package of split debug information (.dwp) of one .dwo file, which stands in it twice: the
 * first time under a different id, so that all that is looked for is not at the beginning of its
 * section. (The dwp of binutils 2.40 and LLVM 14's llvm-dwp do not take all that GCC 12 writes.)
 */
#pragma once

#include "tool_output.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

enum { PACKAGE_COLUMNS = 6, PACKAGE_OTHER_ID = 1 };

/* By the column's number in version 5 of the index; 2 and 5 differ in version 2. */
typedef struct {
	unsigned number;
	const char *name;
	GByteArray *bytes; /* of the .dwo; NULL: none */
} PackageColumn;

typedef struct {
	uint64_t id;
	uint32_t offset, size; /* of the unit */
} PackageUnit;

static inline GByteArray *package_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	g_assert_cmpint(elf_getshdrstrndx(elf, &names), ==, 0);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data = elf_rawdata(section, NULL);
		gelf_getshdr(section, &header);
		if (strcmp(elf_strptr(elf, names, header.sh_name), name) == 0)
			return g_byte_array_append(
				g_byte_array_new(), data->d_buf, (guint)data->d_size);
	}
	return NULL;
}

static inline void package_put(GByteArray *out, uint64_t value, unsigned n)
{
	g_byte_array_append(out, (const uint8_t *)&value, n);
}

static inline uint64_t package_get(const GByteArray *bytes, guint at, unsigned n)
{
	uint64_t value = 0;

	g_assert_cmpuint(at + n, <=, bytes->len);
	memcpy(&value, bytes->data + at, n);
	return value;
}

/* The compile unit (is_types: the type units) of a section; in DWARF 4 the id is an attribute. */
static inline GArray *package_units(const GByteArray *bytes, bool is_types, uint64_t id)
{
	GArray *units = g_array_new(FALSE, FALSE, sizeof(PackageUnit));

	for (guint at = 0; bytes != NULL && at < bytes->len;) {
		uint32_t size = (uint32_t)package_get(bytes, at, 4) + 4;
		bool is_5 = package_get(bytes, at + 4, 2) == 5;
		bool is_type = is_5 ? bytes->data[at + 6] == DW_UT_split_type : is_types;
		PackageUnit unit = {is_5       ? package_get(bytes, at + 12, 8)
				    : is_types ? package_get(bytes, at + 11, 8)
					       : id,
			at, size};

		if (is_type == is_types)
			g_array_append_val(units, unit);
		at += size;
	}
	return units;
}

/* Rows of the first copy, then of the second one. */
static inline GByteArray *package_index(
	const GArray *units, bool is_types, const PackageColumn *columns, bool is_5)
{
	GByteArray *index = g_byte_array_new();
	const guint n = 2 * units->len, n_slots = 4 * n;
	guint n_columns = 0;

	for (int k = 0; k < PACKAGE_COLUMNS; k++)
		n_columns += columns[k].bytes != NULL;
	package_put(index, is_5 ? 5 : 2, 4);
	package_put(index, n_columns, 4);
	package_put(index, n, 4);
	package_put(index, n_slots, 4);
	for (guint i = 0; i < n_slots; i++)
		package_put(index,
			i >= n ? 0
			       : g_array_index(units, PackageUnit, i % units->len).id ^
					 (i < units->len ? PACKAGE_OTHER_ID : 0),
			8);
	for (guint i = 0; i < n_slots; i++)
		package_put(index, i < n ? i + 1 : 0, 4);
	for (int k = 0; k < PACKAGE_COLUMNS; k++)
		if (columns[k].bytes != NULL)
			package_put(index, columns[k].number, 4);
	for (int is_size = 0; is_size <= 1; is_size++) {
		for (guint i = 0; i < n; i++) {
			const PackageUnit *unit = &g_array_index(
				units, PackageUnit, i % units->len);

			for (int k = 0; k < PACKAGE_COLUMNS; k++) {
				const GByteArray *bytes = columns[k].bytes;
				bool is_unit = columns[k].number == (is_types && !is_5 ? 2 : 1);

				if (bytes == NULL)
					continue;
				if (is_size)
					package_put(index, is_unit ? unit->size : bytes->len, 4);
				else
					package_put(index,
						(i < units->len ? 0 : bytes->len) +
							(is_unit ? unit->offset : 0),
						4);
			}
		}
	}
	return index;
}

static inline void package_write(const char *directory, const char *name, const GByteArray *bytes,
	const char *option, GString *command)
{
	g_autofree char *path = g_build_filename(directory, name + 1, NULL);

	g_assert_true(
		g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
	g_string_append_printf(command, " --%s-section %s=%s", option, name, path);
}

/* The id that the skeleton in directory/program has. */
static inline uint64_t package_id(const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	uint64_t id = 0;
	uint8_t type = 0;

	while (type != DW_UT_skeleton &&
		dwarf_get_units(dwarf, unit, &unit, NULL, &type, NULL, NULL) == 0)
		dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL);
	dwarf_end(dwarf);
	close(fd);
	return id;
}

/* Turns directory/program.dwo, of one unit, into directory/program.dwp. */
static inline bool package_make(const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "program.dwo", NULL);
	const uint64_t id = package_id(directory);
	g_autoptr(GString) command = g_string_new("objcopy");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	GByteArray *info = package_section(elf, ".debug_info.dwo");
	bool is_5 = package_get(info, 4, 2) == 5;
	PackageColumn columns[PACKAGE_COLUMNS] = {
		{1, ".debug_info.dwo", info},
		{2, ".debug_types.dwo", package_section(elf, ".debug_types.dwo")},
		{3, ".debug_abbrev.dwo", package_section(elf, ".debug_abbrev.dwo")},
		{5, is_5 ? ".debug_loclists.dwo" : ".debug_loc.dwo",
			package_section(elf, is_5 ? ".debug_loclists.dwo" : ".debug_loc.dwo")},
		{6, ".debug_str_offsets.dwo", package_section(elf, ".debug_str_offsets.dwo")},
		{8, ".debug_rnglists.dwo", package_section(elf, ".debug_rnglists.dwo")},
	};
	g_autoptr(GArray) units = package_units(info, false, id);
	g_autoptr(GArray) types = package_units(is_5 ? info : columns[1].bytes, true, 0);
	g_autoptr(GByteArray) index = package_index(units, false, columns, is_5);
	g_autoptr(GByteArray) type_index = package_index(types, true, columns, is_5);

	for (int k = 0; k < PACKAGE_COLUMNS; k++) {
		g_autoptr(GByteArray) bytes = columns[k].bytes;
		guint n = bytes != NULL ? bytes->len : 0;

		if (bytes == NULL)
			continue;
		for (guint i = 0; i < n; i++) {
			uint8_t byte = bytes->data[i];

			g_byte_array_append(bytes, &byte, 1);
		}
		for (guint i = 0; k == 0 && is_5 && i < units->len + types->len; i++) {
			const PackageUnit *unit = i < units->len
			                                  ? &g_array_index(units, PackageUnit, i)
			                                  : &g_array_index(types, PackageUnit,
								    i - units->len);
			bytes->data[unit->offset + 12] ^= PACKAGE_OTHER_ID;
		}
		uint8_t *own = k == 0 && !is_5 ? memmem(bytes->data, n, &id, sizeof id) : NULL;
		if (own != NULL)
			*own ^= PACKAGE_OTHER_ID;
		package_write(directory, columns[k].name, bytes, "update", command);
	}
	package_write(directory, ".debug_cu_index", index, "add", command);
	if (types->len > 0)
		package_write(directory, ".debug_tu_index", type_index, "add", command);
	g_string_append_printf(command, " %s %s/program.dwp", path, directory);
	elf_end(elf);
	close(fd);
	return tool_run(command->str) && g_unlink(path) == 0;
}
