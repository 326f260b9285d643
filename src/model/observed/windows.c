/* SPDX-License-Identifier: MIT */
#include "model/observed/windows.h"

#include "base/arrays/partition_point.h"

static void process_clear(void *data)
{
	LodeSteppedProcess *self = data;

	g_free(self->name);
	g_free(self->obstacle);
}

LodeWindows *lode_windows_new(void)
{
	LodeWindows *self = g_new0(LodeWindows, 1);

	self->edges = g_array_new(FALSE, FALSE, sizeof(LodeObservedEdge));
	self->instructions = g_array_new(FALSE, FALSE, sizeof(LodeObservedInstruction));
	self->processes = g_array_new(FALSE, FALSE, sizeof(LodeSteppedProcess));
	g_array_set_clear_func(self->processes, process_clear);
	return self;
}

void lode_windows_free(LodeWindows *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->edges);
	g_array_unref(self->instructions);
	g_array_unref(self->processes);
	g_free(self);
}

const LodeObservedEdge *lode_windows_find_edge(
	const LodeWindows *self, uint32_t source, uint32_t target)
{
	const LodeObservedEdge *edges = (const LodeObservedEdge *)self->edges->data;
	uint32_t at = LODE_PARTITION_POINT(self->edges->len, i,
		edges[i].source < source ||
			(edges[i].source == source && edges[i].target < target));

	return at < self->edges->len && edges[at].source == source && edges[at].target == target
	               ? &edges[at]
	               : NULL;
}

const LodeObservedInstruction *lode_windows_find(const LodeWindows *self, uint32_t instruction)
{
	const LodeObservedInstruction *all =
		(const LodeObservedInstruction *)self->instructions->data;
	uint32_t at = LODE_PARTITION_POINT(
		self->instructions->len, i, all[i].instruction < instruction);

	return at < self->instructions->len && all[at].instruction == instruction ? &all[at] : NULL;
}
