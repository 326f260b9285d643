/* SPDX-License-Identifier: MIT */
#include "process/call_tree.h"

#include "model/profile.h"

/* As many as all chains of a real program have together, and more. */
enum { MAX_CALLS = 1 << 23 };

void lode_call_tree_init(LodeCallTree *self)
{
	*self = (LodeCallTree){.calls = g_array_new(FALSE, FALSE, sizeof(LodeCall))};
	lode_id_cache_init(&self->ids);
}

void lode_call_tree_clear(LodeCallTree *self)
{
	g_array_unref(self->calls);
	lode_id_cache_clear(&self->ids);
}

uint32_t lode_call_tree_add(LodeCallTree *self, uint32_t outer, const LodePlace *code)
{
	const LodeCall added = {*code, outer};
	const LodeIdKey key = {{(uint64_t)outer << 32 | code->image, code->address, 0}};
	bool is_new;

	if (self->calls->len >= MAX_CALLS) {
		self->n_left_out++;
		return LODE_NONE;
	}
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);
	if (is_new) {
		slot->id = self->calls->len;
		g_array_append_val(self->calls, added);
	}
	return slot->id;
}

uint32_t lode_call_tree_add_chain(LodeCallTree *self, const GArray *chain)
{
	uint32_t outer = LODE_NONE;

	for (guint i = chain->len; i-- > 0;) {
		outer = lode_call_tree_add(self, outer, &g_array_index(chain, LodePlace, i));
		if (outer == LODE_NONE)
			break;
	}
	return outer;
}
