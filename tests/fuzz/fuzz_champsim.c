/* SPDX-License-Identifier: MIT */
/* Any bytes as records of ChampSim, and as what they look like. */
#include "reference_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_array_unref(fuzz_read_references(data, size, -1));
	fuzz_round_trip(data, size, LODE_REFERENCE_FORM_CHAMPSIM);
	return 0;
}
