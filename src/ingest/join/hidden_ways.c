/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/dependences.h"

#include "base/arrays/partition_point.h"
#include "images/instructions/instruction_decoder.h"
#include "model/code.h"

/* Whether code from `offset` on that is not in the profile, as it seemed not to be executed, may
 * lead back to code that is. It may be executed all the same, in too short a time for a sample. */
static bool leads_back(const LodeProfile *profile, const LodeFunction *function, uint64_t offset)
{
	enum { MAX_PENDING = 64 };
	const LodeInstruction *own = lode_profile_instruction(profile, function->first_instruction);
	uint32_t n = function->n_instructions;
	uint64_t pending[MAX_PENDING];
	unsigned n_pending = 0;
	gsize size;
	const uint8_t *bytes = g_bytes_get_data(function->code, &size);
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	lode_instruction_decoder_begin(&decoder, bytes, size, function->address);
	pending[n_pending++] = offset;
	for (unsigned i = 0; i < n_pending; i++) {
		uint64_t address = function->address + pending[i];
		uint32_t at = LODE_PARTITION_POINT(n, k, own[k].address < address);
		LodeDecodedInstruction decoded;
		if ((at < n && own[at].address == address) || n_pending + 2 > MAX_PENDING ||
			!lode_instruction_decoder_decode(&decoder, bytes + pending[i],
				size - pending[i], address, &decoded) ||
			decoded.branch == LODE_BRANCH_INDIRECT_JUMP)
			return true;
		uint64_t target = decoded.target - function->address;
		uint64_t next = pending[i] + decoded.length;
		bool is_jump = decoded.branch == LODE_BRANCH_CONDITIONAL ||
		               decoded.branch == LODE_BRANCH_JUMP;
		bool goes_on = decoded.branch != LODE_BRANCH_JUMP &&
		               decoded.branch != LODE_BRANCH_RETURN &&
		               decoded.branch != LODE_BRANCH_STOP;
		if (is_jump && target < size)
			pending[n_pending++] = target;
		if (goes_on && next < size)
			pending[n_pending++] = next;
	}
	return false;
}

bool lode_join_has_hidden_ways(
	const LodeProfile *profile, const LodeJoinCode *codes, const LodeFunction *function)
{
	const LodeInstruction *own = lode_profile_instruction(profile, function->first_instruction);
	uint32_t n = function->n_instructions;
	uint64_t size = g_bytes_get_size(function->code);

	if (function->address != own[0].address)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		const LodeJoinCode *code = &codes[function->first_instruction + i];
		bool is_jump = code->branch == LODE_BRANCH_CONDITIONAL ||
		               code->branch == LODE_BRANCH_JUMP;
		bool goes_on = code->branch != LODE_BRANCH_JUMP &&
		               code->branch != LODE_BRANCH_RETURN &&
		               code->branch != LODE_BRANCH_STOP;
		uint64_t target = code->target - function->address;
		uint64_t next = own[i].address + code->length - function->address;
		uint32_t to = LODE_PARTITION_POINT(n, k, own[k].address < code->target);
		bool is_known = to < n && own[to].address == code->target;
		bool is_followed = i + 1 < n && own[i + 1].address == own[i].address + code->length;
		if (code->length == 0 || code->branch == LODE_BRANCH_INDIRECT_JUMP ||
			(is_jump && !is_known && target < size &&
				leads_back(profile, function, target)) ||
			(goes_on && !is_followed && next < size &&
				leads_back(profile, function, next)))
			return true;
	}
	return false;
}
