/* SPDX-License-Identifier: MIT */
/*
 * Recovers blocks from references. A program repeats itself: after a block and at an address, the
 * block that came there last comes again most of the time, and is only compared. Where the program
 * describes pieces of code, they are only counted.
 */
#include "traces/blocks/block_splitter.h"

#include "base/arrays/hash.h"
#include "traces/blocks/block_chains.h"

#include <string.h>

enum { EXPECTED_BITS = 13 };

struct LodeBlockSplitter {
	LodeTraceFrame *frame;
	LodeFramePool *pool;                   /* a reference; NULL: none */
	uint32_t expected[1 << EXPECTED_BITS]; /* the block that came last after an address
	                                          another block, by a hash of both; id + 1 */
	uint32_t last_block;
	bool has_full_dictionary;
	LodeTraceBlock open; /* its arrays are the two below; empty: none is open */
	/* References of it. Its own two counts would be read together just after one of them was
	 * written, which a processor waits for. */
	unsigned n_open;
	uint64_t next_fetch; /* address after the open block */
	uint16_t thread;
	uint32_t sizes[LODE_BLOCK_MAX_INSTRUCTIONS];
	LodeTraceSlot slots[LODE_BLOCK_MAX_SLOTS];
	uint64_t addresses[LODE_BLOCK_MAX_SLOTS];

	/* For words, see block_chains.h. Its addresses are in the frame already. */
	LodeBlockChains chains;
	uint32_t chain;         /* that is open; 0: none. Never beside an open block */
	uint32_t block_version; /* changes when numbers of blocks do */
};

LodeBlockSplitter *lode_block_splitter_new(void)
{
	LodeBlockSplitter *self = g_new0(LodeBlockSplitter, 1);
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();

	self->frame = lode_trace_frame_new(dictionary);
	self->open.instruction_sizes = self->sizes;
	self->open.slots = self->slots;
	self->block_version = 1;
	return self;
}

void lode_block_splitter_use_pool(LodeBlockSplitter *self, LodeFramePool *pool)
{
	self->pool = lode_frame_pool_ref(pool);
	lode_trace_frame_use_pool(self->frame, pool);
}

void lode_block_splitter_free(LodeBlockSplitter *self)
{
	if (self == NULL)
		return;
	lode_trace_frame_free(self->frame);
	lode_block_chains_clear(&self->chains);
	lode_frame_pool_unref(self->pool);
	g_free(self);
}

static bool is_open(const LodeBlockSplitter *self)
{
	return self->n_open > 0;
}

/* The entry of the block that is expected from an address. */
static uint32_t *expected_from(LodeBlockSplitter *self, uint64_t address)
{
	uint64_t key = address ^ (uint64_t)self->last_block << 40;

	return &self->expected[lode_hash_slot(key, EXPECTED_BITS)];
}

static uint32_t find_or_add(LodeBlockSplitter *self, const LodeTraceBlock *block)
{
	uint32_t id = lode_block_dictionary_find_or_add(self->frame->dictionary, block);

	self->has_full_dictionary = lode_block_dictionary_is_full(self->frame->dictionary);
	return id;
}

static void append_block(LodeBlockSplitter *self, uint32_t id)
{
	lode_trace_frame_append(self->frame, id, self->thread, self->addresses);
	self->last_block = id;
}

static void end_block(LodeBlockSplitter *self)
{
	uint32_t id;

	if (!is_open(self))
		return;
	id = find_or_add(self, &self->open);
	*expected_from(self, self->open.address) = id + 1;
	append_block(self, id);
	self->n_open = 0;
	self->open.n_instructions = 0;
	self->open.n_slots = 0;
	self->open.address = 0;
}

/* Whether the reference may be added to the open block. */
static bool continues(const LodeBlockSplitter *self, const LodeReference *reference)
{
	if (reference->thread != self->thread)
		return false;
	if (reference->kind != LODE_REFERENCE_FETCH)
		return self->open.n_slots < LODE_BLOCK_MAX_SLOTS;
	return self->open.n_instructions > 0 && reference->address == self->next_fetch &&
	       self->open.n_instructions < LODE_BLOCK_MAX_INSTRUCTIONS;
}

static void add_fetch(LodeBlockSplitter *self, const LodeReference *reference)
{
	if (self->open.n_instructions == 0)
		self->open.address = reference->address;
	self->sizes[self->open.n_instructions++] = reference->size;
	self->next_fetch = reference->address + reference->size;
}

static void add_data(LodeBlockSplitter *self, const LodeReference *reference)
{
	unsigned n = self->open.n_slots++;
	unsigned instruction = self->open.n_instructions == 0 ? 0 : self->open.n_instructions - 1U;

	self->slots[n] = (LodeTraceSlot){reference->size, (uint8_t)instruction, reference->kind};
	self->addresses[n] = reference->address;
}

