/* SPDX-License-Identifier: MIT */
/*
 * Header, segments, sections, build-id. A broken program or section table of an otherwise readable
 * file is a warning: what the other one says still serves.
 */
#include "images/elf_file.h"

#include "base/error.h"
#include "base/partition_point.h"

#include <string.h>
#include <sys/stat.h>

enum {
	MAX_SECTIONS = 1 << 20,
	MAX_BUILD_ID = 64,
	/* deflate cannot do better than 1 : 1032; zstd can, but no compiler's output does */
	MAX_COMPRESSION = 1100,
};

static bool is_within(const LodeElfFile *self, uint64_t offset, uint64_t size)
{
	return offset <= self->size && size <= self->size - offset;
}

static void warn(LodeElfFile *self, const char *message)
{
	if (self->warning == NULL)
		self->warning = g_strdup(message);
}

static bool check_header(LodeElfFile *self, GError **error)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)self->data;

	if (self->size < SELFMAG || memcmp(self->data, ELFMAG, SELFMAG) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "not an ELF file");
		return false;
	}
	if (self->size < sizeof *header) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"offset %zu: the ELF header is cut short", self->size);
		return false;
	}
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
		header->e_machine != EM_X86_64) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"not an x86-64 program (ELF machine %u)", header->e_machine);
		return false;
	}
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"not a linked program or library (ELF type %u)", header->e_type);
		return false;
	}
	self->header = header;
	return true;
}

static void read_segments(LodeElfFile *self)
{
	const Elf64_Ehdr *header = self->header;
	uint64_t size = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);

	if (header->e_phoff == 0 || header->e_phnum == 0)
		return;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 != 0 ||
		!is_within(self, header->e_phoff, size)) {
		warn(self, "the program header table lies outside the file");
		return;
	}
	self->segments = (const Elf64_Phdr *)(const void *)(self->data + header->e_phoff);
	self->n_segments = header->e_phnum;
}

/* The section headers, with the extended count; NULL when there are none or they are broken. */
static const Elf64_Shdr *section_table(LodeElfFile *self, size_t *out_n)
{
	const Elf64_Ehdr *header = self->header;
	const Elf64_Shdr *table;
	uint64_t n = header->e_shnum;

	if (header->e_shoff == 0)
		return NULL;
	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 != 0 ||
		!is_within(self, header->e_shoff, sizeof(Elf64_Shdr))) {
		warn(self, "the section header table lies outside the file");
		return NULL;
	}
	table = (const Elf64_Shdr *)(const void *)(self->data + header->e_shoff);
	if (n == 0)
		n = table[0].sh_size;
	if (n > MAX_SECTIONS || !is_within(self, header->e_shoff, n * sizeof(Elf64_Shdr))) {
		warn(self, "the section header table is cut short");
		return NULL;
	}
	*out_n = (size_t)n;
	return table;
}

static void check_compression(LodeElfFile *self, const LodeElfSection *section)
{
	Elf64_Chdr header;

	if (!(section->flags & SHF_COMPRESSED) || section->bytes == NULL)
		return;
	if (section->size < sizeof header) {
		self->has_compressed_bomb = true;
		return;
	}
	memcpy(&header, section->bytes, sizeof header);
	if (header.ch_size / MAX_COMPRESSION > section->size)
		self->has_compressed_bomb = true;
}

static void add_section(LodeElfFile *self, const Elf64_Shdr *header)
{
	LodeElfSection section = {
		.name = "",
		.type = header->sh_type,
		.link = header->sh_link,
		.info = header->sh_info,
		.flags = header->sh_flags,
		.address = header->sh_addr,
		.size = header->sh_size,
		.entry_size = header->sh_entsize,
	};

	if (header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL) {
		if (is_within(self, header->sh_offset, header->sh_size))
			section.bytes = self->data + header->sh_offset;
		else
			warn(self, "a section lies outside the file");
	}
	check_compression(self, &section);
	g_array_append_val(self->sections, section);
}

static void name_sections(LodeElfFile *self, const Elf64_Shdr *table)
{
	uint32_t index = self->header->e_shstrndx;
	const LodeElfSection *names;

	if (index == SHN_XINDEX)
		index = table[0].sh_link;
	names = lode_elf_file_section(self, index);
	for (guint i = 0; i < self->sections->len; i++) {
		LodeElfSection *section = &g_array_index(self->sections, LodeElfSection, i);
		const char *name = lode_elf_section_string(names, table[i].sh_name);

		if (name != NULL)
			section->name = name;
	}
}

static void read_sections(LodeElfFile *self)
{
	size_t n = 0;
	const Elf64_Shdr *table = section_table(self, &n);

	if (table == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		add_section(self, &table[i]);
	name_sections(self, table);
}

static int compare_ranges(const void *a, const void *b)
{
	const LodeElfRange *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->size < y->size) - (x->size > y->size);
}

static void add_range(LodeElfFile *self, LodeElfRange range)
{
	if (range.bytes != NULL && range.size > 0 && range.size <= UINT64_MAX - range.address)
		g_array_append_val(self->executable, range);
}

