/* SPDX-License-Identifier: MIT */
#include "model/run/unresolved.h"

#include "model/profile.h"

#include <string.h>

void lode_profile_add_unresolved(
	LodeProfile *self, const char *reason, const char *example, double count, double weight)
{
	LodeUnresolved *found = NULL;

	for (guint i = 0; i < self->unresolved->len && found == NULL; i++) {
		LodeUnresolved *row = &LODE_AT(self->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, reason) == 0)
			found = row;
	}
	if (found == NULL) {
		g_array_set_size(self->unresolved, self->unresolved->len + 1);
		found = &LODE_AT(self->unresolved, LodeUnresolved, self->unresolved->len - 1);
		found->reason = lode_profile_intern(self, reason);
		found->example = lode_profile_intern(self, example);
	}
	found->count += count;
	found->weight += weight;
	found->places++;
}