/* Whether another block might pass a bound. */
static bool is_full(const LodeBlockSplitter *self)
{
	return self->has_full_dictionary || lode_trace_frame_is_full(self->frame);
}

/* Likewise the blocks of a group of words. */
static bool is_nearly_full(const LodeBlockSplitter *self)
{
	return lode_trace_frame_is_nearly_full(self->frame, LODE_GROUP_MAX_REFERENCES + 2,
		       LODE_GROUP_MAX_REFERENCES +
			       2 * (LODE_BLOCK_MAX_INSTRUCTIONS + LODE_BLOCK_MAX_SLOTS)) ||
	       lode_block_dictionary_is_nearly_full(
		       self->frame->dictionary, LODE_GROUP_MAX_REFERENCES + 2);
}

static bool is_fetch(const LodeReference *reference, uint64_t address, uint32_t size)
{
	return reference->kind == LODE_REFERENCE_FETCH && reference->address == address &&
	       reference->size == size;
}

/* Whether the references are those of the block, in one thread; their addresses are written. */
static bool matches(const LodeTraceBlock *block, const LodeReference *reference, uint64_t *address)
{
	const LodeTraceSlot *slot = block->slots, *end = slot + block->n_slots;
	uint64_t next = block->address;
	uint16_t thread = reference->thread;
	unsigned n_elsewhere = 0; /* counted: one branch at the end, not one a reference */

	for (unsigned i = 0; i < block->n_instructions; i++, reference++) {
		if (!is_fetch(reference, next, block->instruction_sizes[i]))
			return false;
		n_elsewhere += reference->thread != thread;
		next += reference->size;
		for (; slot < end && slot->instruction == i; slot++) {
			reference++;
			if (reference->kind != slot->kind || reference->size != slot->size)
				return false;
			n_elsewhere += reference->thread != thread;
			*address++ = reference->address;
		}
	}
	return n_elsewhere == 0;
}

/* Whether a block ends before the reference. */
static bool ends_before(const LodeTraceBlock *block, uint16_t thread, const LodeReference *next)
{
	if (next->thread != thread)
		return true;
	if (next->kind != LODE_REFERENCE_FETCH)
		return block->n_slots >= LODE_BLOCK_MAX_SLOTS;
	return block->n_instructions >= LODE_BLOCK_MAX_INSTRUCTIONS ||
	       next->address != block->address + block->n_bytes;
}

/* Takes a whole block where the one that is expected comes; gives its references, or 0. Most are
 * taken so, without the hash of all that a block is. */
static size_t add_expected(LodeBlockSplitter *self, const LodeReference *references, size_t n)
{
	uint32_t id = *expected_from(self, references->address);
	const LodeTraceBlock *block;
	size_t size;

	if (id == 0)
		return 0;
	block = lode_block_dictionary_at(self->frame->dictionary, id - 1);
	size = (size_t)block->n_instructions + block->n_slots;
	/* The reference after the block must be here, too: it may belong to a longer one. */
	if (block->n_instructions == 0 || size >= n ||
		!ends_before(block, references->thread, &references[size]) ||
		!matches(block, references, lode_trace_frame_next_addresses(self->frame)))
		return 0;
	self->thread = references->thread;
	lode_trace_frame_append_placed(
		self->frame, id - 1, block->n_instructions, block->n_slots, self->thread);
	self->last_block = id - 1;
	return size;
}

/* ---- words ---- */

static void find_block(LodeBlockSplitter *self, LodeBlockChain *chain)
{
	LodeTraceBlock block;

	lode_block_chains_block(&self->chains, self->chain, self->sizes, self->slots, &block);
	chain->block = find_or_add(self, &block);
	chain->block_version = self->block_version;
}

static inline void end_chain(LodeBlockSplitter *self)
{
	if (self->chain == 0)
		return;
	LodeBlockChain *chain = lode_block_chains_at(&self->chains, self->chain);
	if (G_UNLIKELY(chain->block_version != self->block_version))
		find_block(self, chain);
	lode_trace_frame_append_placed(
		self->frame, chain->block, chain->n_instructions, chain->n_slots, self->thread);
	self->last_block = chain->block;
	self->chain = 0;
}

static uint32_t begin_chain(LodeBlockSplitter *self, uint32_t use)
{
	uint32_t root = lode_block_chains_use(&self->chains, use)->root;

	if (root == 0) {
		root = lode_block_chains_find_next(&self->chains, 0, use);
		lode_block_chains_use(&self->chains, use)->root = root;
	}
	return root;
}

