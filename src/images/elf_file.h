/* SPDX-License-Identifier: MIT */
/*
 * An ELF file mapped into memory, with every table checked against the file's size before
 * anyone looks into it. Symbols and unwind tables are read from here; only the debug information
 * goes through libdw, and only for files whose section table passed these checks.
 */
#pragma once

#include <elf.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	const char *name; /* never NULL */
	uint32_t type, link, info;
	uint64_t flags, address, size, entry_size;
	const uint8_t *bytes; /* NULL: none in the file (NOBITS) or outside it */
} LodeElfSection;

typedef struct {
	uint64_t address, size;
	const uint8_t *bytes;
	const char *name; /* of the section; "" for a segment */
	uint64_t entry_size;
} LodeElfRange;

typedef struct {
	char *path;
	GMappedFile *mapping;
	const uint8_t *data;
	size_t size;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *segments; /* NULL: none */
	size_t n_segments;
	GArray *sections;   /* LodeElfSection */
	GArray *executable; /* LodeElfRange by address, disjoint; sections, or segments where none
	                     */
	char *build_id;     /* hex; NULL: none */
	char *warning;      /* what is broken but can be done without; NULL: nothing */
	bool has_compressed_bomb; /* a compressed section claims an absurd size: keep libdw away */
} LodeElfFile;

/* Errors: _IO, _CORRUPT (with offset), _UNSUPPORTED (not ELF, not x86-64, not linked). */
LodeElfFile *lode_elf_file_open(const char *path, GError **error);
void lode_elf_file_close(LodeElfFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeElfFile, lode_elf_file_close)

/* The first section of that name that has bytes in the file; NULL: none. */
const LodeElfSection *lode_elf_file_find_section(const LodeElfFile *self, const char *name);
const LodeElfSection *lode_elf_file_find_type(const LodeElfFile *self, uint32_t type);
const LodeElfSection *lode_elf_file_section(const LodeElfFile *self, size_t index);

/* The executable range an address is in; NULL: none. */
const LodeElfRange *lode_elf_file_find_range(const LodeElfFile *self, uint64_t address);

/* File bytes at a virtual address, by the loaded segments; NULL: none. */
const uint8_t *lode_elf_file_loaded_bytes(const LodeElfFile *self, uint64_t address, size_t *out_n);

/* The string at an offset of a string table, terminated inside it; NULL: broken. */
const char *lode_elf_section_string(const LodeElfSection *table, uint64_t offset);
