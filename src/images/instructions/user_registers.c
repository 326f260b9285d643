/* SPDX-License-Identifier: MIT */
#include "images/instructions/user_registers.h"

#include "base/bits.h"

#include <string.h>

/* perf's numbers, fixed by the kernel's interface (x86's asm/perf_regs.h), for lode's. */
static const uint8_t PERF_NUMBERS[LODE_N_REGISTERS] = {
	0 /* ax */, 2 /* cx */, 3 /* dx */, 1 /* bx */, 7 /* sp */, 6 /* bp */, 4 /* si */,
	5 /* di */, 16 /* r8 */, 17, 18, 19, 20, 21, 22, 23, 9 /* flags */
};

enum { ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_64 */

bool lode_user_registers_from_perf(
	LodeUserRegisters *out_registers, uint64_t mask, uint64_t abi, const uint64_t *values)
{
	memset(out_registers, 0, sizeof *out_registers);
	if (abi != ABI_64)
		return false;
	for (unsigned i = 0; i < LODE_N_REGISTERS; i++) {
		uint64_t bit = LODE_BIT(PERF_NUMBERS[i]);

		if (!(mask & bit))
			continue;
		out_registers->values[i] = values[__builtin_popcountll(mask & (bit - 1))];
		out_registers->known |= 1U << i;
	}
	return true;
}
