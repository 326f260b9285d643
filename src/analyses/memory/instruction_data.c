/* SPDX-License-Identifier: MIT */
#include "analyses/memory/instruction_data.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/simulated_events.h"
#include "analyses/memory/window_samples.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/memory.h"

#include <stdlib.h>

typedef struct {
	uint32_t instruction, object, row;
	bool has_address;
} Use;

/* By instruction and object. */
LODE_ORDER(
	compare_uses, Use, LODE_ASCENDING(instruction), LODE_ASCENDING(object), LODE_ASCENDING(row))

LODE_ORDER(compare_objects, LodeInstructionObject, LODE_DESCENDING(weight), LODE_ASCENDING(object))

/* The instruction that accesses; of a sample whose access is not known, none. */
static GArray *collect_uses(LodeInstructionData *self, const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	uint32_t event = lode_simulated_events_default(profile);
	uint32_t apart = lode_window_samples_event_apart(profile);
	GArray *uses = g_array_new(FALSE, FALSE, sizeof(Use));

	for (uint32_t i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		bool has_address = sample->rule != LODE_RULE_NONE && !sample->is_next;
		Use use = {sample->access_instruction, sample->object, i, has_address};
		if (are_faults[sample->event] || sample->event == apart ||
			(event != LODE_NONE && sample->event != event))
			continue;
		if (sample->access_function < code->functions->len) {
			lode_access_totals_add(
				&self->functions[sample->access_function], sample, i);
			if (!has_address)
				self->unresolved[sample->access_function] += sample->weight;
		}
		if (use.instruction < code->instructions->len)
			g_array_append_val(uses, use);
	}
	if (uses->len > 0)
		qsort(uses->data, uses->len, sizeof(Use), compare_uses);
	return uses;
}

static void add_use(LodeInstructionData *self, LodeInstructionDatum *datum, const Use *use,
	const LodeMemorySample *sample)
{
	lode_access_totals_add(&datum->totals, sample, use->row);
	if (use->has_address) {
		/* up to the last byte, which may be that of the address space */
		uint64_t extent = sample->size > 0 ? sample->size - 1 : 0;
		datum->least = MIN(datum->least, sample->address);
		datum->most = MAX(
			datum->most, sample->address + MIN(extent, UINT64_MAX - sample->address));
	} else {
		datum->unresolved_weight += sample->weight;
		/* a base may name the object where the element is lost */
		if (use->object == LODE_NONE)
			return;
	}
	if (datum->n_objects > 0) {
		LodeInstructionObject *last = &LODE_AT(
			self->objects, LodeInstructionObject, self->objects->len - 1);
		if (last->object == use->object) {
			last->weight += sample->weight;
			return;
		}
	}
	LodeInstructionObject added = {use->object, sample->weight};
	g_array_append_val(self->objects, added);
	datum->n_objects++;
}

LodeInstructionData *lode_instruction_data_new(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	const LodeMemory *memory = lode_memory_of(profile);
	LodeInstructionData *self = g_new0(LodeInstructionData, 1);

	self->rows = g_array_new(FALSE, FALSE, sizeof(LodeInstructionDatum));
	self->objects = g_array_new(FALSE, FALSE, sizeof(LodeInstructionObject));
	self->functions = g_new0(LodeAccessTotals, code->functions->len + 1);
	self->unresolved = g_new0(double, code->functions->len + 1);
	self->is_of_windows = lode_window_samples_event(profile) != LODE_NONE &&
	                      lode_window_samples_event_apart(profile) == LODE_NONE;
	g_autoptr(GArray) uses = collect_uses(self, profile);
	for (guint first = 0, end; first < uses->len; first = end) {
		LodeInstructionDatum datum = {
			.instruction = LODE_AT(uses, Use, first).instruction,
			.least = UINT64_MAX,
			.first_object = self->objects->len,
		};
		for (end = first; end < uses->len; end++) {
			const Use *use = &LODE_AT(uses, Use, end);
			if (use->instruction != datum.instruction)
				break;
			add_use(self, &datum, use,
				&LODE_AT(memory->samples, LodeMemorySample, use->row));
		}
		if (datum.n_objects > 1)
			qsort(&LODE_AT(self->objects, LodeInstructionObject, datum.first_object),
				datum.n_objects, sizeof(LodeInstructionObject), compare_objects);
		g_array_append_val(self->rows, datum);
	}
	return self;
}

void lode_instruction_data_free(LodeInstructionData *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_array_unref(self->objects);
	g_free(self->functions);
	g_free(self->unresolved);
	g_free(self);
}

const LodeInstructionDatum *lode_instruction_data_find(
	const LodeInstructionData *self, uint32_t instruction)
{
	guint at = LODE_PARTITION_POINT(self->rows->len, i,
		LODE_AT(self->rows, LodeInstructionDatum, i).instruction < instruction);

	if (at == self->rows->len ||
		LODE_AT(self->rows, LodeInstructionDatum, at).instruction != instruction)
		return NULL;
	return &LODE_AT(self->rows, LodeInstructionDatum, at);
}
