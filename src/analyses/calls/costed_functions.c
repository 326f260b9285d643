/* SPDX-License-Identifier: MIT */
#include "analyses/calls/costed_functions.h"

LodeCostedFunctions *lode_costed_functions_new(
	const LodeProfile *profile, uint32_t event, const char *const *own)
{
	LodeCostedFunctions *self = g_new0(LodeCostedFunctions, 1);

	self->costs = lode_function_costs_new(profile, event);
	self->families = lode_families_new();
	self->family_costs = lode_families_costs(self->families, self->costs, &self->family_of);
	self->services = lode_services_new(self->costs, self->families, self->family_of, own);
	return self;
}

void lode_costed_functions_free(LodeCostedFunctions *self)
{
	if (self == NULL)
		return;
	lode_services_free(self->services);
	g_free(self->family_of);
	g_array_unref(self->family_costs);
	lode_families_free(self->families);
	lode_function_costs_free(self->costs);
	g_free(self);
}
