/* SPDX-License-Identifier: MIT */
#include "model/run/origins.h"

LodeOriginParts *lode_origin_parts_new(void)
{
	LodeOriginParts *self = g_new0(LodeOriginParts, 1);

	self->counts = g_array_new(FALSE, TRUE, sizeof(LodeOriginCount));
	self->costs = g_array_new(FALSE, TRUE, sizeof(LodeOriginCost));
	self->edges = g_array_new(FALSE, TRUE, sizeof(LodeOriginEdge));
	self->totals = g_array_new(FALSE, TRUE, sizeof(LodeOriginTotal));
	return self;
}

void lode_origin_parts_free(LodeOriginParts *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->counts);
	g_array_unref(self->costs);
	g_array_unref(self->edges);
	g_array_unref(self->totals);
	g_free(self);
}
