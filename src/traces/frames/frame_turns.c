/* SPDX-License-Identifier: MIT */
/* The invocations of a stretch are dealt to queues, one for each thread, and taken in turns. */
#include "traces/frames/frame_turns.h"

typedef struct {
	uint32_t block;
	size_t address; /* of its first data reference, in the frame */
} Queued;

typedef struct {
	uint16_t thread;
	GArray *invocations; /* Queued */
	guint next;
} Queue;

typedef struct {
	const LodeTraceFrame *frame;
	LodeTraceFrame *result;
	GArray *queues;                 /* Queue, by the first invocation of the stretch */
	uint32_t slots[UINT16_MAX + 1]; /* thread → queue + 1, of the stretch */
	guint n_used;                   /* queues of the stretch */
	uint64_t quantum;
} Turns;

static void clear_queue(void *queue)
{
	g_array_unref(((Queue *)queue)->invocations);
}

static Queue *queue_of(Turns *self, uint16_t thread)
{
	if (self->slots[thread] == 0) {
		if (self->n_used == self->queues->len) {
			Queue added = {.invocations = g_array_new(FALSE, FALSE, sizeof(Queued))};
			g_array_append_val(self->queues, added);
		}
		Queue *queue = &g_array_index(self->queues, Queue, self->n_used);
		queue->thread = thread;
		self->slots[thread] = ++self->n_used;
	}
	return &g_array_index(self->queues, Queue, self->slots[thread] - 1);
}

/* Whether the queue has more. */
static bool take_turn(Turns *self, Queue *queue)
{
	uint64_t n_instructions = 0;

	while (queue->next < queue->invocations->len && n_instructions < self->quantum) {
		const Queued *it = &g_array_index(queue->invocations, Queued, queue->next++);
		const LodeTraceBlock *block = lode_block_dictionary_at(
			self->frame->dictionary, it->block);
		lode_trace_frame_append(self->result, it->block, queue->thread,
			self->frame->addresses + it->address);
		/* references without instructions take turns too */
		n_instructions += MAX(block->n_instructions, 1);
	}
	return queue->next < queue->invocations->len;
}

static void end_stretch(Turns *self)
{
	bool has_more = true;

	while (has_more) {
		has_more = false;
		for (guint i = 0; i < self->n_used; i++)
			has_more |= take_turn(self, &g_array_index(self->queues, Queue, i));
	}
	for (guint i = 0; i < self->n_used; i++) {
		Queue *queue = &g_array_index(self->queues, Queue, i);
		self->slots[queue->thread] = 0;
		g_array_set_size(queue->invocations, 0);
		queue->next = 0;
	}
	self->n_used = 0;
}

LodeTraceFrame *lode_frame_turns_new(const LodeTraceFrame *frame, uint64_t quantum)
{
	g_autofree Turns *self = g_new0(Turns, 1);
	/* a large quantum is one stretch, which the frame ends */
	uint64_t stretch = MAX(
		LODE_FRAME_TURNS_STRETCH, MIN(quantum, UINT32_MAX) * 2 * LODE_FRAME_TURNS_TURNS);
	uint64_t n_references = 0;
	size_t address = 0, next_switch = 0;
	uint16_t thread = 0;

	self->frame = frame;
	self->quantum = MAX(quantum, 1);
	self->queues = g_array_new(FALSE, FALSE, sizeof(Queue));
	g_array_set_clear_func(self->queues, clear_queue);
	self->result = lode_trace_frame_new(frame->dictionary);
	self->result->first_reference = frame->first_reference;
	self->result->first_instruction = frame->first_instruction;
	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			thread = frame->switches[next_switch++].thread;
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, frame->blocks[i]);
		Queued queued = {frame->blocks[i], address};
		g_array_append_val(queue_of(self, thread)->invocations, queued);
		address += block->n_slots;
		n_references += (uint64_t)block->n_instructions + block->n_slots;
		if (n_references < stretch)
			continue;
		end_stretch(self);
		n_references = 0;
	}
	end_stretch(self);
	self->result->first_new_block = frame->first_new_block;
	self->result->n_blocks = frame->n_blocks;
	g_array_unref(self->queues);
	return self->result;
}
