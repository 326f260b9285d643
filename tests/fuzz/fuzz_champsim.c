/* SPDX-License-Identifier: MIT */
/* Any bytes as records of ChampSim. */
#include "reference_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(data, size, LODE_REFERENCE_FORM_CHAMPSIM);
	return 0;
}
