/* SPDX-License-Identifier: MIT */
#include "images/targets/branch_targets.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/elf/elf_file.h"
#include "images/targets/plain_length.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

/* --- jump tables --- */

/* Where the indirect jumps of an ELF file may go. */

/*
 *   words        .quad case_0, case_1 …           loaded data of eight aligned bytes
 *   relocations  the same where code is position-independent; the word is in the addend
 *   distances    .long case_0 − table, …          from a table whose address lea takes (switch)
 *                .long case_0 − label, …          from a label whose address lea takes near by
 *                                                 (computed goto, as in the C library)
 *
 * A table of distances ends where the next address that is taken stands, or where an entry leaves
 * the code.
 */

enum {
	NEAR_BYTES = 16384,  /* between the lea of a table and that of its label */
	FAR_BYTES = 1 << 16, /* between a label and what its table leads to */
	MAX_DISTANCES = 256, /* from a label; more are other data */
	MIN_DISTANCES = 4,   /* different ones; fewer may be any numbers */
	MAX_LABELS = 64,     /* that are tried with one table */
	/* of the file; tables overlap, and a file can be made in which very many do */
	READS_PER_BYTE = 4,
};

typedef struct {
	LodeBranchTargets *targets;
	const LodeElfFile *file;
	guint n_left;     /* that may still be added */
	uint64_t n_reads; /* of entries, that may still be tried */
	GArray *labels;   /* LodeBranchTarget: those named that are code, by source */
} Search;

static bool is_code(const Search *search, uint64_t address)
{
	return lode_elf_file_find_range(search->file, address) != NULL;
}

static void add(Search *search, uint64_t address)
{
	LodeBranchTarget target = {address, 0};

	if (search->n_left == 0)
		return;
	search->n_left--;
	g_array_append_val(search->targets->targets, target);
}

static void add_words(Search *search, const Elf64_Phdr *segment)
{
	uint64_t address = (segment->p_vaddr + 7) & ~UINT64_C(7), word;
	size_t n = 0;
	const uint8_t *bytes = lode_elf_file_loaded_bytes(search->file, address, &n);

	if (bytes == NULL)
		return;
	for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		if (word != 0 && is_code(search, word))
			add(search, word);
	}
}

static void add_relocations(Search *search, const LodeElfSection *section)
{
	const uint8_t *bytes = section->type == SHT_RELA ? lode_elf_section_bytes(section) : NULL;
	Elf64_Rela relocation;

	if (bytes == NULL)
		return;
	for (uint64_t at = 0; section->size - at >= sizeof relocation; at += sizeof relocation) {
		memcpy(&relocation, bytes + at, sizeof relocation);
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE &&
			is_code(search, (uint64_t)relocation.r_addend))
			add(search, (uint64_t)relocation.r_addend);
	}
}

/* A table of distances in the file, and how its entries are read. */
typedef struct {
	uint64_t address, end;
	uint64_t base;  /* that the distances count from */
	uint64_t limit; /* of a distance */
	bool is_added;  /* to the targets */
} Table;

/* How many different entries, up to the first that does not lead into code; equal neighbours count
 * once. */
static guint read_distances(Search *search, const Table *table)
{
	size_t size = 0;
	const uint8_t *bytes = lode_elf_file_loaded_bytes(search->file, table->address, &size);
	int32_t distance, last = 0;
	guint n = 0;

	size = bytes == NULL ? 0 : (size_t)MIN(size, table->end - table->address);
	for (; size >= sizeof distance && search->n_reads > 0; search->n_reads--) {
		uint64_t target;

		memcpy(&distance, bytes, sizeof distance);
		size -= sizeof distance;
		bytes += sizeof distance;
		target = table->base + (uint64_t)(int64_t)distance;
		if ((uint64_t)ABS((int64_t)distance) > table->limit || !is_code(search, target))
			break;
		if (n > 0 && distance == last)
			continue;
		last = distance;
		n++;
		if (table->is_added)
			add(search, target);
	}
	return n;
}

