/* SPDX-License-Identifier: MIT */
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
#include "images/jump_tables.h"

#include <string.h>

enum {
	NEAR_BYTES = 16384, /* between the lea of a table and that of its label */
	MIN_DISTANCES = 4,  /* fewer may be any numbers */
	MAX_LABELS = 64,    /* that are tried with one table */
};

typedef struct {
	LodeBranchTargets *targets;
	const LodeElfFile *file;
	guint n_left;   /* that may still be added */
	GArray *labels; /* LodeBranchTarget: those named that are code, by source */
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
	Elf64_Rela relocation;

	if (section->type != SHT_RELA || section->bytes == NULL)
		return;
	for (uint64_t at = 0; section->size - at >= sizeof relocation; at += sizeof relocation) {
		memcpy(&relocation, section->bytes + at, sizeof relocation);
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE &&
			is_code(search, (uint64_t)relocation.r_addend))
			add(search, (uint64_t)relocation.r_addend);
	}
}

/* The entries of a table that lead into code if counted from `base`; with `is_added` they are
 * added. */
static guint read_distances(
	Search *search, uint64_t table, uint64_t end, uint64_t base, bool is_added)
{
	size_t size = 0;
	const uint8_t *bytes = lode_elf_file_loaded_bytes(search->file, table, &size);
	int32_t distance;
	guint n = 0;

	size = bytes == NULL ? 0 : (size_t)MIN(size, end - table);
	for (; size >= sizeof distance && search->n_reads > 0; search->n_reads--) {
		memcpy(&distance, bytes, sizeof distance);
		if (!is_code(search, base + (uint64_t)(int64_t)distance))
			break;
		if (is_added)
			add(search, base + (uint64_t)(int64_t)distance);
		n++;
		size -= sizeof distance;
		bytes += sizeof distance;
	}
	return n;
}

static guint first_label_from(const GArray *labels, uint64_t source)
{
	guint low = 0, high = labels->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(labels, LodeBranchTarget, middle).source < source)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* With every label that is taken near the place where the table is. */
static void add_from_labels(Search *search, const LodeBranchTarget *table, uint64_t end)
{
	uint64_t from = table->source > NEAR_BYTES ? table->source - NEAR_BYTES : 0;
	guint first = first_label_from(search->labels, from);

	for (guint i = first; i < search->labels->len && i - first < MAX_LABELS; i++) {
		const LodeBranchTarget *label = &g_array_index(search->labels, LodeBranchTarget, i);

		if (label->source > table->source + NEAR_BYTES)
			return;
		if (read_distances(search, table->target, end, label->target, false) >=
			MIN_DISTANCES)
			read_distances(search, table->target, end, label->target, true);
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
		const LodeBranchTarget *table = &g_array_index(named, LodeBranchTarget, i);
		bool is_new = table->target != last;

		if (is_code(search, table->target))
			continue;
		if (is_new)
			end = next_address(named, i);
		last = table->target;
		if (is_new && read_distances(search, table->target, end, table->target, true) > 0)
			continue;
		add_from_labels(search, table, end);
	}
}

static int compare_sources(const void *a, const void *b)
{
	uint64_t x = ((const LodeBranchTarget *)a)->source;
	uint64_t y = ((const LodeBranchTarget *)b)->source;

	return (x > y) - (x < y);
}

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

void lode_jump_tables_add(LodeBranchTargets *self, const LodeElfFile *file)
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
