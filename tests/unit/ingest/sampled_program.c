/* SPDX-License-Identifier: MIT */
#include "sampled_program.h"

#include "images/instructions/instruction_decoder.h"
#include "sources/code/load_map_segments.h"

#include <string.h>

enum { PAGE = 4096, MAX_DEPTH = 64 };

static const uint64_t LOADED_AT = UINT64_C(0x555555554000);

void sampled_program_open(SampledProgram *self, const char *path)
{
	g_autoptr(GError) error = NULL;
	const LodeBinaryImageOptions options = {0};
	g_autoptr(GArray) segments = lode_load_map_segments_read(path, &error);

	g_assert_no_error(error);
	const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, 0);
	uint64_t offset = segment->offset / PAGE * PAGE;
	*self = (SampledProgram){.path = path};
	self->image = lode_binary_image_open(path, &options, &error);
	g_assert_no_error(error);
	self->mapping = (LodePerfMapping){
		.start = LOADED_AT + offset,
		.size = (segment->offset - offset + segment->size_bytes + PAGE - 1) / PAGE * PAGE,
		.offset = offset,
		.path = path,
	};
	self->bias = LOADED_AT + segment->offset - segment->address;
	const char *hex = lode_binary_image_build_id(self->image);
	g_assert_nonnull(hex);
	for (size_t i = 0; i < sizeof(self->build_id) && strlen(hex) > 2 * i; i++)
		self->build_id[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) * 16 +
					      g_ascii_xdigit_value(hex[2 * i + 1]));
}

void sampled_program_close(SampledProgram *self)
{
	lode_binary_image_close(self->image);
}

const LodeBinaryFunction *sampled_program_function(const SampledProgram *self, const char *symbol)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(self->image, &n);

	for (size_t i = 0; i < n; i++)
		if (g_strcmp0(functions[i].symbol, symbol) == 0)
			return &functions[i];
	g_error("no function '%s'", symbol);
}

static void count(GHashTable *table, uint64_t address)
{
	gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(table, GSIZE_TO_POINTER(address)));

	g_hash_table_insert(table, GSIZE_TO_POINTER(address), GSIZE_TO_POINTER(n + 1));
}

double walk_count(const GHashTable *table, uint64_t address)
{
	return (double)GPOINTER_TO_SIZE(
		g_hash_table_lookup((GHashTable *)table, GSIZE_TO_POINTER(address)));
}

/* Backward branches are mostly taken, as loops are. */
static bool is_taken(const LodeDecodedInstruction *decoded, uint64_t address, GRand *rand)
{
	switch (decoded->branch) {
	case LODE_BRANCH_NONE:
		return false;
	case LODE_BRANCH_CONDITIONAL:
		return g_rand_double(rand) < (decoded->target <= address ? 0.8 : 0.4);
	default:
		return true;
	}
}

static LodeDecodedInstruction decode(const SampledProgram *program, uint64_t address)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;
	size_t size;
	const uint8_t *code = lode_binary_image_bytes(program->image, address, &size);

	lode_instruction_decoder_init(&decoder);
	g_assert_true(lode_instruction_decoder_decode(&decoder, code, size, address, &decoded));
	return decoded;
}

uint64_t sampled_program_second(const SampledProgram *self, const char *symbol)
{
	uint64_t first = sampled_program_function(self, symbol)->address;

	return first + decode(self, first).length;
}

static bool is_in(const LodeBinaryFunction *function, uint64_t address)
{
	return address - function->address < function->size;
}

typedef struct {
	uint64_t address, stack[MAX_DEPTH];
	unsigned depth;
} Position;

/* Where a taken branch goes. */
static uint64_t follow(Position *self, const LodeDecodedInstruction *decoded)
{
	if (decoded->branch == LODE_BRANCH_RETURN) {
		g_assert_cmpuint(self->depth, >, 0);
		return self->stack[--self->depth];
	}
	g_assert_true(decoded->has_target);
	if (decoded->branch == LODE_BRANCH_CALL) {
		g_assert_cmpuint(self->depth, <, MAX_DEPTH);
		self->stack[self->depth++] = self->address + decoded->length;
	}
	return decoded->target;
}

void walk_run(Walk *self, const SampledProgram *program, const char *start, const char *inner,
	size_t n, GRand *rand)
{
	const LodeBinaryFunction *own = sampled_program_function(program, start);
	const LodeBinaryFunction *left = sampled_program_function(program, inner);
	/* When it returns, it is called again from where nothing is known. */
	Position at = {own->address, {own->address}, 1};
	bool is_done = false;

	self->branches = g_array_new(FALSE, FALSE, sizeof(LodePerfBranch));
	self->executed = g_hash_table_new(NULL, NULL);
	self->fallen = g_hash_table_new(NULL, NULL);
	while (!is_done) {
		LodeDecodedInstruction decoded = decode(program, at.address);
		uint64_t source = at.address, target;
		/* What ran before the first branch is in no stack. */
		if (self->branches->len > 0)
			count(self->executed, source);
		if (!is_taken(&decoded, source, rand)) {
			if (self->branches->len > 0)
				count(self->fallen, source);
			at.address += decoded.length;
			continue;
		}
		target = follow(&at, &decoded);
		/* In a profile, a call goes on behind it when it returns. */
		if (decoded.branch == LODE_BRANCH_CALL && self->branches->len > 0)
			count(self->fallen, source);
		at.depth = MAX(at.depth, 1);
		const LodePerfBranch branch = {source + program->bias, target + program->bias, 0};
		g_array_append_val(self->branches, branch);
		at.address = target;
		is_done = self->branches->len >= n && is_in(left, source) && !is_in(left, target);
	}
}

void walk_clear(Walk *self)
{
	g_array_unref(self->branches);
	g_hash_table_unref(self->executed);
	g_hash_table_unref(self->fallen);
}

double walk_taken(const Walk *self, const SampledProgram *program, uint64_t source, uint64_t target)
{
	double n = 0;

	for (guint i = 0; i < self->branches->len; i++) {
		const LodePerfBranch *branch = &g_array_index(self->branches, LodePerfBranch, i);
		n += branch->source == source + program->bias &&
		     branch->target == target + program->bias;
	}
	return n;
}
