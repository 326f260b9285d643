/* SPDX-License-Identifier: MIT */
/*
 * An ELF file of any machine by libelf. One handle serves symbols, code and unwind tables. It reads
 * and does not map, except very large files, so that truncation of the file meanwhile is a read
 * error.
 *
 * libelf keeps each table inside the file. Further checks are here: whether sections and segments
 * lie in the file, and the uncompressed size of compressed sections, before libdw unpacks them.
 */
#pragma once

#include <gelf.h>
#include <glib.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	const char *name; /* never NULL */
	uint32_t type, link;
	uint64_t flags, address, size, entry_size;
	Elf_Scn *place; /* NULL: no bytes in the file (NOBITS), or they lie outside it */
} LodeElfSection;

typedef struct {
	uint64_t address, size;
	const uint8_t *bytes;
	const char *name; /* of the section; "" for a segment */
	uint64_t entry_size;
} LodeElfRange;

typedef struct {
	const Elf64_Sym *all; /* the first stands for none */
	size_t n;
	const char *names; /* of the bytes of the string table, those that a NUL ends */
	size_t names_size;
} LodeElfSymbols;

typedef struct {
	char *path;
	int fd;
	Elf *elf; /* open as long as the file */
	uint64_t size;
	unsigned machine; /* EM_… */
	bool is_32, is_big_endian;
	char *undecoded;      /* the machine's name, where its code is not decoded; NULL: x86-64 */
	Elf64_Phdr *segments; /* also of files of 32 bits; NULL: none */
	size_t n_segments;
	uint64_t loaded_start, loaded_size; /* of the file: from the first to the last PT_LOAD */
	GArray *sections;                   /* LodeElfSection */
	GArray *executable;  /* LodeElfRange by address, disjoint; sections, or segments where none
	                      */
	char *build_id;      /* hex; NULL: none */
	const char *warning; /* a fault that does not prevent its use; static; NULL: none */
	bool is_fixed;       /* it is loaded at the addresses that it names (ET_EXEC) */
	bool has_compressed_bomb; /* compressed sections claim an absurd size: keep libdw away */
	GHashTable *converted; /* LodeElfSection → its symbols, where the file has another form */
} LodeElfFile;

/* Whether a file begins as an ELF file does. Waits for no pipe. */
bool lode_elf_file_is_at(const char *path);

/* Any machine's. Errors: _IO, _CORRUPT (with offset), _UNSUPPORTED (not ELF, not linked). */
LodeElfFile *lode_elf_file_open(const char *path, GError **error);
/* The same without its code, which is most of what is read: `executable` is empty. */
LodeElfFile *lode_elf_file_open_tables(const char *path, GError **error);
/* The same for a file in memory, which is copied; `name` is its path in messages. */
LodeElfFile *lode_elf_file_open_bytes(
	const char *name, const uint8_t *bytes, size_t n, GError **error);
void lode_elf_file_close(LodeElfFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeElfFile, lode_elf_file_close)

/* The first section of that name that has bytes in the file; NULL: none. */
const LodeElfSection *lode_elf_file_find_section(const LodeElfFile *self, const char *name);
const LodeElfSection *lode_elf_file_find_type(const LodeElfFile *self, uint32_t type);

/* The bytes as they stand in the file, read by the first call; NULL: none, or not readable.
 * Borrowed from the file; not for several threads. */
const uint8_t *lode_elf_section_bytes(const LodeElfSection *section);

/* The symbols of a table of symbols; false when it is broken. Borrowed from the file. */
bool lode_elf_file_symbols(
	const LodeElfFile *self, const LodeElfSection *table, LodeElfSymbols *out_symbols);

/* The name of a symbol; NULL: it lies outside the string table. */
const char *lode_elf_symbol_name(const LodeElfSymbols *symbols, const Elf64_Sym *symbol);

/* A number of `n` bytes, at most 8, in the file's byte order. */
uint64_t lode_elf_file_number(const LodeElfFile *self, const uint8_t *bytes, size_t n);

/* The executable range an address is in; NULL: none. */
const LodeElfRange *lode_elf_file_find_range(const LodeElfFile *self, uint64_t address);

/* File bytes at a virtual address, by the loaded segments; NULL: none. As for sections. */
const uint8_t *lode_elf_file_loaded_bytes(const LodeElfFile *self, uint64_t address, size_t *out_n);

/* Some of these, without reading more of the file. */
bool lode_elf_file_read_loaded(const LodeElfFile *self, uint64_t address, void *to, size_t n);
