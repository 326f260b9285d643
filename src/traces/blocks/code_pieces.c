/* SPDX-License-Identifier: MIT */
#include "traces/blocks/code_pieces.h"

#include <string.h>

struct LodeCodePieces {
	gatomicrefcount n_references;
	const uint8_t *memory;
	size_t n_bytes;
	uint32_t *known;      /* by the program's number: of `pieces`, + 1; 0: not seen; NO_PIECE */
	GPtrArray *pieces;    /* LodeCodePiece */
	GStringChunk *arrays; /* theirs */
	size_t n_copied_bytes; /* bytes of `memory` that pieces were copied from */
	bool has_nonsense;
};

#define NO_PIECE UINT32_MAX

LodeCodePieces *lode_code_pieces_new(const uint8_t *memory, size_t n_bytes)
{
	LodeCodePieces *self = g_new0(LodeCodePieces, 1);

	g_atomic_ref_count_init(&self->n_references);
	self->memory = memory;
	self->n_bytes = n_bytes;
	self->known = g_new0(uint32_t, n_bytes / LODE_CODE_UNIT_BYTES + 1);
	self->pieces = g_ptr_array_new_with_free_func(g_free);
	self->arrays = g_string_chunk_new(1 << 16);
	return self;
}

LodeCodePieces *lode_code_pieces_ref(LodeCodePieces *self)
{
	g_atomic_ref_count_inc(&self->n_references);
	return self;
}

void lode_code_pieces_unref(LodeCodePieces *self)
{
	if (self == NULL || !g_atomic_ref_count_dec(&self->n_references))
		return;
	g_free(self->known);
	g_ptr_array_unref(self->pieces);
	g_string_chunk_free(self->arrays);
	g_free(self);
}

/* Whether a copied piece is valid. */
static bool is_valid(const LodeCodeDescription *description, const uint8_t *bytes)
{
	const uint8_t *accessing = bytes, *kinds = bytes + description->n_accesses;
	int before = -1;

	for (unsigned i = 0; i < description->n_accesses; i++) {
		if (accessing[i] <= before || accessing[i] >= description->n_instructions ||
			kinds[i] == LODE_REFERENCE_FETCH || kinds[i] >= LODE_N_REFERENCE_KINDS)
			return false;
		before = accessing[i];
	}
	return true;
}

/* Valid pieces do not overlap: the bytes of all copies are limited to the size of the memory,
 * whatever a program writes into it. */
static bool has_room(LodeCodePieces *self, size_t n_bytes)
{
	if (n_bytes > self->n_bytes - self->n_copied_bytes)
		return false;
	self->n_copied_bytes += n_bytes;
	return true;
}

static LodeCodePiece *copy_piece(LodeCodePieces *self, size_t at)
{
	LodeCodeDescription description;
	uint8_t copy[3 * LODE_CODE_MAX_INSTRUCTIONS];

	if (at > self->n_bytes || self->n_bytes - at < sizeof(description))
		return NULL;
	memcpy(&description, self->memory + at, sizeof(description));
	size_t n = 2U * description.n_accesses + description.n_instructions;
	size_t first = at + offsetof(LodeCodeDescription, bytes);
	if (description.n_instructions == 0 ||
		description.n_instructions > LODE_CODE_MAX_INSTRUCTIONS ||
		description.n_accesses > description.n_instructions || self->n_bytes - first < n)
		return NULL;
	memcpy(copy, self->memory + first, n);
	if (!is_valid(&description, copy) ||
		!has_room(self, offsetof(LodeCodeDescription, bytes) + n))
		return NULL;
	const uint8_t *bytes = (const uint8_t *)g_string_chunk_insert_len(
		self->arrays, (const char *)copy, (gssize)n);
	LodeCodePiece *piece = g_new(LodeCodePiece, 1);
	*piece = (LodeCodePiece){
		.address = description.address,
		.number = self->pieces->len,
		.n_instructions = description.n_instructions,
		.n_accesses = description.n_accesses,
		.accessing = bytes,
		.kinds = bytes + description.n_accesses,
		.sizes = bytes + 2U * description.n_accesses,
	};
	for (unsigned i = 0; i < piece->n_instructions; i++)
		piece->n_bytes += piece->sizes[i];
	return piece;
}

