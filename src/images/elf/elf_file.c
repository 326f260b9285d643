/* SPDX-License-Identifier: MIT */
/*
 * A broken program or section table of an otherwise readable file is a warning: what the other one
 * says still serves.
 */
#include "images/elf/elf_file.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/text/hex_text.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_SECTIONS = 1 << 20,
	MAX_BUILD_ID = 64,
	MAX_READ_BYTES = 256 << 20, /* larger files are mapped */
	/* The limits of uncompressed sections: debug information shrinks to a half or a quarter.
	 */
	FREE_BYTES = 16 << 20,
	MAX_EXPANSION = 16, /* times the file's size */
};

static bool is_within(const LodeElfFile *self, uint64_t offset, uint64_t size)
{
	return offset <= self->size && size <= self->size - offset;
}

static void warn(LodeElfFile *self, const char *message)
{
	if (self->warning == NULL)
		self->warning = message;
}

static bool open_file(LodeElfFile *self, GError **error)
{
	struct stat status;

	self->fd = lode_regular_file_open(self->path, 0, error);
	if (self->fd < 0)
		return false;
	if (fstat(self->fd, &status) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", g_strerror(errno));
		return false;
	}
	self->size = (uint64_t)status.st_size;
	return true;
}

/* Machines that recordings come from, by name. */
static char *undecoded_machine(unsigned machine, bool is_32)
{
	static const struct {
		unsigned machine;
		const char *name, *name_of_32; /* by the class, where they differ */
	} names[] = {
		{EM_X86_64, "big-endian x86-64", "x86-64 with 32-bit pointers"},
		{EM_386, "32-bit x86", NULL},
		{EM_AARCH64, "AArch64", "AArch64 with 32-bit pointers"},
		{EM_ARM, "ARM", NULL},
		{EM_PPC64, "64-bit PowerPC", NULL},
		{EM_PPC, "PowerPC", NULL},
		{EM_S390, "64-bit S/390", "S/390"},
		{EM_RISCV, "64-bit RISC-V", "32-bit RISC-V"},
		{EM_MIPS, "64-bit MIPS", "MIPS"},
		{EM_LOONGARCH, "LoongArch", NULL},
		{EM_SPARCV9, "64-bit SPARC", NULL},
		{EM_SPARC, "SPARC", NULL},
		{EM_SPARC32PLUS, "SPARC", NULL},
		{EM_ALPHA, "Alpha", NULL},
		{EM_IA_64, "Itanium", NULL},
		{EM_PARISC, "PA-RISC", NULL},
		{EM_68K, "68000", NULL},
		{EM_SH, "SuperH", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (names[i].machine != machine)
			continue;
		return g_strdup(
			is_32 && names[i].name_of_32 != NULL ? names[i].name_of_32 : names[i].name);
	}
	return g_strdup_printf("ELF machine %u", machine);
}

/* A field of a structure that files of 32 and of 64 bits have. */
#define FIELD(bytes, type, field)                                                                  \
	(self->is_32 ? lode_elf_file_number(self, (bytes) + offsetof(Elf32_##type, field),         \
			       sizeof(((Elf32_##type *)NULL)->field))                              \
		     : lode_elf_file_number(self, (bytes) + offsetof(Elf64_##type, field),         \
			       sizeof(((Elf64_##type *)NULL)->field)))

uint64_t lode_elf_file_number(const LodeElfFile *self, const uint8_t *bytes, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = value << 8 | bytes[self->is_big_endian ? i : n - 1 - i];
	return value;
}

/* Before libelf sees the file: it allocates some hundred bytes for each section, of which there are
 * as many as the file has it. */
static bool check_header(LodeElfFile *self, GError **error)
{
	uint8_t header[sizeof(Elf64_Ehdr)] = {0}, first[sizeof(Elf64_Shdr)] = {0};
	ssize_t n = pread(self->fd, header, sizeof header, 0);

	if (n < SELFMAG || memcmp(header, ELFMAG, SELFMAG) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "not an ELF file");
		return false;
	}
	self->is_32 = header[EI_CLASS] == ELFCLASS32;
	self->is_big_endian = header[EI_DATA] == ELFDATA2MSB;
	if (n < (ssize_t)(self->is_32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr))) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"offset %zd: the ELF header is cut short", n);
		return false;
	}
	unsigned type = (unsigned)lode_elf_file_number(
		self, header + offsetof(Elf64_Ehdr, e_type), sizeof(Elf64_Half));
	if (type != ET_EXEC && type != ET_DYN) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"not a linked program or library (ELF type %u)", type);
		return false;
	}
	self->is_fixed = type == ET_EXEC;
	self->machine = (unsigned)lode_elf_file_number(
		self, header + offsetof(Elf64_Ehdr, e_machine), sizeof(Elf64_Half));
	if (self->machine != EM_X86_64 || self->is_32 || self->is_big_endian)
		self->undecoded = undecoded_machine(self->machine, self->is_32);
	uint64_t sections = FIELD(header, Ehdr, e_shoff);
	size_t size = self->is_32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	if (FIELD(header, Ehdr, e_shnum) == 0 && sections != 0 &&
		(pread(self->fd, first, size, (off_t)sections) != (ssize_t)size ||
			FIELD(first, Shdr, sh_size) > MAX_SECTIONS)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"offset %" G_GUINT64_FORMAT ": the section header table is cut short",
			sections);
		return false;
	}
	elf_version(EV_CURRENT);
	self->elf = elf_begin(
		self->fd, self->size > MAX_READ_BYTES ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	if (self->elf == NULL || gelf_getehdr(self->elf, &(GElf_Ehdr){0}) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "not a readable ELF file: %s",
			elf_errmsg(-1));
		return false;
	}
	return true;
}

static void read_segments(LodeElfFile *self)
{
	uint64_t start = UINT64_MAX, end = 0;
	GElf_Ehdr header;
	size_t n;

	if (gelf_getehdr(self->elf, &header) == NULL || header.e_phoff == 0)
		return;
	if (elf_getphdrnum(self->elf, &n) != 0 ||
		gelf_getphdr(self->elf, 0, &(GElf_Phdr){0}) == NULL) {
		warn(self, "the program header table lies outside the file");
		return;
	}
	/* libelf has seen to it that they are in the file */
	self->segments = g_new0(Elf64_Phdr, n);
	self->n_segments = n;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr *segment = &self->segments[i];

		if (gelf_getphdr(self->elf, (int)i, segment) == NULL ||
			segment->p_type != PT_LOAD || segment->p_filesz == 0 ||
			!is_within(self, segment->p_offset, segment->p_filesz))
			continue;
		start = MIN(start, segment->p_offset);
		end = MAX(end, segment->p_offset + segment->p_filesz);
	}
	self->loaded_start = start;
	self->loaded_size = end > start ? end - start : 0;
}

/* The uncompressed size that a section claims; by SHF_COMPRESSED, or the older form of GNU: "ZLIB"
 * and the size with the highest byte first. */
static uint64_t expanded_size(const LodeElfFile *self, const char *name, const Elf64_Shdr *header)
{
	uint8_t start[sizeof(Elf64_Chdr)] = {0};
	uint64_t size = 0;

	if (!(header->sh_flags & SHF_COMPRESSED) && !g_str_has_prefix(name, ".zdebug"))
		return 0;
	if (pread(self->fd, start, MIN(sizeof start, header->sh_size), (off_t)header->sh_offset) <=
		0)
		return 0;
	if (header->sh_flags & SHF_COMPRESSED)
		return FIELD(start, Chdr, ch_size);
	memcpy(&size, start + strlen("ZLIB"), sizeof size);
	return GUINT64_FROM_BE(size);
}

/* The names' index, unless the names are packed: they are not unpacked for this. */
static size_t find_names(const LodeElfFile *self)
{
	size_t index;
	GElf_Shdr header;

	if (elf_getshdrstrndx(self->elf, &index) != 0)
		return 0;
	return gelf_getshdr(elf_getscn(self->elf, index), &header) != NULL &&
	                       !(header.sh_flags & SHF_COMPRESSED)
	               ? index
	               : 0;
}

static void read_sections(LodeElfFile *self)
{
	uint64_t expanded = 0, limit = FREE_BYTES + MAX_EXPANSION * self->size;
	size_t n = 0, names = find_names(self);

	if (elf_getshdrnum(self->elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		Elf_Scn *place = elf_getscn(self->elf, i);
		GElf_Shdr shape, *header = gelf_getshdr(place, &shape);
		const char *name = NULL;

		if (header == NULL) {
			warn(self, "the section header table is cut short");
			g_array_set_size(self->sections, 0);
			return;
		}
		if (names != 0)
			name = elf_strptr(self->elf, names, header->sh_name);
		LodeElfSection section = {
			.name = name != NULL ? name : "",
			.type = header->sh_type,
			.link = header->sh_link,
			.flags = header->sh_flags,
			.address = header->sh_addr,
			.size = header->sh_size,
			.entry_size = header->sh_entsize,
		};
		if (header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL) {
			if (!is_within(self, header->sh_offset, header->sh_size)) {
				warn(self, "a section lies outside the file");
			} else {
				uint64_t size = expanded_size(self, section.name, header);

				section.place = place;
				expanded = size < limit ? expanded + size : limit + 1;
				self->has_compressed_bomb |= expanded > limit;
			}
		}
		g_array_append_val(self->sections, section);
	}
}

LODE_ORDER(compare_ranges, LodeElfRange, LODE_ASCENDING(address), LODE_DESCENDING(size))

static void add_range(LodeElfFile *self, LodeElfRange range)
{
	if (range.bytes != NULL && range.size > 0 && range.size <= UINT64_MAX - range.address)
		g_array_append_val(self->executable, range);
}

/* The bytes of a PT_LOAD segment that is within the file. One piece is read for all segments, which
 * libelf keeps: they may overlap, and be many. */
static const uint8_t *segment_bytes(const LodeElfFile *self, const Elf64_Phdr *segment)
{
	const Elf_Data *data = elf_getdata_rawchunk(
		self->elf, (int64_t)self->loaded_start, self->loaded_size, ELF_T_BYTE);

	return data != NULL
	               ? (const uint8_t *)data->d_buf + (segment->p_offset - self->loaded_start)
	               : NULL;
}

static void collect_executable(LodeElfFile *self)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(self->sections, LodeElfSection, i);

		if ((section->flags & SHF_EXECINSTR) && (section->flags & SHF_ALLOC) &&
			!(section->flags & SHF_COMPRESSED))
			add_range(self, (LodeElfRange){section->address, section->size,
						lode_elf_section_bytes(section), section->name,
						section->entry_size});
	}
	/* segments hold headers and data beside code: only for files without sections */
	if (self->executable->len > 0 || self->sections->len > 1)
		return;
	for (size_t i = 0; i < self->n_segments; i++) {
		const Elf64_Phdr *segment = &self->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
			segment->p_filesz > 0 &&
			is_within(self, segment->p_offset, segment->p_filesz))
			add_range(self, (LodeElfRange){segment->p_vaddr, segment->p_filesz,
						segment_bytes(self, segment), "", 0});
	}
}

static void find_executable(LodeElfFile *self)
{
	guint n = 0;

	collect_executable(self);
	if (self->executable->len == 0)
		return;
	qsort(self->executable->data, self->executable->len, sizeof(LodeElfRange), compare_ranges);
	for (guint i = 0; i < self->executable->len; i++) {
		LodeElfRange range = g_array_index(self->executable, LodeElfRange, i);
		const LodeElfRange *last =
			n == 0 ? NULL : &g_array_index(self->executable, LodeElfRange, n - 1);

		if (last != NULL && range.address - last->address < last->size) {
			warn(self, "executable sections overlap");
			continue;
		}
		g_array_index(self->executable, LodeElfRange, n++) = range;
	}
	g_array_set_size(self->executable, n);
}

/* GNU ld does not pad an id whose length is no multiple of 4, so that libelf takes the note for
 * broken. The kernel, and so perf, reads it. */
static const uint8_t *find_unpadded_id(const LodeElfFile *self, ssize_t *out_n)
{
	enum { HEADER_BYTES = 12, NAME_BYTES = 4 };
	const LodeElfSection *section = lode_elf_file_find_section(self, ".note.gnu.build-id");
	const uint8_t *note = section != NULL && section->size >= HEADER_BYTES + NAME_BYTES
	                              ? lode_elf_section_bytes(section)
	                              : NULL;

	if (note == NULL || lode_elf_file_number(self, note, 4) != NAME_BYTES ||
		lode_elf_file_number(self, note + 8, 4) != NT_GNU_BUILD_ID ||
		memcmp(note + HEADER_BYTES, "GNU", NAME_BYTES) != 0)
		return NULL;
	uint64_t n = lode_elf_file_number(self, note + 4, 4);
	if (n > section->size - HEADER_BYTES - NAME_BYTES)
		return NULL;
	*out_n = (ssize_t)n;
	return note + HEADER_BYTES + NAME_BYTES;
}

static void read_build_id(LodeElfFile *self)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(self->elf, &id);

	if (n <= 0)
		id = find_unpadded_id(self, &n);
	if (n >= 1 && n <= MAX_BUILD_ID)
		self->build_id = lode_hex_text(id, (size_t)n);
}

bool lode_elf_file_is_at(const char *path)
{
	char head[SELFMAG] = "";
	int descriptor = lode_regular_file_open(path, 0, NULL);
	bool is_read = descriptor >= 0 && read(descriptor, head, sizeof(head)) == sizeof(head);

	if (descriptor >= 0)
		close(descriptor);
	return is_read && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static LodeElfFile *new_file(const char *path)
{
	LodeElfFile *self = g_new0(LodeElfFile, 1);

	self->path = g_strdup(path);
	self->fd = -1;
	self->sections = g_array_new(FALSE, FALSE, sizeof(LodeElfSection));
	self->executable = g_array_new(FALSE, FALSE, sizeof(LodeElfRange));
	self->converted = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return self;
}

static bool read_file(LodeElfFile *self, bool has_code, GError **error)
{
	if (!check_header(self, error))
		return false;
	read_segments(self);
	read_sections(self);
	if (has_code)
		find_executable(self);
	read_build_id(self);
	return true;
}

static LodeElfFile *open_path(const char *path, bool has_code, GError **error)
{
	g_autoptr(LodeElfFile) self = new_file(path);

	if (open_file(self, error) && read_file(self, has_code, error))
		return g_steal_pointer(&self);
	g_prefix_error(error, "%s: ", path);
	return NULL;
}

LodeElfFile *lode_elf_file_open(const char *path, GError **error)
{
	return open_path(path, true, error);
}

LodeElfFile *lode_elf_file_open_tables(const char *path, GError **error)
{
	return open_path(path, false, error);
}

LodeElfFile *lode_elf_file_open_bytes(
	const char *name, const uint8_t *bytes, size_t n, GError **error)
{
	g_autoptr(LodeElfFile) self = new_file(name);

	self->fd = memfd_create("lode-elf", MFD_CLOEXEC);
	for (ssize_t written; self->size < n && self->fd >= 0; self->size += (uint64_t)written) {
		written = write(self->fd, bytes + self->size, n - self->size);
		if (written <= 0)
			break;
	}
	if (self->fd < 0 || self->size < n)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", g_strerror(errno));
	else if (read_file(self, true, error))
		return g_steal_pointer(&self);
	g_prefix_error(error, "%s: ", name);
	return NULL;
}

void lode_elf_file_close(LodeElfFile *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->sections);
	g_array_unref(self->executable);
	g_hash_table_unref(self->converted);
	g_free(self->segments);
	g_free(self->undecoded);
	elf_end(self->elf);
	if (self->fd >= 0)
		close(self->fd);
	g_free(self->path);
	g_free(self->build_id);
	g_free(self);
}

const LodeElfSection *lode_elf_file_find_section(const LodeElfFile *self, const char *name)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(self->sections, LodeElfSection, i);

		if (section->place != NULL && strcmp(section->name, name) == 0)
			return section;
	}
	return NULL;
}

