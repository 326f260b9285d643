/* SPDX-License-Identifier: MIT */
/*
 * Facts of code by the functions that it calls: where they do not return, the
 * branch before is a check; where they are small, the call costs as much as what they do. Functions
 * are taken one by one, on all workers; each task writes only its own function's codes.
 */
#include "base/worker_pool.h"
#include "images/instructions/register_use.h"
#include "images/variants/import_slots.h"
#include "ingest/join/attributes/code_checks.h"
#include "ingest/join/join.h"
#include "model/code.h"

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	LodeJoinCode *codes;
	LodeImportSlots **slots; /* of each image */
	LodeCodeChecks **checks; /* of each worker */
} Finding;

/* The instruction that sets the flags of a branch: in its block, not far above; LODE_NONE: none. */
static uint32_t find_compare(const Finding *self, const LodeFunction *function, uint32_t branch)
{
	enum { MAX_BACK = 8 };
	gsize size;
	const uint8_t *code = g_bytes_get_data(function->code, &size);
	const uint32_t block = lode_profile_instruction(self->profile, branch)->block;

	for (uint32_t i = branch; i-- > function->first_instruction && branch - i <= MAX_BACK;) {
		const LodeInstruction *own = lode_profile_instruction(self->profile, i);
		const uint64_t offset = own->address - function->address;
		LodeRegisterUse use;

		if (own->block != block || block == LODE_NONE || offset >= size ||
			!lode_register_use_decode(&use, code + offset, size - offset, own->address))
			return LODE_NONE;
		if ((use.writes & lode_register_bit(LODE_BIT_FLAGS)) != 0)
			return i;
	}
	return LODE_NONE;
}

static void find_in_function(size_t index, unsigned worker, void *user_data)
{
	const Finding *self = user_data;
	const LodeFunction *function = lode_profile_function(self->profile, index);
	LodeBinaryImage *binary = self->images->binaries[function->image];
	LodeCodeChecks *checks = self->checks[worker];

	if (binary == NULL || function->code == NULL)
		return;
	lode_code_checks_select(checks, binary, self->slots[function->image]);
	for (uint32_t i = function->first_instruction;
		i < function->first_instruction + function->n_instructions; i++) {
		const uint64_t address = lode_profile_instruction(self->profile, i)->address;
		LodeJoinCode *own = &self->codes[i];

		if (own->branch == LODE_BRANCH_CALL)
			own->callee = (uint8_t)lode_code_callee(binary, own->target);
		if (own->branch != LODE_BRANCH_CONDITIONAL)
			continue;
		own->check = lode_code_checks_find(checks, own->target, address + own->length);
		const uint32_t compare = own->check != 0 ? find_compare(self, function, i)
		                                         : LODE_NONE;
		if (compare != LODE_NONE)
			self->codes[compare].check = own->check;
	}
}

void lode_join_callees(LodeProfile *profile, const LodeJoinImages *images, LodeJoinCode *codes)
{
	const unsigned n_workers = images->n_workers;
	Finding finding = {
		.profile = profile,
		.images = images,
		.codes = codes,
		.slots = g_new0(LodeImportSlots *, MAX(images->n, 1)),
		.checks = g_new0(LodeCodeChecks *, n_workers),
	};

	/* not by the workers: the library that reads the file is not for several threads */
	for (size_t i = 0; i < images->n; i++)
		if (images->binaries[i] != NULL)
			finding.slots[i] = lode_import_slots_new(images->binaries[i]);
	for (unsigned i = 0; i < n_workers; i++)
		finding.checks[i] = lode_code_checks_new();
	lode_worker_pool_run(
		lode_code_of(profile)->functions->len, n_workers, find_in_function, &finding);
	for (unsigned i = 0; i < n_workers; i++)
		lode_code_checks_free(finding.checks[i]);
	for (size_t i = 0; i < images->n; i++)
		lode_import_slots_free(finding.slots[i]);
	g_free(finding.slots);
	g_free(finding.checks);
}
