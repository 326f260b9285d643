/* SPDX-License-Identifier: MIT */
/*
 * One sweep over the code. A function surely begins where a direct call leads, or where endbr64
 * stands after what nothing falls through; it may begin after the padding that follows, or where a
 * frame is made:
 *
 *   … ret │ nop … │ ▶ may begin          call ▶ begins          ret │ ▶ endbr64: begins
 *
 * Compilers pad blocks in functions, too. Where a jump leads from one side of a place to the other
 * and no function surely begins in between, it is inside one.
 */
#include "images/code/function_starts.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/instructions/instruction_decoder.h"

#include <string.h>

enum { ALIGNMENT = 16 }; /* of functions, by gcc and clang */

typedef struct {
	uint64_t source, target;
	bool is_conditional;
} Jump;

typedef struct {
	GArray *sure;     /* uint64_t */
	GArray *possible; /* uint64_t, ascending */
	GArray *called;   /* uint64_t: where direct calls lead */
	GArray *jumps;    /* Jump: direct ones */
	LodeInstructionDecoder decoder;
} Search;

static bool is_endbr(const uint8_t *code, size_t size)
{
	return size >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0;
}

/* push rbp; mov rbp, rsp: in either encoding. */
static bool makes_frame(const uint8_t *code, size_t size)
{
	return size >= 4 && (memcmp(code, "\x55\x48\x89\xe5", 4) == 0 ||
				    memcmp(code, "\x55\x48\x8b\xec", 4) == 0);
}

static void add_branch(Search *self, const LodeDecodedInstruction *decoded, uint64_t address)
{
	if (!decoded->has_target)
		return;
	/* a call of what follows takes the address of the code */
	if (decoded->branch == LODE_BRANCH_CALL && decoded->target != address + decoded->length)
		g_array_append_val(self->called, decoded->target);
	if (decoded->branch == LODE_BRANCH_JUMP || decoded->branch == LODE_BRANCH_CONDITIONAL) {
		const Jump jump = {
			address, decoded->target, decoded->branch == LODE_BRANCH_CONDITIONAL};
		g_array_append_val(self->jumps, jump);
	}
}

/* `starts` has a bit for each byte of the part where an instruction begins. */
static void sweep(Search *self, const LodeUnnamedCode *part, const uint8_t *code, uint8_t *starts)
{
	bool is_ended = false, is_padded = false;

	for (uint64_t at = 0, length; at < part->size; at += length) {
		uint64_t address = part->address + at;
		size_t size = (size_t)(part->size - at);
		LodeDecodedInstruction decoded;
		bool is_decoded = lode_instruction_decoder_decode(
			&self->decoder, code + at, size, address, &decoded);
		bool begins_branch_target = is_endbr(code + at, size);

		length = is_decoded ? decoded.length : 1;
		if (is_ended && (code[at] == 0xcc || code[at] == 0)) {
			length = 1;
			is_padded = true;
			continue;
		}
		if (is_ended && is_decoded && (decoded.kinds & 1U << LODE_KIND_NOP) != 0 &&
			!begins_branch_target) {
			is_padded = true;
			continue;
		}
		if (!is_decoded) { /* data: what follows is not run into */
			is_ended = true;
			is_padded = false;
			continue;
		}
		starts[at / 8] |= (uint8_t)(1u << at % 8);
		if (is_ended && begins_branch_target)
			g_array_append_val(self->sure, address);
		else if (is_ended &&
			 (is_padded || address % ALIGNMENT == 0 || makes_frame(code + at, size)))
			g_array_append_val(self->possible, address);
		add_branch(self, &decoded, address);
		is_padded = false;
		is_ended = decoded.branch == LODE_BRANCH_JUMP ||
		           decoded.branch == LODE_BRANCH_INDIRECT_JUMP ||
		           decoded.branch == LODE_BRANCH_RETURN ||
		           decoded.branch == LODE_BRANCH_STOP;
	}
}