static void collect_executable(LodeElfFile *self)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = lode_elf_file_section(self, i);

		if ((section->flags & SHF_EXECINSTR) && (section->flags & SHF_ALLOC) &&
			!(section->flags & SHF_COMPRESSED))
			add_range(
				self, (LodeElfRange){section->address, section->size,
					      section->bytes, section->name, section->entry_size});
	}
	if (self->executable->len > 0 || self->sections->len > 1)
		return;
	for (size_t i = 0; i < self->n_segments; i++) {
		const Elf64_Phdr *segment = &self->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
			is_within(self, segment->p_offset, segment->p_filesz))
			add_range(self, (LodeElfRange){segment->p_vaddr, segment->p_filesz,
						self->data + segment->p_offset, "", 0});
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

static char *hex_of(const uint8_t *bytes, size_t n)
{
	GString *text = g_string_sized_new(2 * n + 1);

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

static char *build_id_in(const uint8_t *notes, uint64_t size)
{
	uint64_t offset = 0;

	while (size - offset >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, content, end;

		memcpy(&note, notes + offset, sizeof note);
		name = offset + sizeof note;
		content = name + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3));
		end = content + (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));
		if (content + note.n_descsz > size)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
			memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
			note.n_descsz > 1 && note.n_descsz <= MAX_BUILD_ID)
			return hex_of(notes + content, note.n_descsz);
		if (end > size)
			return NULL;
		offset = end;
	}
	return NULL;
}

static void find_build_id(LodeElfFile *self)
{
	for (size_t i = 0; i < self->n_segments && self->build_id == NULL; i++) {
		const Elf64_Phdr *segment = &self->segments[i];

		/* a separate debug file's segments hold the offsets of the file it came from */
		if (segment->p_type == PT_NOTE && self->sections->len <= 1 &&
			is_within(self, segment->p_offset, segment->p_filesz))
			self->build_id = build_id_in(
				self->data + segment->p_offset, segment->p_filesz);
	}
	for (guint i = 0; i < self->sections->len && self->build_id == NULL; i++) {
		const LodeElfSection *section = lode_elf_file_section(self, i);

		if (section->type == SHT_NOTE && section->bytes != NULL)
			self->build_id = build_id_in(section->bytes, section->size);
	}
}

/* The path comes from an input: a named pipe would hold us up, where nobody writes into it. */
static bool check_kind(const char *path, GError **error)
{
	struct stat status;

	if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: not a regular file", path);
	return false;
}

LodeElfFile *lode_elf_file_open(const char *path, GError **error)
{
	g_autoptr(LodeElfFile) self = g_new0(LodeElfFile, 1);
	g_autoptr(GError) cause = NULL;

	self->path = g_strdup(path);
	self->sections = g_array_new(FALSE, FALSE, sizeof(LodeElfSection));
	self->executable = g_array_new(FALSE, FALSE, sizeof(LodeElfRange));
	if (!check_kind(path, error))
		return NULL;
	self->mapping = g_mapped_file_new(path, FALSE, &cause);
	if (self->mapping == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", cause->message);
		return NULL;
	}
	self->data = (const uint8_t *)g_mapped_file_get_contents(self->mapping);
	self->size = g_mapped_file_get_length(self->mapping);
	if (!check_header(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	read_segments(self);
	read_sections(self);
	find_executable(self);
	find_build_id(self);
	return g_steal_pointer(&self);
}

void lode_elf_file_close(LodeElfFile *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->sections, g_array_unref);
	g_clear_pointer(&self->executable, g_array_unref);
	g_clear_pointer(&self->mapping, g_mapped_file_unref);
	g_free(self->path);
	g_free(self->build_id);
	g_free(self->warning);
	g_free(self);
}

const LodeElfSection *lode_elf_file_section(const LodeElfFile *self, size_t index)
{
	return index < self->sections->len ? &g_array_index(self->sections, LodeElfSection, index)
	                                   : NULL;
}

const LodeElfSection *lode_elf_file_find_section(const LodeElfFile *self, const char *name)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = lode_elf_file_section(self, i);

		if (section->bytes != NULL && strcmp(section->name, name) == 0)
			return section;
	}
	return NULL;
}

const LodeElfSection *lode_elf_file_find_type(const LodeElfFile *self, uint32_t type)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const LodeElfSection *section = lode_elf_file_section(self, i);

		if (section->bytes != NULL && section->type == type)
			return section;
	}
	return NULL;
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

		if (segment->p_type != PT_LOAD || offset >= segment->p_filesz ||
			!is_within(self, segment->p_offset, segment->p_filesz))
			continue;
		*out_n = (size_t)(segment->p_filesz - offset);
		return self->data + segment->p_offset + offset;
	}
	return NULL;
}

const char *lode_elf_section_string(const LodeElfSection *table, uint64_t offset)
{
	if (table == NULL || table->bytes == NULL || table->type != SHT_STRTAB ||
		offset >= table->size)
		return NULL;
	if (memchr(table->bytes + offset, '\0', (size_t)(table->size - offset)) == NULL)
		return NULL;
	return (const char *)table->bytes + offset;
}