static const LodeCodePiece *read_piece(LodeCodePieces *self, uint32_t number)
{
	LodeCodePiece *piece = copy_piece(self, (size_t)number * LODE_CODE_UNIT_BYTES);

	self->known[number] = piece != NULL ? piece->number + 1 : NO_PIECE;
	if (piece != NULL)
		g_ptr_array_add(self->pieces, piece);
	return piece;
}

const LodeCodePiece *lode_code_pieces_at(LodeCodePieces *self, uint32_t number)
{
	if (number >= self->n_bytes / LODE_CODE_UNIT_BYTES)
		return NULL;
	uint32_t known = self->known[number];
	if (known == 0)
		return read_piece(self, number);
	return known != NO_PIECE ? self->pieces->pdata[known - 1] : NULL;
}

bool lode_code_pieces_have_nonsense(const LodeCodePieces *self)
{
	return self->has_nonsense;
}

size_t lode_word_group_read(
	LodeCodePieces *pieces, const uint64_t *words, size_t n, LodeWordGroup *out)
{
	size_t end = 1;

	while (end < n && end < LODE_GROUP_MAX_WORDS && lode_word_is_access(words[end]))
		end++;
	*out = (LodeWordGroup){.words = words, .n = end};
	if (lode_word_tag(words[0]) == LODE_WORD_CODE)
		out->piece = lode_code_pieces_at(pieces, (uint32_t)words[0]);
	if (lode_word_tag(words[0]) > LODE_WORD_RESTART ||
		(lode_word_tag(words[0]) == LODE_WORD_CODE && out->piece == NULL))
		pieces->has_nonsense = true;
	out->is_restarted = end < n && lode_word_tag(words[end]) == LODE_WORD_RESTART;
	return end + out->is_restarted;
}

static size_t fetch_up_to(const LodeCodePiece *piece, unsigned first, unsigned end,
	uint64_t *address, LodeReference *out)
{
	for (unsigned i = first; i < end; i++) {
		*out++ = (LodeReference){.address = *address, .size = piece->sizes[i]};
		*address += piece->sizes[i];
	}
	return end > first ? end - first : 0;
}

static LodeReference reference_of(uint64_t word)
{
	return (LodeReference){
		.address = lode_word_address(word),
		.size = lode_word_size(word),
		.kind = (uint8_t)lode_word_kind(word),
	};
}

/* As far as the accesses come that are expected: an instruction that fails makes none. */
static size_t piece_references(const LodeWordGroup *self, LodeReference *out)
{
	const LodeCodePiece *piece = self->piece;
	uint64_t address = piece->address;
	unsigned access = 0, fetched = 0;
	bool is_whole = true;
	size_t n = 0;

	for (size_t i = 0; i < self->n; i++) {
		if (i > 0)
			out[n++] = reference_of(self->words[i]);
		if (i > 0 && is_whole && access < piece->n_accesses) {
			is_whole = lode_word_kind(self->words[i]) == piece->kinds[access];
			access++;
		} else if (i > 0) {
			is_whole = false;
		}
		if (!is_whole)
			continue;
		unsigned end = access < piece->n_accesses ? piece->accessing[access] + 1U
		                                          : piece->n_instructions;
		n += fetch_up_to(piece, fetched, end, &address, &out[n]);
		fetched = end;
	}
	return n;
}

bool lode_word_group_is_whole(const LodeWordGroup *self)
{
	const LodeCodePiece *piece = self->piece;

	if (piece == NULL || self->is_restarted || self->n - 1 < piece->n_accesses)
		return false;
	for (unsigned i = 0; i < piece->n_accesses; i++)
		if (lode_word_kind(self->words[1 + i]) != piece->kinds[i])
			return false;
	return true;
}

size_t lode_word_group_references(const LodeWordGroup *self, LodeReference *out)
{
	size_t n = 0;

	if (self->piece != NULL)
		n = piece_references(self, out);
	else
		for (size_t i = 0; i < self->n; i++)
			if (lode_word_tag(self->words[i]) == LODE_WORD_REFERENCE)
				out[n++] = reference_of(self->words[i]);
	if (!self->is_restarted)
		return n;
	while (n > 0 && out[n - 1].kind != LODE_REFERENCE_FETCH)
		n--;
	return n > 0 ? n - 1 : 0;
}