const LodeElfSection *lode_elf_file_find_type(const LodeElfFile *self, uint32_t type)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(self->sections, LodeElfSection, i);

		if (section->place != NULL && section->type == type)
			return section;
	}
	return NULL;
}

const uint8_t *lode_elf_section_bytes(const LodeElfSection *section)
{
	const Elf_Data *data = section->place != NULL ? elf_rawdata(section->place, NULL) : NULL;

	return data != NULL && data->d_size >= section->size ? data->d_buf : NULL;
}

/* Symbols in the form of 64-bit files of this machine's byte order; NULL: they cannot be read. */
static const Elf64_Sym *convert_symbols(
	const LodeElfFile *self, const LodeElfSection *table, size_t n)
{
	Elf64_Sym *known = g_hash_table_lookup(self->converted, table);
	Elf_Data *data = known == NULL ? elf_getdata(table->place, NULL) : NULL;
	g_autofree Elf64_Sym *symbols = data != NULL ? g_try_new(Elf64_Sym, n) : NULL;

	if (symbols == NULL)
		return known;
	for (size_t i = 0; i < n; i++)
		if (gelf_getsym(data, (int)i, &symbols[i]) == NULL)
			return NULL;
	g_hash_table_insert(self->converted, (void *)table, symbols);
	return g_steal_pointer(&symbols);
}

