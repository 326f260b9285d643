/* SPDX-License-Identifier: MIT */
/* A bounded piece of an address trace, and the walk through its references. */
#include "traces/frames/trace_frame.h"

#include "base/arrays/large_array.h"

#include <string.h>

enum {
	LARGE_BYTES = 1 << 20, /* smaller arrays are grown step by step: frames may be many */
	MAX_POOLED = 32,
	MAX_POOLED_BYTES = 96 << 20, /* of all */
};

typedef struct {
	uint32_t *blocks;
	uint64_t *addresses;
	size_t blocks_room, addresses_room;
	size_t n_bytes; /* that were used */
} Arrays;

struct LodeFramePool {
	gatomicrefcount n_references;
	GMutex lock;
	Arrays arrays[MAX_POOLED];
	unsigned n;
	size_t n_bytes; /* of them */
};

LodeFramePool *lode_frame_pool_new(void)
{
	LodeFramePool *self = g_new0(LodeFramePool, 1);

	g_atomic_ref_count_init(&self->n_references);
	g_mutex_init(&self->lock);
	return self;
}

LodeFramePool *lode_frame_pool_ref(LodeFramePool *self)
{
	g_atomic_ref_count_inc(&self->n_references);
	return self;
}

static void arrays_free(Arrays *arrays)
{
	g_free(arrays->blocks);
	g_free(arrays->addresses);
}

void lode_frame_pool_unref(LodeFramePool *self)
{
	if (self == NULL || !g_atomic_ref_count_dec(&self->n_references))
		return;
	for (unsigned i = 0; i < self->n; i++)
		arrays_free(&self->arrays[i]);
	g_mutex_clear(&self->lock);
	g_free(self);
}

/* Small arrays are not kept: allocating them is cheap. */
static void give_back(LodeFramePool *self, Arrays arrays)
{
	if (self != NULL && arrays.n_bytes >= LARGE_BYTES) {
		g_mutex_lock(&self->lock);
		if (self->n < MAX_POOLED && self->n_bytes + arrays.n_bytes <= MAX_POOLED_BYTES) {
			self->n_bytes += arrays.n_bytes;
			self->arrays[self->n++] = arrays;
			arrays = (Arrays){0};
		}
		g_mutex_unlock(&self->lock);
	}
	arrays_free(&arrays);
}

LodeTraceFrame *lode_trace_frame_new(LodeBlockDictionary *dictionary)
{
	LodeTraceFrame *self = g_new0(LodeTraceFrame, 1);

	self->dictionary = lode_block_dictionary_ref(dictionary);
	self->first_new_block = lode_block_dictionary_size(dictionary);
	self->n_blocks = self->first_new_block;
	return self;
}

void lode_trace_frame_free(LodeTraceFrame *self)
{
	if (self == NULL)
		return;
	lode_block_dictionary_unref(self->dictionary);
	give_back(self->pool,
		(Arrays){self->blocks, self->addresses, self->blocks_room, self->addresses_room,
			self->n_invocations * sizeof(*self->blocks) +
				self->n_addresses * sizeof(*self->addresses)});
	lode_frame_pool_unref(self->pool);
	g_free(self->switches);
	g_free(self);
}

void lode_trace_frame_use_pool(LodeTraceFrame *self, LodeFramePool *pool)
{
	Arrays arrays = {0};

	if (pool == NULL)
		return;
	self->pool = lode_frame_pool_ref(pool);
	g_mutex_lock(&pool->lock);
	if (pool->n > 0)
		arrays = pool->arrays[--pool->n];
	pool->n_bytes -= arrays.n_bytes;
	g_mutex_unlock(&pool->lock);
	self->blocks = arrays.blocks;
	self->addresses = arrays.addresses;
	self->blocks_room = arrays.blocks_room;
	self->addresses_room = arrays.addresses_room;
}

void lode_trace_frame_expect(LodeTraceFrame *self, const LodeTraceFrame *before)
{
	self->likely_blocks = MAX(before->blocks_room, before->likely_blocks);
	self->likely_addresses = MAX(before->addresses_room, before->likely_addresses);
}

/* How much room there is to be. */
typedef struct {
	size_t needed, likely; /* elements */
	size_t size;           /* of each, in bytes */
} Wanted;

/* Doubles `room` until all that is needed fits, and from some size on until what is likely does.
 * realloc() would touch its new memory before huge pages can be requested. */
static void *grown(void *array, size_t *room, const Wanted *wanted)
{
	size_t n_bytes = *room * wanted->size;
	void *larger;

	if (wanted->needed <= *room)
		return array;
	*room = MAX(*room * 2, MAX(wanted->needed, 1024));
	if (n_bytes >= LARGE_BYTES)
		*room = MAX(*room, wanted->likely);
	larger = g_malloc_n(*room, wanted->size);
	lode_large_array_advise(larger, *room * wanted->size);
	if (n_bytes > 0)
		memcpy(larger, array, n_bytes);
	g_free(array);
	return larger;
}

