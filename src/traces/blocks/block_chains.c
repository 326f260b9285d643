/* SPDX-License-Identifier: MIT */
#include "traces/blocks/block_chains.h"

#include "base/arrays/hash.h"

#include <string.h>

enum {
	MAX_CHAINS = 1 << 17,
	FIRST_TABLE_BITS = 10,
};

void lode_block_chains_init(LodeBlockChains *self, LodeCodePieces *pieces)
{
	*self = (LodeBlockChains){
		.uses = g_array_new(FALSE, TRUE, sizeof(LodePieceUse)),
		.chains = g_array_new(FALSE, TRUE, sizeof(LodeBlockChain)),
		.first_use = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.heads = g_string_chunk_new(1 << 14),
		.pieces = lode_code_pieces_ref(pieces),
		.table = g_new0(uint32_t, (size_t)1 << FIRST_TABLE_BITS),
		.table_bits = FIRST_TABLE_BITS,
	};
	g_array_set_size(self->uses, 1);
	g_array_set_size(self->chains, 1);
}

void lode_block_chains_clear(LodeBlockChains *self)
{
	if (self->uses == NULL)
		return;
	g_array_unref(self->uses);
	g_array_unref(self->chains);
	g_array_unref(self->first_use);
	g_string_chunk_free(self->heads);
	lode_code_pieces_unref(self->pieces);
	g_free(self->table);
	*self = (LodeBlockChains){0};
}

bool lode_block_chains_are_full(const LodeBlockChains *self)
{
	return self->chains->len >= MAX_CHAINS || self->uses->len >= MAX_CHAINS;
}

static bool is_use(const LodePieceUse *use, const LodeWordGroup *group)
{
	if (use->n_slots != group->n - 1)
		return false;
	for (unsigned i = 0; i < use->n_slots; i++)
		if (use->heads[i] != lode_word_head(group->words[1 + i]))
			return false;
	return true;
}

static uint32_t add_use(LodeBlockChains *self, const LodeWordGroup *group)
{
	uint16_t heads[LODE_BLOCK_MAX_SLOTS + 1] = {0};
	LodePieceUse use = {.piece = group->piece, .n_slots = (uint8_t)(group->n - 1)};
	uint32_t number = self->uses->len, *first;

	for (unsigned i = 0; i < use.n_slots; i++)
		heads[i] = lode_word_head(group->words[1 + i]);
	/* Bytes at an even place: all that is put there has an even length, with the byte that
	 * ends a text. */
	use.heads = (const uint16_t *)(const void *)g_string_chunk_insert_len(
		self->heads, (const char *)heads, (gssize)(2U * use.n_slots + 1));
	if (group->piece->number >= self->first_use->len)
		g_array_set_size(self->first_use, group->piece->number + 1);
	first = &g_array_index(self->first_use, uint32_t, group->piece->number);
	use.next = *first;
	*first = number;
	g_array_append_val(self->uses, use);
	return number;
}

uint32_t lode_block_chains_find_use(LodeBlockChains *self, const LodeWordGroup *group)
{
	uint32_t use;

	if (!lode_word_group_is_whole(group) || group->n - 1 > LODE_BLOCK_MAX_SLOTS)
		return 0;
	use = lode_block_chains_first_use(self, group->piece);
	while (use != 0 && !is_use(lode_block_chains_use(self, use), group))
		use = lode_block_chains_use(self, use)->next;
	return use != 0 ? use : add_use(self, group);
}

static uint32_t *entry_of(const LodeBlockChains *self, uint32_t chain, uint32_t use)
{
	uint32_t mask = ((uint32_t)1 << self->table_bits) - 1;
	uint32_t at = (uint32_t)lode_hash_slot((uint64_t)chain << 32 | use, self->table_bits);

	for (; self->table[at] != 0; at = (at + 1) & mask) {
		const LodeBlockChain *found = lode_block_chains_at(self, self->table[at]);
		if (found->before == chain && found->use == use)
			break;
	}
	return &self->table[at];
}