bool lode_elf_file_symbols(
	const LodeElfFile *self, const LodeElfSection *table, LodeElfSymbols *out_symbols)
{
	const LodeElfSection *strings = table->link < self->sections->len
	                                        ? &g_array_index(self->sections, LodeElfSection,
							  table->link)
	                                        : NULL;
	size_t entry_size = self->is_32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	LodeElfSymbols symbols = {.n = table->size / entry_size};

	if (table->entry_size != entry_size || (table->flags & SHF_COMPRESSED) || strings == NULL ||
		strings->type != SHT_STRTAB)
		return false;
	symbols.all = self->is_32 || self->is_big_endian
	                      ? convert_symbols(self, table, symbols.n)
	                      : (const Elf64_Sym *)(const void *)lode_elf_section_bytes(table);
	symbols.names = (const char *)lode_elf_section_bytes(strings);
	if (symbols.all == NULL || symbols.names == NULL)
		return false;
	/* A mapped section is aligned as in the file. */
	if ((uintptr_t)symbols.all % _Alignof(Elf64_Sym) != 0)
		return false;
	const char *last = memrchr(symbols.names, '\0', strings->size);
	symbols.names_size = last != NULL ? (size_t)(last - symbols.names) + 1 : 0;
	*out_symbols = symbols;
	return true;
}