void lode_trace_frame_append_switch(LodeTraceFrame *self, uint16_t thread)
{
	size_t n = self->n_switches;

	if (G_UNLIKELY(n == self->switches_room))
		self->switches = grown(self->switches, &self->switches_room,
			&(Wanted){n + 1, 0, sizeof(LodeTraceSwitch)});
	self->switches[n] = (LodeTraceSwitch){(uint32_t)self->n_invocations, thread};
	self->n_switches = n + 1;
}

void lode_trace_frame_grow_addresses(LodeTraceFrame *self, size_t n_more)
{
	self->addresses = grown(self->addresses, &self->addresses_room,
		&(Wanted){self->n_addresses + n_more, self->likely_addresses, sizeof(uint64_t)});
}

void lode_trace_frame_grow_blocks(LodeTraceFrame *self)
{
	self->blocks = grown(self->blocks, &self->blocks_room,
		&(Wanted){self->n_invocations + 1, self->likely_blocks, sizeof(uint32_t)});
}

void lode_trace_frame_append(
	LodeTraceFrame *self, uint32_t id, uint16_t thread, const uint64_t *addresses)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(self->dictionary, id);

	memcpy(lode_trace_frame_next_addresses(self), addresses,
		block->n_slots * sizeof(*addresses));
	lode_trace_frame_append_placed(self, id, block->n_instructions, block->n_slots, thread);
}

bool lode_trace_frame_is_nearly_full(
	const LodeTraceFrame *self, size_t n_blocks, size_t n_references)
{
	return self->n_references + n_references > LODE_FRAME_MAX_REFERENCES ||
	       self->n_invocations + n_blocks > LODE_FRAME_MAX_INVOCATIONS ||
	       self->n_addresses + n_references > LODE_FRAME_MAX_ADDRESSES ||
	       self->n_switches + n_blocks > LODE_FRAME_MAX_SWITCHES;
}

void lode_trace_references_init(LodeTraceReferences *self, const LodeTraceFrame *frame)
{
	memset(self, 0, sizeof(*self));
	self->frame = frame;
}

static void begin_invocation(LodeTraceReferences *self)
{
	const LodeTraceFrame *frame = self->frame;

	while (self->next_switch < frame->n_switches &&
		frame->switches[self->next_switch].invocation == self->invocation)
		self->thread = frame->switches[self->next_switch++].thread;
	self->fetch_address = lode_block_dictionary_at(
		frame->dictionary, frame->blocks[self->invocation])
	                              ->address;
}

static void end_invocation(LodeTraceReferences *self)
{
	self->invocation++;
	self->instruction = 0;
	self->slot = 0;
	self->has_fetched = false;
}

/* The reference that is due in a block; false: the block is at its end. A data reference is due
 * once its instruction was fetched. */
static bool next_of_block(
	LodeTraceReferences *self, const LodeTraceBlock *block, LodeReference *out)
{
	if (!self->has_fetched && self->instruction < block->n_instructions) {
		*out = (LodeReference){self->fetch_address,
			block->instruction_sizes[self->instruction], self->thread,
			LODE_REFERENCE_FETCH};
		self->has_fetched = true;
		return true;
	}
	if (self->slot < block->n_slots &&
		block->slots[self->slot].instruction == self->instruction) {
		const LodeTraceSlot *slot = &block->slots[self->slot++];

		*out = (LodeReference){self->frame->addresses[self->address++], slot->size,
			self->thread, slot->kind};
		return true;
	}
	if (self->instruction >= block->n_instructions)
		return false;
	self->fetch_address += block->instruction_sizes[self->instruction++];
	self->has_fetched = false;
	return self->instruction < block->n_instructions && next_of_block(self, block, out);
}

/* All references of an invocation at its beginning. Most are taken so, in a loop that need not be
 * able to stop after any reference, as next_of_block() is. */
static void whole_block(LodeTraceReferences *self, const LodeTraceBlock *block, LodeReference *out)
{
	const LodeTraceSlot *slot = block->slots, *last = slot + block->n_slots;
	const uint64_t *addresses = self->frame->addresses + self->address;
	uint64_t fetch_address = block->address;

	for (unsigned i = 0; i == 0 || i < block->n_instructions; i++) {
		if (i < block->n_instructions) {
			uint32_t size = block->instruction_sizes[i];

			*out++ = (LodeReference){
				fetch_address, size, self->thread, LODE_REFERENCE_FETCH};
			fetch_address += size;
		}
		for (; slot < last && slot->instruction == i; slot++)
			*out++ = (LodeReference){
				*addresses++, slot->size, self->thread, slot->kind};
	}
	self->address += block->n_slots;
	self->invocation++;
}

size_t lode_trace_references_next(LodeTraceReferences *self, LodeReference *out, size_t room)
{
	const LodeTraceFrame *frame = self->frame;
	size_t n = 0;

	while (n < room && self->invocation < frame->n_invocations) {
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, frame->blocks[self->invocation]);
		bool is_begun = self->instruction > 0 || self->slot > 0 || self->has_fetched;
		size_t size = (size_t)block->n_instructions + block->n_slots;

		if (!is_begun)
			begin_invocation(self);
		if (!is_begun && size <= room - n) {
			whole_block(self, block, &out[n]);
			n += size;
		} else if (next_of_block(self, block, &out[n]))
			n++;
		else
			end_invocation(self);
	}
	return n;
}
