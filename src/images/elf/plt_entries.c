/* SPDX-License-Identifier: MIT */
/*
 * Names for PLT entries. An entry jumps through a slot of the global offset table, and the
 * relocation of that slot names the function:
 *
 *   [endbr64] [bnd] jmp [rip + slot]  ──▶ JUMP_SLOT, GLOB_DAT: a dynamic symbol
 *                                        IRELATIVE: the symbol of the resolver
 *   [endbr64] push n; jmp .plt        ──▶ the n-th relocation of .rela.plt
 */
#include "images/elf/symbol_table.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

#include <string.h>

enum { DEFAULT_ENTRY_SIZE = 16 };

typedef struct {
	uint64_t slot;
	const char *symbol;
} Relocation;

typedef struct {
	const LodeElfFile *file;
	const LodeSymbol *symbols; /* sorted */
	size_t n_symbols;
	GArray *by_slot;  /* Relocation, sorted */
	GArray *by_index; /* Relocation, of .rela.plt */
} Plt;

bool lode_symbol_table_is_plt(const LodeElfRange *range)
{
	return strcmp(range->name, ".plt") == 0 || strcmp(range->name, ".plt.got") == 0 ||
	       strcmp(range->name, ".plt.sec") == 0;
}

static const char *symbol_at(const Plt *plt, uint64_t address)
{
	size_t low = LODE_PARTITION_POINT(plt->n_symbols, i, plt->symbols[i].address < address);
	if (low < plt->n_symbols && plt->symbols[low].address == address)
		return plt->symbols[low].symbol;
	return NULL;
}

static const char *symbol_of(
	const Plt *plt, const LodeElfSymbols *symbols, const Elf64_Rela *relocation)
{
	uint64_t index = ELF64_R_SYM(relocation->r_info);

	if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_IRELATIVE)
		return symbol_at(plt, (uint64_t)relocation->r_addend);
	return index != 0 && index < symbols->n
	               ? lode_elf_symbol_name(symbols, &symbols->all[index])
	               : NULL;
}

static bool is_slot(uint64_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       type == R_X86_64_IRELATIVE;
}

static void read_relocations(Plt *plt, const LodeElfSection *table)
{
	bool is_plt = strcmp(table->name, ".rela.plt") == 0;
	const uint8_t *bytes = lode_elf_section_bytes(table);
	const LodeElfSection *linked = table->link < plt->file->sections->len
	                                       ? &g_array_index(plt->file->sections, LodeElfSection,
							 table->link)
	                                       : NULL;
	LodeElfSymbols symbols = {0};

	if (linked != NULL && linked->type == SHT_DYNSYM)
		lode_elf_file_symbols(plt->file, linked, &symbols);
	for (uint64_t i = 0; bytes != NULL && i < table->size / sizeof(Elf64_Rela); i++) {
		Relocation relocation;
		Elf64_Rela raw;

		memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
		if (!is_slot(ELF64_R_TYPE(raw.r_info)) && !is_plt)
			continue;
		relocation.slot = raw.r_offset;
		relocation.symbol = symbol_of(plt, &symbols, &raw);
		g_array_append_val(plt->by_slot, relocation);
		if (is_plt)
			g_array_append_val(plt->by_index, relocation);
	}
}

LODE_ORDER(compare_slots, Relocation, LODE_ASCENDING(slot))

static const char *symbol_of_slot(const Plt *plt, uint64_t slot)
{
	Relocation key = {.slot = slot};
	const Relocation *found = NULL;

	if (plt->by_slot->len > 0)
		found = bsearch(
			&key, plt->by_slot->data, plt->by_slot->len, sizeof key, compare_slots);
	return found == NULL ? NULL : found->symbol;
}

static const char *symbol_of_entry(
	const Plt *plt, const uint8_t *code, size_t size, uint64_t address)
{
	static const uint8_t ENDBR64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t i = 0;
	int32_t operand;

	if (size >= sizeof ENDBR64 && memcmp(code, ENDBR64, sizeof ENDBR64) == 0)
		i = sizeof ENDBR64;
	if (i < size && code[i] == 0xf2) /* bnd */
		i++;
	if (i + 6 <= size && code[i] == 0xff && code[i + 1] == 0x25) {
		memcpy(&operand, code + i + 2, sizeof operand);
		return symbol_of_slot(plt, address + i + 6 + (uint64_t)(int64_t)operand);
	}
	if (i + 5 <= size && code[i] == 0x68) {
		memcpy(&operand, code + i + 1, sizeof operand);
		if (operand >= 0 && (guint)operand < plt->by_index->len)
			return g_array_index(plt->by_index, Relocation, (guint)operand).symbol;
	}
	return NULL;
}

static void add_entries(
	const Plt *plt, const LodeElfRange *range, GArray *out_entries, GStringChunk *names)
{
	/* an entry has 8 or 16 bytes; what else a file says is not believed */
	uint64_t size = range->entry_size == 8 || range->entry_size == 16 ? range->entry_size
	                                                                  : DEFAULT_ENTRY_SIZE;

	for (uint64_t offset = 0; offset < range->size; offset += size) {
		LodeSymbol entry = {.address = range->address + offset,
			.size = MIN(size, range->size - offset),
			.rank = LODE_SYMBOL_PLT};
		const char *symbol = symbol_of_entry(
			plt, range->bytes + offset, (size_t)entry.size, entry.address);

		if (symbol != NULL && symbol[0] != '\0') {
			g_autofree char *name = g_strconcat(symbol, "@plt", NULL);

			entry.symbol = g_string_chunk_insert_const(names, name);
		}
		g_array_append_val(out_entries, entry);
	}
}

static void add_all(const Plt *plt, GArray *symbols, GStringChunk *names)
{
	g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(LodeSymbol));

	for (guint i = 0; i < plt->file->executable->len; i++) {
		const LodeElfRange *range = &g_array_index(plt->file->executable, LodeElfRange, i);

		if (lode_symbol_table_is_plt(range))
			add_entries(plt, range, entries, names);
	}
	if (entries->len > 0)
		g_array_append_vals(symbols, entries->data, entries->len);
}

void lode_symbol_table_add_plt(const LodeElfFile *file, GArray *symbols, GStringChunk *names)
{
	Plt plt = {.file = file,
		.symbols = (const LodeSymbol *)(const void *)symbols->data,
		.n_symbols = symbols->len};

	plt.by_slot = g_array_new(FALSE, FALSE, sizeof(Relocation));
	plt.by_index = g_array_new(FALSE, FALSE, sizeof(Relocation));
	for (guint i = 0; i < file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(file->sections, LodeElfSection, i);

		if (section->type == SHT_RELA && !(section->flags & SHF_COMPRESSED))
			read_relocations(&plt, section);
	}
	if (plt.by_slot->len > 1)
		qsort(plt.by_slot->data, plt.by_slot->len, sizeof(Relocation), compare_slots);
	add_all(&plt, symbols, names);
	g_array_unref(plt.by_slot);
	g_array_unref(plt.by_index);
}
