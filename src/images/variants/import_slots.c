/* SPDX-License-Identifier: MIT */
#include "images/variants/import_slots.h"

#include "base/arrays/sort_order.h"
#include "images/elf/demangled_name.h"
#include "images/variants/elf_image.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint64_t slot, address; /* address 0: by `name` */
	const char *name;       /* of the file, or of `names` */
} Slot;

struct LodeImportSlots {
	const LodeElfImage *image;
	GArray *slots; /* Slot, sorted */
	GStringChunk *names;
};

LODE_ORDER(compare_slots, Slot, LODE_ASCENDING(slot))

static const char *demangled(LodeImportSlots *self, const char *symbol)
{
	return symbol == NULL || symbol[0] == '\0' ? NULL
	                                           : lode_demangled_name(symbol, self->names);
}

static void read_relocations(LodeImportSlots *self, const LodeElfSection *table)
{
	const LodeElfFile *file = self->image->file;
	const uint8_t *bytes = lode_elf_section_bytes(table);
	const LodeElfSection *linked = table->link < file->sections->len
	                                       ? &g_array_index(file->sections, LodeElfSection,
							 table->link)
	                                       : NULL;
	LodeElfSymbols symbols = {0};

	if (linked != NULL && linked->type == SHT_DYNSYM)
		lode_elf_file_symbols(file, linked, &symbols);
	for (uint64_t i = 0; bytes != NULL && i < table->size / sizeof(Elf64_Rela); i++) {
		Slot slot = {0};
		Elf64_Rela raw;

		memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
		const uint64_t type = ELF64_R_TYPE(raw.r_info), index = ELF64_R_SYM(raw.r_info);
		slot.slot = raw.r_offset;
		if (type == R_X86_64_RELATIVE &&
			lode_elf_file_find_range(file, (uint64_t)raw.r_addend) != NULL)
			slot.address = (uint64_t)raw.r_addend;
		else if ((type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) && index != 0 &&
			 index < symbols.n)
			slot.name = demangled(
				self, lode_elf_symbol_name(&symbols, &symbols.all[index]));
		if (slot.address != 0 || slot.name != NULL)
			g_array_append_val(self->slots, slot);
	}
}

LodeImportSlots *lode_import_slots_new(LodeBinaryImage *image)
{
	LodeElfImage *elf = lode_elf_image_of(image);

	if (elf == NULL || elf->file->undecoded != NULL)
		return NULL;
	LodeImportSlots *self = g_new0(LodeImportSlots, 1);
	self->image = elf;
	self->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
	self->names = g_string_chunk_new(256);
	for (guint i = 0; i < elf->file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(
			elf->file->sections, LodeElfSection, i);

		if (section->type == SHT_RELA && !(section->flags & SHF_COMPRESSED))
			read_relocations(self, section);
	}
	if (self->slots->len > 1)
		g_array_sort(self->slots, compare_slots);
	return self;
}

void lode_import_slots_free(LodeImportSlots *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->slots);
	g_string_chunk_free(self->names);
	g_free(self);
}

const char *lode_import_slots_find(const LodeImportSlots *self, uint64_t slot)
{
	const Slot key = {.slot = slot};
	const Slot *found = self->slots->len > 0
	                            ? bsearch(&key, self->slots->data, self->slots->len, sizeof key,
					      compare_slots)
	                            : NULL;
	const LodeBinaryFunction *function;

	if (found == NULL)
		return NULL;
	if (found->name != NULL)
		return found->name;
	function = lode_binary_image_find(&self->image->image, found->address);
	return function != NULL && function->address == found->address ? function->name : NULL;
}
