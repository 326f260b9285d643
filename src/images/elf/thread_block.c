/* SPDX-License-Identifier: MIT */
#include "images/elf/thread_block.h"

#include <string.h>

/* The limit of a block, and of its alignment: more is a broken file. */
#define MAX_SIZE (UINT64_C(1) << 31)

typedef struct {
	uint64_t offset;
	LodeThreadSlot kind;
} Slot;

struct LodeThreadBlock {
	uint64_t size;
	uint64_t to_pointer; /* bytes from its beginning to the thread pointer */
	bool is_executable;
	GHashTable *slots; /* address → Slot */
};

/* Entries of the dynamic section that have a tag: the value of the last one; false: none. */
static bool find_dynamic(const LodeElfFile *file, int64_t tag, uint64_t *out_value)
{
	const LodeElfSection *section = lode_elf_file_find_type(file, SHT_DYNAMIC);
	const uint8_t *bytes = section != NULL ? lode_elf_section_bytes(section) : NULL;
	bool is_found = false;

	for (uint64_t i = 0; bytes != NULL && i < section->size / sizeof(Elf64_Dyn); i++) {
		Elf64_Dyn entry;

		memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != tag)
			continue;
		*out_value = entry.d_un.d_val;
		is_found = true;
	}
	return is_found;
}

/* The C library names an interpreter too, for it can be run; but it has a name to be linked by. */
static bool is_executable(const LodeElfFile *file)
{
	bool has_interpreter = false;
	uint64_t value = 0;

	if (file->is_fixed || (find_dynamic(file, DT_FLAGS_1, &value) && (value & DF_1_PIE) != 0))
		return true;
	for (size_t i = 0; i < file->n_segments; i++)
		has_interpreter |= file->segments[i].p_type == PT_INTERP;
	return has_interpreter && !find_dynamic(file, DT_SONAME, &value);
}

static void add_slot(LodeThreadBlock *self, const LodeElfSymbols *symbols, const Elf64_Rela *raw)
{
	uint64_t type = ELF64_R_TYPE(raw->r_info), index = ELF64_R_SYM(raw->r_info);
	Slot slot = {.offset = (uint64_t)raw->r_addend};
	uint64_t address = raw->r_offset;
	Slot *known;

	if (type != R_X86_64_TPOFF64 && type != R_X86_64_DTPOFF64 && type != R_X86_64_DTPMOD64 &&
		type != R_X86_64_TLSDESC)
		return;
	if (index != 0) {
		/* a variable of a different image has a block of its own */
		if (symbols == NULL || index >= symbols->n ||
			symbols->all[index].st_shndx == SHN_UNDEF)
			return;
		slot.offset += symbols->all[index].st_value;
	}
	if (type == R_X86_64_TLSDESC) {
		slot.kind = LODE_THREAD_SLOT_DESCRIPTOR;
	} else if (type != R_X86_64_TPOFF64) {
		/* The second word of the two has the offset, when it is the symbol's; it counts
		 * from 0 when it is not relocated. */
		slot.kind = LODE_THREAD_SLOT_MODULE;
		if (type == R_X86_64_DTPOFF64)
			address -= sizeof(uint64_t);
	}
	known = g_hash_table_lookup(self->slots, &address);
	if (known != NULL)
		known->offset = MAX(known->offset, slot.offset);
	else
		g_hash_table_insert(self->slots, g_memdup2(&address, sizeof address),
			g_memdup2(&slot, sizeof slot));
}

/* Where a local symbol's offset is not relocated, it stands in the file. */
static void add_written_offset(
	const LodeElfFile *file, const Elf64_Rela *raw, LodeThreadBlock *self)
{
	size_t n = 0;
	const uint8_t *bytes;
	uint64_t offset;
	Slot *slot;

	if (ELF64_R_TYPE(raw->r_info) != R_X86_64_DTPMOD64 || ELF64_R_SYM(raw->r_info) != 0)
		return;
	slot = g_hash_table_lookup(self->slots, &raw->r_offset);
	bytes = lode_elf_file_loaded_bytes(file, raw->r_offset + sizeof offset, &n);
	if (slot == NULL || bytes == NULL || n < sizeof offset)
		return;
	memcpy(&offset, bytes, sizeof offset);
	slot->offset = MAX(slot->offset, offset);
}

static void read_slots(LodeThreadBlock *self, const LodeElfFile *file)
{
	for (guint i = 0; i < file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(file->sections, LodeElfSection, i);
		const uint8_t *bytes = section->type == SHT_RELA ? lode_elf_section_bytes(section)
		                                                 : NULL;
		const LodeElfSection *table = lode_elf_file_find_type(file, SHT_DYNSYM);
		LodeElfSymbols symbols;
		bool has_symbols = bytes != NULL && table != NULL &&
		                   lode_elf_file_symbols(file, table, &symbols);

		for (uint64_t k = 0; bytes != NULL && k < section->size / sizeof(Elf64_Rela); k++) {
			Elf64_Rela raw;

			memcpy(&raw, bytes + k * sizeof raw, sizeof raw);
			add_slot(self, has_symbols ? &symbols : NULL, &raw);
			add_written_offset(file, &raw, self);
		}
	}
}

LodeThreadBlock *lode_thread_block_new(const LodeElfFile *file)
{
	const Elf64_Phdr *segment = NULL;
	LodeThreadBlock *self;
	uint64_t align;

	for (size_t i = 0; i < file->n_segments && segment == NULL; i++)
		if (file->segments[i].p_type == PT_TLS)
			segment = &file->segments[i];
	if (segment == NULL || segment->p_memsz == 0 || segment->p_memsz > MAX_SIZE)
		return NULL;
	align = MAX(segment->p_align, 1);
	if (align > MAX_SIZE || (align & (align - 1)) != 0)
		return NULL;
	self = g_new0(LodeThreadBlock, 1);
	self->size = segment->p_memsz;
	/* the thread pointer is aligned as the block is, whose beginning need not be */
	self->to_pointer = self->size + ((0 - segment->p_vaddr - self->size) & (align - 1));
	self->is_executable = is_executable(file);
	self->slots = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	read_slots(self, file);
	return self;
}

void lode_thread_block_free(LodeThreadBlock *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->slots);
	g_free(self);
}

bool lode_thread_block_at_pointer(
	const LodeThreadBlock *self, int64_t displacement, uint64_t *out_offset)
{
	uint64_t offset = self->to_pointer + (uint64_t)displacement;

	if (!self->is_executable || displacement >= 0 || offset >= self->size)
		return false;
	*out_offset = offset;
	return true;
}

bool lode_thread_block_slot(
	const LodeThreadBlock *self, uint64_t slot, LodeThreadSlot kind, uint64_t *out_offset)
{
	const Slot *found = g_hash_table_lookup(self->slots, &slot);

	if (found == NULL || found->kind != kind || found->offset >= self->size)
		return false;
	*out_offset = found->offset;
	return true;
}