/* Makes room for the blocks of a chain that begins. False: the frame is full. */
static inline bool prepare_chain(LodeBlockSplitter *self, uint16_t thread)
{
	end_chain(self);
	if (G_UNLIKELY(is_open(self)))
		end_block(self);
	if (is_full(self))
		return false;
	lode_trace_frame_next_addresses(self->frame);
	self->thread = thread;
	return true;
}

static void remember(LodeBlockSplitter *self, uint32_t chain, uint64_t word, uint32_t next)
{
	LodeBlockChain *known = lode_block_chains_at(&self->chains, chain);

	if (chain == 0 || known->likely_words[0] == word)
		return;
	known->likely_words[1] = known->likely_words[0];
	known->likely[1] = known->likely[0];
	known->likely_words[0] = word;
	known->likely[0] = next;
}

/* The group goes on with the open chain, or begins one. False: the frame is full. */
static bool enter_chain(LodeBlockSplitter *self, uint64_t word, uint32_t use, uint16_t thread)
{
	uint32_t before = self->thread == thread ? self->chain : 0;
	uint32_t next = before != 0 ? lode_block_chains_find_next(&self->chains, before, use) : 0;

	if (next == 0) {
		if (!prepare_chain(self, thread))
			return false;
		next = begin_chain(self, use);
	}
	self->chain = next;
	remember(self, before, word, next);
	return true;
}

/* Where the addresses of the open chain's last piece stand. */
static uint64_t *last_addresses(const LodeBlockSplitter *self)
{
	const LodeBlockChain *chain = lode_block_chains_at(&self->chains, self->chain);

	return self->frame->addresses + self->frame->n_addresses + chain->n_slots -
	       chain->last_slots;
}

/*
 * Takes a group that is as one that came there lately, which most are: its accesses are compared
 * and no more. Their addresses are written before it is known that they are, which does no harm:
 * the place is that of the next ones, whether the open chain ends or goes on. False: it is not so,
 * or the frame is full.
 */
static inline bool add_likely_group(LodeBlockSplitter *self, const uint64_t *words, size_t n,
	uint16_t thread, LodeWordsTaken *taken)
{
	const LodeBlockChain *before = lode_block_chains_at(&self->chains, self->chain);
	unsigned which = before->likely_words[0] != words[0];
	uint32_t number = before->likely[which];
	const LodeBlockChain *chain = lode_block_chains_at(&self->chains, number);
	size_t end = chain->last_slots + 1U;

	if (before->likely_words[which] != words[0] || number == 0 || self->thread != thread ||
		end > n)
		return false;
	uint64_t *out = self->frame->addresses + self->frame->n_addresses + before->n_slots;
	unsigned differences = 0;
	for (size_t i = 1; i < end; i++) {
		differences |= (unsigned)(chain->heads[i - 1] ^ lode_word_head(words[i]));
		*out++ = lode_word_address(words[i]);
	}
	if (differences != 0)
		return false;
	if (end < n &&
		(lode_word_is_access(words[end]) || lode_word_tag(words[end]) == LODE_WORD_RESTART))
		return false;
	if (chain->before == 0 && !prepare_chain(self, thread))
		return false;
	self->chain = number;
	taken->n += end;
	taken->n_references += chain->last_instructions + end - 1;
	taken->n_instructions += chain->last_instructions;
	return true;
}

/* Adds a whole group: a part of a group cannot be expressed in words. */
static bool add_references(
	LodeBlockSplitter *self, const LodeWordGroup *group, uint16_t thread, LodeWordsTaken *taken)
{
	LodeReference references[LODE_GROUP_MAX_REFERENCES];
	size_t n = lode_word_group_references(group, references);

	end_chain(self);
	if (is_nearly_full(self))
		return false;
	for (size_t i = 0; i < n; i++) {
		references[i].thread = thread;
		taken->n_instructions += references[i].kind == LODE_REFERENCE_FETCH;
	}
	taken->n_references += lode_block_splitter_add(self, references, n);
	return true;
}

/* Any group. False: the frame is full. */
static bool add_group(LodeBlockSplitter *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, uint16_t thread, LodeWordsTaken *taken)
{
	LodeWordGroup group;
	size_t n_words = lode_word_group_read(pieces, words, n, &group);
	uint32_t use = group.piece != NULL ? lode_block_chains_find_use(&self->chains, &group) : 0;

	if (use == 0) {
		if (!add_references(self, &group, thread, taken))
			return false;
		taken->n += n_words;
		return true;
	}
	if (!enter_chain(self, words[0], use, thread))
		return false;
	uint64_t *out = last_addresses(self);
	for (size_t i = 1; i < group.n; i++)
		*out++ = lode_word_address(words[i]);
	taken->n += n_words;
	taken->n_references += group.piece->n_instructions + group.n - 1;
	taken->n_instructions += group.piece->n_instructions;
	return true;
}

