/* SPDX-License-Identifier: MIT */
/*
 * Recorded jumps and calls → transfers between executed instructions. Callgrind says which of the
 * two each is; a trace only has the change of control, and its instruction gives the kind.
 */
#include "ingest/join/join.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/run/unresolved.h"

#include <stdlib.h>

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const LodeRecording *recording;
	GArray *transfers; /* LodeJoinTransfer */
} Joining;

static uint32_t find_end(const Joining *self, uint32_t object, uint64_t address)
{
	if (object == LODE_NONE)
		return LODE_NONE;
	LodePlace place = lode_join_place(self->images, self->recording, object, address);

	return lode_join_find(self->profile, place.image, place.address);
}

/* The instruction tells the kind of a change of control, which a trace does not have. */
static LodeBranch branch_at(
	const Joining *self, LodeInstructionDecoder *decoder, uint32_t instruction)
{
	const LodeProfile *profile = self->profile;
	LodeDecodedInstruction decoded;
	size_t size;

	if (instruction == LODE_NONE)
		return LODE_BRANCH_NONE;
	const LodeInstruction *row = lode_profile_instruction(profile, instruction);
	const LodeFunction *function = lode_profile_function(profile, row->function);
	LodeBinaryImage *binary = self->images->binaries[function->image];
	const uint8_t *code = binary != NULL ? lode_binary_image_bytes(binary, row->address, &size)
	                                     : NULL;
	bool is_known = code != NULL && lode_instruction_decoder_decode(
						decoder, code, size, row->address, &decoded);
	return is_known ? decoded.branch : LODE_BRANCH_NONE;
}

static void add_traced(Joining *self)
{
	const GArray *jumps = self->recording->jumps;
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	for (guint i = 0; i < jumps->len; i++) {
		const LodeRecordedJump *jump = &g_array_index(jumps, LodeRecordedJump, i);
		LodeJoinTransfer transfer = {
			.source = find_end(self, jump->object, jump->source),
			.target = find_end(self, jump->target_object, jump->target),
			.count = jump->taken,
		};
		LodeBranch branch = branch_at(self, &decoder, transfer.source);
		transfer.is_call = branch == LODE_BRANCH_CALL ||
		                   branch == LODE_BRANCH_INDIRECT_CALL;
		transfer.is_jump = branch == LODE_BRANCH_CONDITIONAL ||
		                   branch == LODE_BRANCH_JUMP ||
		                   branch == LODE_BRANCH_INDIRECT_JUMP;
		g_array_append_val(self->transfers, transfer);
	}
}

static void add_jumps(Joining *self)
{
	const GArray *jumps = self->recording->jumps;

	for (guint i = 0; i < jumps->len; i++) {
		const LodeRecordedJump *jump = &g_array_index(jumps, LodeRecordedJump, i);
		LodeJoinTransfer transfer = {
			.source = find_end(self, jump->object, jump->source),
			.target = find_end(self, jump->target_object, jump->target),
			.is_jump = true,
			.count = jump->taken,
		};
		g_array_append_val(self->transfers, transfer);
	}
}

static void add_calls(Joining *self)
{
	const GArray *calls = self->recording->calls;

	for (guint i = 0; i < calls->len; i++) {
		const LodeRecordedCall *call = &g_array_index(calls, LodeRecordedCall, i);
		LodeJoinTransfer transfer = {
			.source = find_end(self, call->object, call->source),
			.target = find_end(self, call->target_object, call->target),
			.is_call = true,
			.count = call->count,
		};
		g_array_append_val(self->transfers, transfer);
	}
}

/* Ties are broken by all that differs, so that the order does not depend on qsort(). */
LODE_ORDER(compare_transfers, LodeJoinTransfer, LODE_ASCENDING(source), LODE_ASCENDING(target),
	LODE_ASCENDING(is_call), LODE_ASCENDING(count))

/* A jump whose own place has no count cannot be given to a function. */
static void drop_sourceless(Joining *self)
{
	GArray *transfers = self->transfers;
	guint kept = 0;

	for (guint i = 0; i < transfers->len; i++) {
		LodeJoinTransfer transfer = g_array_index(transfers, LodeJoinTransfer, i);
		if (transfer.source != LODE_NONE)
			g_array_index(transfers, LodeJoinTransfer, kept++) = transfer;
		else
			lode_profile_add_unresolved(self->profile,
				"jump or call from an instruction without a count", NULL,
				transfer.count, 0);
	}
	g_array_set_size(transfers, kept);
}

GArray *lode_join_transfers(
	LodeProfile *profile, const LodeJoinImages *images, const LodeRecording *recording)
{
	GArray *transfers = g_array_new(FALSE, FALSE, sizeof(LodeJoinTransfer));
	Joining joining = {profile, images, recording, transfers};

	if (recording->is_trace) {
		add_traced(&joining);
	} else {
		add_jumps(&joining);
		add_calls(&joining);
	}
	if (transfers->len > 1)
		qsort(transfers->data, transfers->len, sizeof(LodeJoinTransfer), compare_transfers);
	if (!recording->is_trace)
		drop_sourceless(&joining);
	return transfers;
}