const char *lode_elf_symbol_name(const LodeElfSymbols *symbols, const Elf64_Sym *symbol)
{
	return symbol->st_name < symbols->names_size ? symbols->names + symbol->st_name : NULL;
}

const LodeElfRange *lode_elf_file_find_range(const LodeElfFile *self, uint64_t address)
{
	const LodeElfRange *ranges = (const LodeElfRange *)(const void *)self->executable->data;
	size_t low = LODE_PARTITION_POINT(self->executable->len, i, ranges[i].address <= address);
	if (low == 0 || address - ranges[low - 1].address >= ranges[low - 1].size)
		return NULL;
	return &ranges[low - 1];
}

const uint8_t *lode_elf_file_loaded_bytes(const LodeElfFile *self, uint64_t address, size_t *out_n)
{
	for (size_t i = 0; i < self->n_segments; i++) {
		const Elf64_Phdr *segment = &self->segments[i];
		uint64_t offset = address - segment->p_vaddr;
		const uint8_t *bytes;

		if (segment->p_type != PT_LOAD || offset >= segment->p_filesz ||
			!is_within(self, segment->p_offset, segment->p_filesz))
			continue;
		bytes = segment_bytes(self, segment);
		*out_n = (size_t)(segment->p_filesz - offset);
		return bytes != NULL ? bytes + offset : NULL;
	}
	return NULL;
}

bool lode_elf_file_read_loaded(const LodeElfFile *self, uint64_t address, void *to, size_t n)
{
	for (size_t i = 0; i < self->n_segments; i++) {
		const Elf64_Phdr *segment = &self->segments[i];
		uint64_t offset = address - segment->p_vaddr;

		if (segment->p_type == PT_LOAD && offset < segment->p_filesz &&
			is_within(self, segment->p_offset, segment->p_filesz))
			return segment->p_filesz - offset >= n &&
			       pread(self->fd, to, n, (off_t)(segment->p_offset + offset)) ==
			               (ssize_t)n;
	}
	return false;
}