static void grow_table(LodeBlockChains *self)
{
	self->table_bits++;
	g_free(self->table);
	self->table = g_new0(uint32_t, (size_t)1 << self->table_bits);
	for (uint32_t i = 1; i < self->chains->len; i++) {
		const LodeBlockChain *chain = lode_block_chains_at(self, i);
		*entry_of(self, chain->before, chain->use) = i;
	}
}

static uint32_t add_chain(LodeBlockChains *self, uint32_t before, uint32_t use)
{
	const LodeBlockChain *known = lode_block_chains_at(self, before);
	const LodePieceUse *last = lode_block_chains_use(self, use);
	const LodeBlockChain added = {
		.before = before,
		.use = use,
		.heads = last->heads,
		.last_instructions = last->piece->n_instructions,
		.last_slots = last->n_slots,
		.next_fetch = last->piece->address + last->piece->n_bytes,
		.n_instructions = (uint8_t)(known->n_instructions + last->piece->n_instructions),
		.n_slots = (uint8_t)(known->n_slots + last->n_slots),
	};
	uint32_t number = self->chains->len;

	g_array_append_val(self->chains, added);
	if (self->chains->len > (uint32_t)1 << (self->table_bits - 1))
		grow_table(self);
	else
		*entry_of(self, before, use) = number;
	return number;
}

uint32_t lode_block_chains_find_next(LodeBlockChains *self, uint32_t chain, uint32_t use)
{
	const LodeBlockChain *known = lode_block_chains_at(self, chain);
	const LodePieceUse *last = lode_block_chains_use(self, use);

	if (chain != 0 && (last->piece->address != known->next_fetch ||
				  known->n_instructions + last->piece->n_instructions >
					  LODE_BLOCK_MAX_INSTRUCTIONS ||
				  known->n_slots + last->n_slots > LODE_BLOCK_MAX_SLOTS))
		return 0;
	uint32_t found = *entry_of(self, chain, use);
	return found != 0 ? found : add_chain(self, chain, use);
}

/* Writes the last piece of a chain, whose instructions and slots are those from `n_…` on. */
static void write_piece(const LodePieceUse *use, unsigned n_instructions, unsigned n_slots,
	uint32_t *sizes, LodeTraceSlot *slots)
{
	const LodeCodePiece *piece = use->piece;

	for (unsigned i = 0; i < piece->n_instructions; i++)
		sizes[n_instructions + i] = piece->sizes[i];
	for (unsigned i = 0; i < use->n_slots; i++) {
		uint64_t word = (uint64_t)use->heads[i] << 48;
		unsigned instruction = i < piece->n_accesses ? piece->accessing[i]
		                                             : piece->n_instructions - 1U;
		slots[n_slots + i] = (LodeTraceSlot){
			.size = lode_word_size(word),
			.instruction = (uint8_t)(n_instructions + instruction),
			.kind = (uint8_t)lode_word_kind(word),
		};
	}
}

void lode_block_chains_block(const LodeBlockChains *self, uint32_t chain, uint32_t *sizes,
	LodeTraceSlot *slots, LodeTraceBlock *out)
{
	const LodeBlockChain *whole = lode_block_chains_at(self, chain);
	uint64_t n_bytes = 0, address = 0;

	for (; chain != 0; chain = lode_block_chains_at(self, chain)->before) {
		const LodeBlockChain *known = lode_block_chains_at(self, chain);
		const LodePieceUse *use = lode_block_chains_use(self, known->use);
		write_piece(use, known->n_instructions - use->piece->n_instructions,
			known->n_slots - (unsigned)use->n_slots, sizes, slots);
		address = use->piece->address;
		n_bytes += use->piece->n_bytes;
	}
	*out = (LodeTraceBlock){
		.address = address,
		.instruction_sizes = sizes,
		.slots = slots,
		.n_bytes = n_bytes,
		.n_instructions = whole->n_instructions,
		.n_slots = whole->n_slots,
	};
}
