/* SPDX-License-Identifier: MIT */
#include "process/interpreters/ruby_frames.h"

#include <string.h>

const LodeRubyLayout lode_ruby_layouts[] = {
	{
		.version = "3.1.",
		.ractors = 8,
		.main_thread = 40,
		.ractor_node = 568,
		.threads = 304,
		.thread_node = 0,
		.thread_context = 40,
		.thread_number = 88,
		.context_stack = 0,
		.context_stack_size = 8,
		.context_frame = 16,
		.frame_pc = 0,
		.frame_iseq = 16,
		.frame_environment = 32,
		.frame_bytes = 64,
		.iseq_body = 16,
		.code_type = 0,
		.code_size = 4,
		.code_units = 8,
		.code_path = 64,
		.code_base_label = 72,
		.code_label = 80,
		.code_first_line = 88,
		.code_lines = 120,
		.code_n_lines = 136,
		.code_positions = 144,
		.code_local = 176,
		.code_bytes = 184,
		.line_bytes = 12,
		.type_top = 0,
		.type_method = 1,
		.type_eval = 6,
		.last_type = 8,
		.entry_definition = 16,
		.entry_owner = 32,
		.definition_iseq = 8,
		.class_extension = 24,
		.class_variables = 8,
		.table_end = 40,
		.table_entries = 48,
		.object_class = 8,
		.text_length = 16,
		.text_pointer = 24,
		.text_bytes = 16,
		.array_pointer = 32,
		.array_elements = 16,
	},
};

const unsigned lode_n_ruby_layouts = G_N_ELEMENTS(lode_ruby_layouts);

enum { FIRST = 54, OF_WORD = 9, RANK_BITS = 7, OF_BLOCK = 512, BLOCK_BYTES = 80, BITS_AT = 16 };

static uint32_t n_words(uint32_t n_units)
{
	return (n_units < FIRST ? n_units + 8 : FIRST) / OF_WORD;
}

static uint32_t n_blocks(uint32_t n_units)
{
	return n_units < FIRST ? 0 : (n_units - FIRST + OF_BLOCK - 1) / OF_BLOCK;
}

size_t lode_ruby_positions_bytes(uint32_t n_units)
{
	return n_words(n_units) * sizeof(uint64_t) + (size_t)n_blocks(n_units) * BLOCK_BYTES;
}

static void add(GArray *out, size_t most, uint32_t position)
{
	if (out->len < most)
		g_array_append_val(out, position);
}

void lode_ruby_positions_read(const uint8_t *table, uint32_t n_units, size_t most, GArray *out)
{
	const uint8_t *blocks = table + n_words(n_units) * sizeof(uint64_t);
	unsigned last = 0;
	uint64_t word;

	for (uint32_t i = 0; i < n_words(n_units) * OF_WORD; i++) {
		memcpy(&word, table + i / OF_WORD * sizeof(word), sizeof(word));
		unsigned rank = word >> i % OF_WORD * RANK_BITS & ((1u << RANK_BITS) - 1);
		if (rank != last)
			add(out, most, i);
		last = rank;
	}
	for (uint32_t i = 0; i < n_blocks(n_units) * OF_BLOCK; i++) {
		memcpy(&word,
			blocks + i / OF_BLOCK * BLOCK_BYTES + BITS_AT +
				i % OF_BLOCK / 64 * sizeof(word),
			sizeof(word));
		if ((word >> i % 64 & 1) != 0)
			add(out, most, FIRST + i);
	}
}