static guint first_label_from(const GArray *labels, uint64_t source)
{
	guint low = LODE_PARTITION_POINT(
		labels->len, i, g_array_index(labels, LodeBranchTarget, i).source < source);
	return low;
}

/* With every label that is taken near the place where the table is. */
static void add_from_labels(Search *search, const LodeBranchTarget *taken, uint64_t end)
{
	uint64_t from = taken->source > NEAR_BYTES ? taken->source - NEAR_BYTES : 0;
	guint first = first_label_from(search->labels, from);

	for (guint i = first; i < search->labels->len && i - first < MAX_LABELS; i++) {
		const LodeBranchTarget *label = &g_array_index(search->labels, LodeBranchTarget, i);
		Table table = {taken->target, end, label->target, FAR_BYTES, false};
		guint n;

		if (label->source > taken->source + NEAR_BYTES)
			return;
		/* counted first: their number decides whether this is a table at all */
		n = read_distances(search, &table);
		if (n < MIN_DISTANCES || n > MAX_DISTANCES)
			continue;
		table.is_added = true;
		read_distances(search, &table);
	}
}

static uint64_t next_address(const GArray *named, guint i)
{
	uint64_t address = g_array_index(named, LodeBranchTarget, i).target;

	while (++i < named->len) {
		if (g_array_index(named, LodeBranchTarget, i).target != address)
			return g_array_index(named, LodeBranchTarget, i).target;
	}
	return UINT64_MAX;
}

static void add_distances(Search *search)
{
	const GArray *named = search->targets->named;
	uint64_t last = UINT64_MAX, end = 0;

	for (guint i = 0; i < named->len; i++) {
		const LodeBranchTarget *taken = &g_array_index(named, LodeBranchTarget, i);
		bool is_new = taken->target != last;
		Table table = {taken->target, 0, taken->target, UINT32_MAX, true};

		if (is_code(search, taken->target))
			continue;
		if (is_new)
			end = next_address(named, i);
		last = taken->target;
		table.end = end;
		/* a table whose address is taken again, at a different place, may have other labels
		 * near there */
		if (!is_new || read_distances(search, &table) == 0)
			add_from_labels(search, taken, end);
	}
}

LODE_ORDER(compare_sources, LodeBranchTarget, LODE_ASCENDING(source))

static void collect_labels(Search *search)
{
	const GArray *named = search->targets->named;

	for (guint i = 0; i < named->len; i++) {
		LodeBranchTarget label = g_array_index(named, LodeBranchTarget, i);

		if (is_code(search, label.target))
			g_array_append_val(search->labels, label);
	}
	g_array_sort(search->labels, compare_sources);
}

/* Appends to self->targets, with source 0, what data points to in code; self->named is sorted. At
 * most a target for each four bytes of the file. */
static void add_jump_tables(LodeBranchTargets *self, const LodeElfFile *file)
{
	g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	Search search = {.targets = self,
		.file = file,
		.labels = labels,
		.n_left = (guint)MIN(file->size / 4, G_MAXUINT / 2),
		.n_reads = READS_PER_BYTE * (uint64_t)file->size};

	for (size_t i = 0; i < file->n_segments; i++) {
		if (file->segments[i].p_type == PT_LOAD && !(file->segments[i].p_flags & PF_X))
			add_words(&search, &file->segments[i]);
	}
	for (guint i = 0; i < file->sections->len; i++)
		add_relocations(&search, &g_array_index(file->sections, LodeElfSection, i));
	collect_labels(&search);
	add_distances(&search);
}

/* --- all targets --- */

void lode_branch_targets_init(LodeBranchTargets *self)
{
	self->targets = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	self->indirect_jumps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->memory_jumps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->named = g_array_new(FALSE, FALSE, sizeof(LodeBranchTarget));
	self->has_tables = false;
}

void lode_branch_targets_clear(LodeBranchTargets *self)
{
	g_clear_pointer(&self->targets, g_array_unref);
	g_clear_pointer(&self->indirect_jumps, g_array_unref);
	g_clear_pointer(&self->memory_jumps, g_array_unref);
	g_clear_pointer(&self->named, g_array_unref);
}