static void make_room_for_chains(LodeBlockSplitter *self, LodeCodePieces *pieces)
{
	if (self->chains.uses != NULL && !lode_block_chains_are_full(&self->chains))
		return;
	end_chain(self);
	lode_block_chains_clear(&self->chains);
	lode_block_chains_init(&self->chains, pieces);
}

LodeWordsTaken lode_block_splitter_add_words(LodeBlockSplitter *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, uint64_t limit)
{
	LodeWordsTaken taken = {0};

	make_room_for_chains(self, pieces);
	while (taken.n < n && limit - taken.n_references >= LODE_GROUP_MAX_REFERENCES) {
		const uint64_t *at = words + taken.n;
		if (add_likely_group(self, at, n - taken.n, thread, &taken))
			continue;
		if (!add_group(self, pieces, at, n - taken.n, thread, &taken))
			break;
	}
	return taken;
}

size_t lode_block_splitter_add(LodeBlockSplitter *self, const LodeReference *references, size_t n)
{
	end_chain(self);
	for (size_t i = 0; i < n; i++) {
		if (is_open(self) && !continues(self, &references[i]))
			end_block(self);
		if (!is_open(self)) {
			size_t taken;

			if (is_full(self))
				return i;
			taken = add_expected(self, &references[i], n - i);
			if (taken > 0) {
				i += taken - 1;
				continue;
			}
			self->thread = references[i].thread;
		}
		self->n_open++;
		if (references[i].kind == LODE_REFERENCE_FETCH)
			add_fetch(self, &references[i]);
		else
			add_data(self, &references[i]);
	}
	return n;
}

/* Blocks that are neighbours in memory have much in common; so have their ids then. */
static void sort_new_blocks(LodeTraceFrame *frame)
{
	uint32_t first = frame->first_new_block;
	g_autofree uint32_t *ids = lode_block_dictionary_sort(frame->dictionary, first);

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (frame->blocks[i] >= first)
			frame->blocks[i] = ids[frame->blocks[i] - first];
	}
}

/* Ids have another meaning from here on. */
static void expect_nothing(LodeBlockSplitter *self)
{
	memset(self->expected, 0, sizeof(self->expected));
	self->last_block = 0;
	self->block_version++;
	self->has_full_dictionary = false;
}

LodeTraceFrame *lode_block_splitter_take_frame(LodeBlockSplitter *self)
{
	g_autoptr(LodeBlockDictionary) dictionary = NULL;
	LodeTraceFrame *frame = self->frame;

	end_chain(self);
	end_block(self);
	if (frame->n_invocations == 0)
		return NULL;
	sort_new_blocks(frame);
	expect_nothing(self);
	dictionary = lode_block_dictionary_is_nearly_full(
			     frame->dictionary, LODE_GROUP_MAX_REFERENCES + 2)
	                     ? lode_block_dictionary_new()
	                     : lode_block_dictionary_ref(frame->dictionary);
	self->frame = lode_trace_frame_new(dictionary);
	lode_trace_frame_use_pool(self->frame, self->pool);
	lode_trace_frame_expect(self->frame, frame);
	self->frame->first_reference = frame->first_reference + frame->n_references;
	self->frame->first_instruction = frame->first_instruction + frame->n_instructions;
	return frame;
}

void lode_block_splitter_renew_dictionary(LodeBlockSplitter *self)
{
	if (!lode_block_dictionary_is_full(self->frame->dictionary))
		return;
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	LodeTraceFrame *frame = lode_trace_frame_new(dictionary);

	g_assert(self->frame->n_invocations == 0 && !is_open(self) && self->chain == 0);
	self->block_version++;
	lode_trace_frame_use_pool(frame, self->pool);
	lode_trace_frame_expect(frame, self->frame);
	frame->first_reference = self->frame->first_reference;
	frame->first_instruction = self->frame->first_instruction;
	lode_trace_frame_free(self->frame);
	self->frame = frame;
}

LodeBlockDictionary *lode_block_splitter_dictionary(const LodeBlockSplitter *self)
{
	return self->frame->dictionary;
}

size_t lode_block_splitter_frame_bytes(const LodeBlockSplitter *self)
{
	const LodeTraceFrame *frame = self->frame;

	return frame->n_invocations * sizeof(*frame->blocks) +
	       frame->n_addresses * sizeof(*frame->addresses) +
	       frame->n_switches * sizeof(*frame->switches);
}