static void sort(GArray *addresses)
{
	if (addresses->len > 1)
		qsort(addresses->data, addresses->len, sizeof(uint64_t), lode_compare_u64);
}

static guint first_from(const GArray *addresses, uint64_t address)
{
	guint low = LODE_PARTITION_POINT(
		addresses->len, i, g_array_index(addresses, uint64_t, i) < address);
	return low;
}

/* Appends those that no jump crosses. */
static void add_possible(Search *self, GArray *out_starts)
{
	/* how many more jumps cross a place than the one before */
	g_autofree gint32 *changes = g_new0(gint32, self->possible->len + 1);
	gint32 n_crossing = 0;

	for (guint i = 0; i < self->jumps->len; i++) {
		const Jump *jump = &g_array_index(self->jumps, Jump, i);
		bool is_forward = jump->target > jump->source;
		/* A function may end by a jump to another one, but hardly by a conditional jump. */
		uint64_t low = is_forward ? jump->source + 1
		                          : jump->target + (jump->is_conditional ? 0 : 1);
		uint64_t high = is_forward ? jump->target - (jump->is_conditional ? 0 : 1)
		                           : jump->source;

		if (low > high || first_from(self->sure, low) != first_from(self->sure, high + 1))
			continue;
		changes[first_from(self->possible, low)]++;
		changes[first_from(self->possible, high + 1)]--;
	}
	for (guint i = 0; i < self->possible->len; i++) {
		n_crossing += changes[i];
		if (n_crossing == 0)
			g_array_append_val(out_starts, g_array_index(self->possible, uint64_t, i));
	}
}

/* Where calls lead to the beginning of an instruction. */
static void add_called(Search *self, const LodeUnnamedCode *part, const uint8_t *starts)
{
	uint64_t last = part->address;

	for (guint i = first_from(self->called, part->address); i < self->called->len; i++) {
		uint64_t address = g_array_index(self->called, uint64_t, i);
		uint64_t at = address - part->address;

		if (at >= part->size)
			break;
		if (address != last && (starts[at / 8] >> at % 8 & 1) != 0)
			g_array_append_val(self->sure, address);
		last = address;
	}
}

void lode_function_starts_find(const LodeElfFile *file, const GArray *parts, GArray *out_starts)
{
	Search self = {0};
	g_autoptr(GPtrArray) starts = g_ptr_array_new_with_free_func(g_free);
	GElf_Ehdr header;

	self.sure = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self.possible = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self.called = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self.jumps = g_array_new(FALSE, FALSE, sizeof(Jump));
	lode_instruction_decoder_init(&self.decoder);
	if (gelf_getehdr(file->elf, &header) != NULL)
		g_array_append_val(self.called, header.e_entry);
	for (guint i = 0; i < parts->len; i++) {
		const LodeUnnamedCode *part = &g_array_index(parts, LodeUnnamedCode, i);
		const LodeElfRange *code = lode_elf_file_find_range(file, part->address);
		uint8_t *bits = g_malloc0(part->size / 8 + 1);

		g_ptr_array_add(starts, bits);
		sweep(&self, part, code->bytes + (part->address - code->address), bits);
	}
	sort(self.called);
	for (guint i = 0; i < parts->len; i++)
		add_called(&self, &g_array_index(parts, LodeUnnamedCode, i), starts->pdata[i]);
	sort(self.sure);
	add_possible(&self, self.sure);
	sort(self.sure);
	for (guint i = 0; i < self.sure->len; i++) {
		uint64_t address = g_array_index(self.sure, uint64_t, i);

		if (i == 0 || address != g_array_index(self.sure, uint64_t, i - 1))
			g_array_append_val(out_starts, address);
	}
	g_array_unref(self.sure);
	g_array_unref(self.possible);
	g_array_unref(self.called);
	g_array_unref(self.jumps);
}
