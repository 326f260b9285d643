/* SPDX-License-Identifier: MIT */
/*
 * Functions inlined at a place in code are calls of their own:
 *
 *   chain   0x2020 ◀ 0x1010                                      a place each
 *   calls   main prog.c:9 ◀ fill prog.c:40 ◀ push (inlined) list.h:7
 */
#include "ingest/memory/memory_callers.h"

#include "base/arrays/id_cache.h"
#include "ingest/memory/memory_reading.h"
#include "model/memory.h"
#include "process/images/code_names.h"

struct LodeMemoryCallers {
	LodeProfile *profile;
	LodeMemoryReading *reading;
	LodeCodeNames *names;
	LodeIdCache call_ids; /* outer, function, place → row */
	GArray *depths;       /* uint16_t of each row */
	uint32_t *rows;       /* of each of the reading's calls; LODE_NONE: in the kernel */
};

/* The accessing code; the sampled code if no access is charged. */
static LodePlace code_of(const LodeReadAccess *access)
{
	return (LodePlace){access->image,
		access->image_access_pc != 0 ? access->image_access_pc : access->image_pc};
}

static uint32_t add_call(LodeMemoryCallers *self, uint32_t outer, const LodeAccessCall *call)
{
	const LodeIdKey key = {
		{outer, (uint64_t)(uintptr_t)call->function, (uint64_t)(uintptr_t)call->place}};
	uint16_t depth = outer != LODE_NONE ? g_array_index(self->depths, uint16_t, outer) : 0;
	bool is_new;

	if (depth >= LODE_ACCESS_MAX_DEPTH)
		return outer;
	LodeIdSlot *slot = lode_id_cache_find(&self->call_ids, &key, &is_new);
	if (is_new) {
		slot->id = self->depths->len;
		g_array_append_vals(self->profile->memory->access_calls, call, 1);
		depth++;
		g_array_append_val(self->depths, depth);
	}
	return slot->id;
}

/* The function first, then the functions inlined into it, the innermost last. */
static uint32_t add_calls(LodeMemoryCallers *self, uint32_t outer, const LodePlace *code)
{
	const LodeCodeName *name = lode_code_names_at(
		self->names, lode_code_names_add(self->names, code));
	LodeCodeImages *images = lode_places_images(self->reading->options.places);

	for (uint32_t i = name->n_inlined + 1; i-- > 0;) {
		const char *function = i < name->n_inlined ? name->inlined[i].function
		                                           : name->function;
		g_autofree char *text = lode_code_images_place_text(images, code->image,
			code->address, i > 0 ? name->inlined[i - 1].file : name->location.file,
			i > 0 ? name->inlined[i - 1].line : name->location.line);
		const LodeAccessCall call = {lode_profile_intern(self->profile, function),
			lode_profile_intern(self->profile, text), outer};
		outer = add_call(self, outer, &call);
	}
	return outer;
}

LodeMemoryCallers *lode_memory_callers_new(LodeProfile *profile, LodeMemoryReading *reading)
{
	const LodeCallTree *tree = reading->tree;
	const GArray *accesses = reading->accesses;
	LodeMemoryCallers *self;

	if (tree == NULL)
		return NULL;
	self = g_new0(LodeMemoryCallers, 1);
	self->profile = profile;
	self->reading = reading;
	self->names = lode_code_names_new(lode_places_images(reading->options.places));
	self->depths = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	lode_id_cache_init(&self->call_ids);
	for (guint i = 0; i < tree->calls->len; i++) {
		const LodeCall *call = &g_array_index(tree->calls, LodeCall, i);
		if (call->code.image != LODE_CALLER_IN_KERNEL)
			lode_code_names_add(self->names, &call->code);
	}
	for (guint i = 0; i < accesses->len; i++) {
		const LodePlace code = code_of(&g_array_index(accesses, LodeReadAccess, i));
		lode_code_names_add(self->names, &code);
	}
	lode_code_names_find(self->names);
	self->rows = g_new(uint32_t, MAX(tree->calls->len, 1));
	for (guint i = 0; i < tree->calls->len; i++) {
		const LodeCall *call = &g_array_index(tree->calls, LodeCall, i);
		/* No access of user code is called by the kernel's. */
		self->rows[i] = call->code.image == LODE_CALLER_IN_KERNEL
		                        ? LODE_NONE
		                        : add_calls(self,
						  call->outer != LODE_NONE ? self->rows[call->outer]
									   : LODE_NONE,
						  &call->code);
	}
	return self;
}

void lode_memory_callers_free(LodeMemoryCallers *self)
{
	if (self == NULL)
		return;
	lode_code_names_free(self->names);
	lode_id_cache_clear(&self->call_ids);
	g_array_unref(self->depths);
	g_free(self->rows);
	g_free(self);
}

uint32_t lode_memory_callers_add(LodeMemoryCallers *self, const LodeReadAccess *access)
{
	const LodePlace code = code_of(access);

	if (access->image == LODE_NONE)
		return LODE_NONE;
	return add_calls(
		self, access->caller != LODE_NONE ? self->rows[access->caller] : LODE_NONE, &code);
}