LODE_ORDER(compare_targets, LodeBranchTarget, LODE_ASCENDING(target), LODE_ASCENDING(source))

static bool is_jump(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       instruction->meta.category == ZYDIS_CATEGORY_CALL;
}

/* Relative to rip, which has this form in 64-bit code only. */
static bool is_near_memory(const ZydisDecodedInstruction *instruction)
{
	return instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	       instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

static bool is_by_memory(const ZydisDecodedInstruction *instruction)
{
	enum { NO_REGISTER_MODE = 3, HAS_INDEX = 4, NO_INDEX = 4 };

	if (instruction->raw.modrm.mod == NO_REGISTER_MODE)
		return false;
	return instruction->raw.modrm.rm != HAS_INDEX ||
	       (instruction->raw.sib.index == NO_INDEX && instruction->raw.rex.X == 0);
}

static void add_instruction(
	LodeBranchTargets *self, const ZydisDecodedInstruction *instruction, uint64_t address)
{
	LodeBranchTarget named = {address + instruction->length, address};

	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && is_near_memory(instruction)) {
		named.target += (uint64_t)instruction->raw.disp.value;
		g_array_append_val(self->named, named);
		g_array_append_val(self->targets, named);
	} else if (is_jump(instruction) && instruction->raw.imm[0].is_relative) {
		named.target += (uint64_t)instruction->raw.imm[0].value.s;
		g_array_append_val(self->targets, named);
	} else if (instruction->mnemonic == ZYDIS_MNEMONIC_JMP && !is_near_memory(instruction)) {
		/* jmp [rip + x] takes one word, mostly of the GOT, and not one of a table */
		g_array_append_val(self->indirect_jumps, address);
		if (is_by_memory(instruction))
			g_array_append_val(self->memory_jumps, address);
	}
}

/* The most frequent jumps and calls, without prefixes: by themselves, as decoding them takes long.
 */
static bool add_near_jump(LodeBranchTargets *self, const uint8_t *code, size_t size,
	uint64_t address, size_t *inout_at)
{
	enum {
		NEAR_JCC = 0x0f80,
		SHORT_JCC = 0x70,
		CALL = 0xe8,
		NEAR_JUMP = 0xe9,
		SHORT_JUMP = 0xeb
	};
	const uint8_t *own = code + *inout_at;
	size_t n_opcode = 1, n_distance = 4;
	int32_t distance;

	if (size - *inout_at < LODE_PLAIN_BYTES)
		return false;
	if (own[0] == NEAR_JCC >> 8 && (own[1] & 0xf0) == (NEAR_JCC & 0xff))
		n_opcode = 2;
	else if ((own[0] & 0xf0) == SHORT_JCC || own[0] == SHORT_JUMP)
		n_distance = 1;
	else if (own[0] != CALL && own[0] != NEAR_JUMP)
		return false;
	memcpy(&distance, own + n_opcode, sizeof distance);
	if (n_distance == 1)
		distance = (int8_t)own[n_opcode];
	const uint64_t source = address + *inout_at;
	*inout_at += n_opcode + n_distance;
	const LodeBranchTarget named = {address + *inout_at + (uint64_t)(int64_t)distance, source};
	g_array_append_val(self->targets, named);
	return true;
}

static void sweep(LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size;) {
		const unsigned plain = size - at >= LODE_PLAIN_BYTES ? lode_plain_length(code + at)
		                                                     : 0;

		at += plain;
		if (plain > 0 || add_near_jump(self, code, size, address, &at))
			continue;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			    &decoder, NULL, code + at, size - at, &instruction))) {
			at++;
			continue;
		}
		add_instruction(self, &instruction, address + at);
		at += instruction.length;
	}
}

static void sort(GArray *array, size_t size, int (*compare)(const void *, const void *))
{
	if (array->len > 1)
		qsort(array->data, array->len, size, compare);
}

/* A stable pass of a radix sort by 16 bits of the target or of the source; false: all have the
 * same.
 */
