/* SPDX-License-Identifier: MIT */
/* Which blocks may follow a block in a frame. */
#include "traces/blocks/block_flow.h"

#include <string.h>

static void forget_returns(LodeBlockFlow *self)
{
	memset(self->returns_to, 0xff, self->layout->n_blocks * sizeof(uint32_t));
}

void lode_block_flow_init(LodeBlockFlow *self, const LodeFrameLayout *layout)
{
	self->layout = layout;
	self->nodes = g_new0(LodeFlowNode, layout->n_blocks + 1U);
	self->targets = NULL;
	self->n_targets = 0;
	self->returns_to = g_new(uint32_t, layout->n_blocks + 1U);
	self->threads = g_ptr_array_new_with_free_func(g_free);
	forget_returns(self);
}

void lode_block_flow_clear(LodeBlockFlow *self)
{
	g_free(self->nodes);
	g_free(self->targets);
	g_free(self->returns_to);
	g_clear_pointer(&self->threads, g_ptr_array_unref);
	*self = (LodeBlockFlow){0};
}

void lode_block_flow_rewind(LodeBlockFlow *self)
{
	forget_returns(self);
	g_ptr_array_set_size(self->threads, 0);
}

LodeThreadFlow *lode_block_flow_thread(LodeBlockFlow *self, uint16_t thread)
{
	LodeThreadFlow *flow;

	if (thread >= self->threads->len)
		g_ptr_array_set_size(self->threads, thread + 1);
	flow = g_ptr_array_index(self->threads, thread);
	if (flow == NULL) {
		flow = g_new0(LodeThreadFlow, 1);
		flow->last_block = UINT32_MAX;
		g_ptr_array_index(self->threads, thread) = flow;
	}
	return flow;
}