static bool sort_by_digit(
	const LodeBranchTarget *in, guint n, bool is_by_target, int shift, LodeBranchTarget *out)
{
	enum { N_DIGITS = 1 << 16 };
	g_autofree guint *begins = g_new0(guint, N_DIGITS);
	guint sum = 0;

#define DIGIT(i) ((is_by_target ? in[i].target : in[i].source) >> shift & (N_DIGITS - 1))
	for (guint i = 0; i < n; i++)
		begins[DIGIT(i)]++;
	if (begins[DIGIT(0)] == n)
		return false;
	for (guint digit = 0; digit < N_DIGITS; digit++) {
		const guint own = begins[digit];

		begins[digit] = sum;
		sum += own;
	}
	for (guint i = 0; i < n; i++)
		out[begins[DIGIT(i)]++] = in[i];
#undef DIGIT
	return true;
}

/* By target and source. There are a million of large programs. */
static void sort_targets(GArray *array)
{
	enum { FEW = 1 << 15, KEY_BITS = 64, DIGIT_BITS = 16 };
	const guint n = array->len;
	LodeBranchTarget *in = (LodeBranchTarget *)(void *)array->data;

	if (n < FEW) {
		sort(array, sizeof(LodeBranchTarget), compare_targets);
		return;
	}
	g_autofree LodeBranchTarget *room = g_new(LodeBranchTarget, n);
	LodeBranchTarget *out = room;
	for (int bit = 0; bit < 2 * KEY_BITS; bit += DIGIT_BITS)
		if (sort_by_digit(in, n, bit >= KEY_BITS, bit % KEY_BITS, out)) {
			LodeBranchTarget *sorted = out;

			out = in;
			in = sorted;
		}
	if (in == room)
		memcpy(array->data, room, n * sizeof *room);
}

void lode_branch_targets_sort(LodeBranchTargets *self)
{
	sort_targets(self->targets);
	sort_targets(self->named);
	sort(self->indirect_jumps, sizeof(uint64_t), lode_compare_u64);
	sort(self->memory_jumps, sizeof(uint64_t), lode_compare_u64);
}

/* Many pointers lead to one function. */
static void remove_repeated(GArray *targets)
{
	guint n = 0;

	for (guint i = 0; i < targets->len; i++) {
		LodeBranchTarget target = g_array_index(targets, LodeBranchTarget, i);

		if (n > 0 && compare_targets(&g_array_index(targets, LodeBranchTarget, n - 1),
				     &target) == 0)
			continue;
		g_array_index(targets, LodeBranchTarget, n++) = target;
	}
	g_array_set_size(targets, n);
}

void lode_branch_targets_add(
	LodeBranchTargets *self, const uint8_t *code, size_t size, uint64_t address)
{
	sweep(self, code, size, address);
}

bool lode_branch_targets_read(LodeBranchTargets *self, const char *path, GError **error)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, error);

	if (file == NULL)
		return false;
	if (file->undecoded != NULL)
		return true;
	for (guint i = 0; i < file->executable->len; i++) {
		const LodeElfRange *range = &g_array_index(file->executable, LodeElfRange, i);

		if (range->bytes != NULL)
			sweep(self, range->bytes, (size_t)range->size, range->address);
	}
	sort_targets(self->named);
	add_jump_tables(self, file);
	self->has_tables = true;
	lode_branch_targets_sort(self);
	remove_repeated(self->targets);
	return true;
}

guint lode_branch_targets_above(const LodeBranchTargets *self, uint64_t address)
{
	guint low = LODE_PARTITION_POINT(self->targets->len, i,
		g_array_index(self->targets, LodeBranchTarget, i).target <= address);
	return low;
}

bool lode_branch_targets_has_indirect_jump(
	const LodeBranchTargets *self, uint64_t begin, uint64_t end)
{
	guint low = LODE_PARTITION_POINT(self->indirect_jumps->len, i,
		g_array_index(self->indirect_jumps, uint64_t, i) < begin);
	return low < self->indirect_jumps->len &&
	       g_array_index(self->indirect_jumps, uint64_t, low) < end;
}
